"""Cuts a sentence at marks and joining words into parts that may be clauses of their own."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from localfact.relations.values.value import Value
from localfact.relations.values.vocabulary import base, is_verb, words_of_kind

_TOKEN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[^\w\s]")
_MARKS = frozenset(";:—–(),")
_JOINING = words_of_kind("joining")
_BEFORE_NOUN = words_of_kind("before-noun")
RELATIVE = frozenset(("who", "which", "where", "whose"))
#: Words that begin a time or place before the subject; those that end one, as in "two years later".
OPENING = words_of_kind("time-opening")
LATER = frozenset(("later", "earlier", "afterwards"))


class Word(NamedTuple):
    """A word or mark of a sentence: as written in lower case, as compared, and its place."""

    lower: str
    base: str
    start: int
    end: int
    verb: bool
    capital: bool


@dataclass
class SentencePart:
    """A part of a sentence: the joining word or mark before it, its words, and the values in it.

    The first `opening` words tell a time or place before the subject, and a comma stands behind them.
    """

    opener: str
    words: list[Word] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    opening: int = 0

    @property
    def has_verb(self) -> bool:
        """Whether one of its words is a verb."""
        return any(word.verb for word in self.words)

    @property
    def is_opening(self) -> bool:
        """Whether it only tells a time or place."""
        return not self.has_verb and (
            not self.words or self.words[0].lower in OPENING or (bool(self.values) and self.words[-1].lower in LATER)
        )


def _tokens(text: str, values: Sequence[Value]) -> list[Word]:
    spans = [value.span for value in values]
    found: list[Word] = []
    for match in _TOKEN.finditer(text):
        if any(span.start <= match.start() < span.end for span in spans):
            continue
        lower = match.group().lower().removesuffix("'s").removesuffix("’s")
        before = found[-1].lower if found else ""
        verb = is_verb(lower) and before not in _BEFORE_NOUN and not (match.group()[0].isupper() and found)
        found.append(Word(lower, base(lower), match.start(), match.end(), verb, match.group()[0].isupper()))
    return found


def cut_segments(text: str, values: Sequence[Value]) -> list[SentencePart]:
    """The parts of a sentence that are clauses of their own."""
    parts = [SentencePart("")]
    left = list(values)
    for word in _tokens(text, values):
        while left and left[0].span.start < word.start:
            parts[-1].values.append(left.pop(0))
        if left and left[0].role == "end" and parts[-1].values and parts[-1].values[-1].role == "start":
            continue  # what stands between the ends of a range
        if word.lower in _MARKS or word.lower in _JOINING:
            parts.append(SentencePart(word.lower))
        elif word.lower[0].isalnum():
            parts[-1].words.append(word)
    parts[-1].values += left
    return _merge(parts)


def _merge(parts: Sequence[SentencePart]) -> list[SentencePart]:
    found: list[SentencePart] = []
    opening: SentencePart | None = None
    for part in parts:
        opens = part.is_opening
        if opening is not None:  # "In 1950," belongs to what follows
            part.opening, part.words = len(opening.words), [*opening.words, *part.words]
            part.values, opening = [*opening.values, *part.values], None
        if not part.words and not part.values:
            if found and part.opener in RELATIVE | {"("}:
                found.append(part)
            continue
        if found and not found[-1].words and not found[-1].values:
            opener = found.pop().opener
            part.opener = opener
        if part.opener == ")" and len(found) > 1 and found[-1].opener == "(" and not found[-1].values:
            found.pop()  # "(Denmark)" interrupts what goes on behind it
            found[-1].words, found[-1].values = [*found[-1].words, *part.words], [*found[-1].values, *part.values]
        elif opens and not found:
            opening = part
        elif found and not part.has_verb and not part.values and part.opener != "(":
            found[-1].words += part.words
        elif found and part.opener == "and" and _ends_in_bare_name(found[-1]):  # "Lund and Crane met": one subject
            found[-1].words += part.words
            found[-1].values += part.values
        else:
            found.append(part)
    return [*found, opening] if opening is not None else found


def _ends_in_bare_name(part: SentencePart) -> bool:
    """Whether nothing is said of the name that the part ends in."""
    return bool(part.words) and part.words[-1].capital and not part.has_verb and not part.values
