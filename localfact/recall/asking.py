"""What a response makes of a fact: said, said in part, contradicted, or omitted.

No relation model decides alone that something is omitted: a small one misses paraphrases, and a fact of a page mostly has some
detail that the response lacks, so that it does not follow from the response though the response tells it. Words and values of
the sentence nearest to the fact decide beside it.
"""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from localfact.citations.reading import extract_of
from localfact.claims.rules.statements import statements
from localfact.recall.facts import details_of, parse, read_premise, share_held
from localfact.records import Distribution, Failure, Pair, Response, Span
from localfact.records.recall import Decider
from localfact.relations.lexical.features import Match
from localfact.relations.lexical.statements import ParsedClaim
from localfact.relations.reasons import below_title
from localfact.relations.values.correcting import SURE, TAKES_AWAY, finding_of
from localfact.relations.values.judging import Ruling
from localfact.text import closest_sentences
from localfact.vocabulary import FactVerdict

#: The share of a fact's words, by weight and without the subject's, in one sentence or two neighbouring ones: from the first on
#: it is said if no number and no name is missing, from the second on in part, if one of those that it has is there.
ALL_WORDS, SOME_WORDS = 0.8, 0.3
#: The share of a statement of the response that the fact holds, with all its details, from which on the fact is said in part:
#: the facts of pages are longer than what is said of them. And the least share of the fact that this is.
STATEMENT_HELD, LEAST_OF_FACT = 0.5, 0.15
#: The relation model's probability from which on it decides.
SURE_RELATION = 0.5
#: No relation model has a sentence contradict a fact of whose words it has less: small ones take what is merely different for a
#: denial.
LEAST_DENIED = 0.5
#: Responses whose statements are kept: its facts are asked of one after the other.
KEPT = 16


@dataclass(frozen=True)
class AskedFact:
    """A fact beside a response.

    Attributes:
        subject: whom or what the facts are about; its words count for nothing, as they stand everywhere.
        text: of the response.
    """

    fact: str
    subject: str
    text: str

    @property
    def pair(self) -> Pair:
        """What the relation model is asked: the parts of the response that speak of the fact, below the subject; the fact."""
        title = self.subject[:1].upper() + self.subject[1:]
        return Pair(below_title(title, extract_of(self.text, self.fact)), self.fact)

    @property
    def place(self) -> Span | None:
        """The sentence of the response that shares most words with the fact."""
        return next(iter(closest_sentences(self.text, self.fact)), None)


def judge_fact(asked: AskedFact, said: Distribution | Failure) -> tuple[FactVerdict, Decider | None]:
    """What the response makes of a fact, and who decided that; nobody where it is omitted, or nothing could be found out.

    Args:
        said: by the relation model, of the fact's pair.
    """
    values, (share, whole, some) = finding_of(asked.pair), _words_held(asked)
    if values.ruling is Ruling.SAME and values.strength >= SURE:
        return FactVerdict.SAID, "values"
    if share >= ALL_WORDS and whole:
        return FactVerdict.SAID, "words"
    if isinstance(said, Distribution) and said.entailment >= SURE_RELATION:
        return FactVerdict.SAID, "relations"
    if values.ruling is Ruling.OTHER and (values.sure or values.strength >= TAKES_AWAY):
        return FactVerdict.CONTRADICTED, "values"
    if isinstance(said, Distribution) and said.contradiction >= SURE_RELATION and share >= LEAST_DENIED:
        return FactVerdict.CONTRADICTED, "relations"
    if (share >= SOME_WORDS and some) or _holds_statement(asked):
        return FactVerdict.PARTLY_SAID, "words"
    return (FactVerdict.OMITTED if isinstance(said, Distribution) else FactVerdict.FAILED), None


def _words_held(asked: AskedFact) -> tuple[float, bool, bool]:
    """The share of the fact's words that the nearest sentences of the response hold, and whether all, or some, details do.

    Details are numbers, dates and names, without the subject's; a fact without any has all and some.
    """
    claim, premise, apart = parse(asked.fact), read_premise(asked.text), parse(asked.subject).weights.keys()
    if not premise.sentences or not claim.tokens:
        return 0.0, False, False
    match = Match(claim, premise)
    held = frozenset(word for word in match.anywhere if premise.holds(match.window, word))
    details = details_of(claim) - apart
    said = details <= held and not match.is_denied
    return match.share(held, claim.weights.keys() - apart), said, not details or bool(details & held)


def _holds_statement(asked: AskedFact) -> bool:
    """Whether the fact holds most words of a statement of the response, and all its numbers and names."""
    fact, premise, apart = parse(asked.fact), read_premise(asked.fact), parse(asked.subject).weights.keys()
    return any(
        statement.negated == fact.negated
        and details_of(statement) - apart <= premise.places.keys()
        and share_held(statement, premise, apart) >= STATEMENT_HELD
        and share_held(fact, read_premise(statement.text), apart) >= LEAST_OF_FACT
        for statement in _statements(asked.text, asked.subject)
    )


@lru_cache(KEPT)
def _statements(text: str, subject: str) -> tuple[ParsedClaim, ...]:
    read = Response(id="", text=text, topic=subject)
    return tuple(parse(claim) for statement in statements(read, Counter()) for claim, _ in statement.claims)
