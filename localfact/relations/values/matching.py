"""How well a clause of a text speaks of what a claim's clause speaks of: the same subject, the same verb, the same things."""

from functools import lru_cache
from typing import NamedTuple

from localfact.relations.lexical.statements import idf_table
from localfact.relations.values.clauses import ReadClause
from localfact.relations.values.vocabulary import base, kin

#: What a word counts that stands not in the clause but beside it, in its sentence; and where "its" or "there" may stand for it.
BESIDE, MEANT = 0.5, 0.95
#: How sure it is that "he" or "its" is who was spoken of last; that it is somebody who was spoken of before.
LAST_SPOKEN_OF, SPOKEN_OF = 0.95, 0.8
#: How sure it is that a claim about a pronoun is about the one that the clause names.
UNKNOWN_SUBJECT = 0.5
#: The share of the governing words that a clause must have to be about the same slot.
GOVERNED = 0.6
LIGHTEST = 1.0
#: Sets of words whose kin and weights are kept: those of the clauses of a response's claims and passages.
CACHED_SETS = 20_000


class PlacedClause(NamedTuple):
    """A clause of a text and what stands around it.

    Attributes:
        sentence: its sentence's number. beside: the compared words of its sentence.
        last_subject: the subject of the last clause before it that has one.
        before, after: all words before its clause, and behind.
        named: the words of names before it.
    """

    clause: ReadClause
    sentence: int
    beside: frozenset[str]
    last_subject: frozenset[str]
    before: frozenset[str]
    after: frozenset[str]
    named: frozenset[str]


class ClauseFit(NamedTuple):
    """How a clause fits a claim's: each in [0, 1]. `whole` is their product, but 0 where the slot is another."""

    subject: float
    governor: float
    coverage: float

    @property
    def whole(self) -> float:
        """The product of subject and coverage; 0 where the governing words are others."""
        return self.subject * self.coverage if self.governor >= GOVERNED else 0.0


def fit(claim: ReadClause, placed: PlacedClause, apart: frozenset[str] = frozenset()) -> ClauseFit:
    """How well the clause speaks of what the claim's speaks of, whatever their values; `apart` are words of values, too."""
    words = placed.clause.words | placed.clause.counted
    rest = claim.words - claim.subject - claim.described - apart
    things = rest - claim.counted
    governors = claim.verbs or things
    governor = share(governors, words) if governors else 1.0
    return ClauseFit(fit_subject(claim, placed, words), governor, coverage(things, words, placed))


def coverage(things: frozenset[str], words: frozenset[str], placed: PlacedClause) -> float:
    """The share of the things that the clause speaks of, those that stand around it in part."""
    here = share(things, words)
    if here == 1:
        return here
    around = words | placed.beside | (placed.before if placed.clause.points_back else frozenset())
    return here + (MEANT if placed.clause.points_back else BESIDE) * (share(things, around) - here)


def fit_subject(claim: ReadClause, placed: PlacedClause, words: frozenset[str]) -> float:
    """How sure it is that the clause is about the claim's subject."""
    said = placed.clause
    if claim.described and said.described and not held_of(claim.described, said.described):
        return 0.0  # "the film Carmen", "the opera Carmen"
    if not claim.subject:  # a pronoun, which may be anybody whom the text names
        return UNKNOWN_SUBJECT if said.subject and not said.goes_on else 1.0
    held = held_of(claim.subject, said.subject)
    if len(held) == len(claim.subject) and said.goes_on and not said.owned:
        return 1.0 if len(said.subject) <= 1 + len(held) else SPOKEN_OF  # "his brother Anders Lund"
    foreign = said.subject - held_of(said.subject, claim.words | placed.before if said.goes_on else claim.words)
    foreign -= _whole_name(said, held)
    if said.goes_on or not said.subject:
        missing = claim.subject - held
        if said.subject and said.subject - held_of(said.subject, claim.words):
            return 0.0  # "its harbour", where the claim is about something else of it
        if not missing:
            return LAST_SPOKEN_OF
        last = share(missing, placed.last_subject)
        return LAST_SPOKEN_OF * last if last >= GOVERNED else SPOKEN_OF * share(missing, placed.before)
    if len(held) == len(claim.subject):
        return 1.0 if said.owned <= claim.owned and len(foreign) <= len(claim.subject) else 0.5 if not said.owned else 0.0
    if claim.subject - held_of(claim.subject, words):
        if held and not foreign and share(claim.subject, held | placed.before) == 1:
            return LAST_SPOKEN_OF  # "Lund" for "Peter Lund"
        return 0.0
    return 1.0 if said.subject <= held_of(said.subject, claim.words) else 0.0  # passive for active


def _whole_name(said: ReadClause, held: frozenset[str]) -> frozenset[str]:
    """The words of a name in the subject whose last one is held: "Lund" is Peter Anders Lund."""
    names = (
        frozenset(map(base, bound.name.parts))
        for bound in said.names
        if not bound.governor and base(bound.name.parts[-1]) in held
    )
    return frozenset[str]().union(*names)


def held_of(wanted: frozenset[str], words: frozenset[str]) -> frozenset[str]:
    """The wanted words that the others hold, as such or by a word for the same."""
    if wanted <= words:
        return wanted
    known = _all_kin(words)
    return frozenset(word for word in wanted if not known.isdisjoint(kin(word)))


def share(wanted: frozenset[str], words: frozenset[str]) -> float:
    """The share of the wanted words that the others hold, by idf; 1 where none is wanted."""
    if wanted <= words:
        return 1.0
    weights, total = _weigh(wanted)
    known = _all_kin(words)
    return sum(weight for word, weight in weights if not known.isdisjoint(kin(word))) / total


@lru_cache(maxsize=CACHED_SETS)
def _all_kin(words: frozenset[str]) -> frozenset[str | int]:
    return frozenset[str | int]().union(*map(kin, words))


@lru_cache(maxsize=CACHED_SETS)
def _weigh(words: frozenset[str]) -> tuple[tuple[tuple[str, float], ...], float]:
    """Each word with its weight, in one order, and their sum."""
    weights = tuple((word, max(LIGHTEST, idf_table().weight(word))) for word in sorted(words))
    return weights, sum(weight for _, weight in weights)
