"""Takes facts from pages: the claims that our rules find in the passages about a subject, without what is none alone."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from localfact.assess.unclear import has_unclear_subject
from localfact.claims.rules.statements import OPENING_SENTENCES, statements
from localfact.claims.rules.subject import guess_topic, usable_topic
from localfact.records import Claim, Passage, Response, Span
from localfact.relations.lexical.statements import ParsedClaim, Premise, idf_table
from localfact.relations.lexical.tokens import is_detail
from localfact.text import sentences

#: Words of a fact: a shorter one is a heading or a fragment, a longer one lists many things.
FEWEST_WORDS, MOST_WORDS = 4, 45
#: The least share of the subject's words, by weight, that a passage about it holds.
ABOUT_SUBJECT = 0.5
#: Characters of a text that are searched for what it is about, where it has neither topic nor prompt.
OPENING = 2_000
#: What begins a sentence that goes on with another one: alone it does not say whom or what it is about.
_GOES_ON = re.compile(
    r"(?:(?i:these|this|those|that|such|both|others?|another|the (?:former|latter|same|two|three)|one of (?:them|these)|"
    r"some of them|there|here|so|then|afterwards|later|instead)\b|[a-z(])"
)
#: "In 1707 he moved": nobody before the pronoun that it may stand for.
_PRONOUN_BEHIND = re.compile(
    r"(?:After|As|At|Before|By|During|Following|For|From|In|On|Over|Since|Though|Through|Throughout|To|Under|Until|Upon|When|While|"
    r"With|Within)\b(?P<before>.*?)\b(?P<pronoun>he|she|it|they|his|her|its|their|him|them)\b"
)
#: Words of a prompt that say how to answer, not what about.
_PROMPTS_OWN = re.compile(
    r"(?:a|about|an|and|answer|are|bio|biography|brief|briefly|can|could|describe|detail|did|do|does|explain|give|history"
    r"|how|i|in|is|it|its|keep|life|list|long|me|of|on|one|or|overview|paragraph|paragraphs|please|provide|question"
    r"|short|should|story|summarise|summarize|talk|tell|text|the|there|to|two|was|were|what|when|where|which|who|why"
    r"|words|write|you|your)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class FoundFact:
    """A claim of a passage, and its place there."""

    text: str
    passage: Passage
    span: Span


@lru_cache(4_096)
def parse(text: str) -> ParsedClaim:
    """The words of a text and their weights, kept, as each fact is compared with many."""
    return ParsedClaim(text, idf_table())


@lru_cache(4_096)
def read_premise(text: str) -> Premise:
    """The sentences of a text as words, kept for the same reason."""
    return Premise(text)


def details_of(claim: ParsedClaim) -> frozenset[str]:
    """The numbers, dates and names of a claim."""
    return claim.details(is_detail) | claim.names | claim.subject


def subject_of(response: Response) -> str:
    """What the facts have to be about: the topic, else the name that the prompt asks about, else the words of the prompt.

    Without either, what the first sentences of the text define ("X is ..."); "" where nothing says it.
    """
    opening = [response.text[span.start : span.end] for span in sentences(response.text[:OPENING])[:OPENING_SENTENCES]]
    if topic := usable_topic(response.topic) or guess_topic(response.prompt, () if response.prompt else opening):
        return topic
    asked = (response.topic or response.prompt or "").split()
    return " ".join(word for word in asked if not _PROMPTS_OWN.fullmatch(word.strip(".,?!:;\"'()")))


def share_held(of: ParsedClaim, text: Premise, apart: Collection[str] = ()) -> float:
    """The share of the words of one text, by weight, that another one holds anywhere; 0 where it has no words.

    Args:
        apart: words that count on neither side.
    """
    weights = {word: weight for word, weight in of.weights.items() if word not in apart}
    total = sum(weights.values())
    return sum(weight for word, weight in weights.items() if word in text.places) / total if total else 0.0


def facts_of(passages: Iterable[Passage], subject: str, dropped: Counter[str]) -> list[FoundFact]:
    """The facts of the passages about a subject, in their order; counts claims that do not stand alone in `dropped`."""
    about = parse(subject)
    named = [one for one in passages if share_held(about, Premise(f"{one.title}. {one.text}")) >= ABOUT_SUBJECT]
    return [fact for passage in named for fact in _facts_of(passage, subject, dropped)]


def _facts_of(passage: Passage, subject: str, dropped: Counter[str]) -> Iterator[FoundFact]:
    topic = subject if share_held(parse(subject), Premise(passage.title)) >= ABOUT_SUBJECT else None
    read = Response(id="", text=passage.text, topic=topic)
    for statement in statements(read, Counter()):
        for text, span in statement.claims:
            if stands_alone(text, subject):
                yield FoundFact(text, passage, span)
            else:
                dropped["unclear"] += 1


def stands_alone(text: str, subject: str) -> bool:
    """Whether a claim is long enough to state something, and says by itself whom it is about: the subject, or somebody else."""
    if not FEWEST_WORDS <= len(text.split()) <= MOST_WORDS or _GOES_ON.match(text):
        return False
    behind = _PRONOUN_BEHIND.match(text)
    if behind is not None and share_held(parse(subject), Premise(behind["before"])) < ABOUT_SUBJECT / 2:
        return False
    return not has_unclear_subject(Claim(id="", text=text))
