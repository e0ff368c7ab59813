"""What parsing model answers with lists of claims has in common: thoughts before the answer, lines to ignore, emphasis.

Used by the parsers of labelled claims (`answers.py`), of numbered ones (`units.py`) and of revised ones (`reviser.py`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar

from localfact.records import Span

#: The most characters of a claim; longer lines are no claims.
LONGEST_CLAIM = 1_000

#: A letter or digit, which every line that is not ignored has.
WORD = re.compile(r"[^\W_]")

_THOUGHT = re.compile(r"\A\s*<think>.*?(?:</think>|\Z)|\A(?:(?!<think>).)*?^[ \t]*</think>", re.DOTALL | re.MULTILINE)
_LINE = re.compile(r"[^\r\n]+")
_HEADER = re.compile(r"\W*(?:(?:atomic|extracted|factual|verifiable) ){0,3}claims?\W*$", re.IGNORECASE)
_FENCE = re.compile(r"\s*```[A-Za-z]{0,12}\d?\s*$")
_NOTHING = re.compile(r"\W*no verifiable claims?\W*$", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")


class ReadClaim(Protocol):
    """A claim parsed from an answer."""

    @property
    def text(self) -> str:
        """The claim's text."""
        ...


Read = TypeVar("Read", bound=ReadClaim)


@dataclass(frozen=True)
class ParsedAnswer(Generic[Read]):
    """A parsed answer.

    Attributes:
        claims: in the order of the answer.
        unparsed: lines that are no claim in the expected format; before them, as one entry, a reasoning model's thoughts.
        nothing: whether the whole answer says that there is no verifiable claim.
    """

    claims: tuple[Read, ...] = ()
    unparsed: tuple[str, ...] = ()
    nothing: bool = False


class Thoughts(NamedTuple):
    """A reasoning model's thoughts before its answer, "" for none; `end` is where the answer itself begins."""

    text: str
    end: int


def thoughts(answer: str) -> Thoughts:
    """The thoughts before an answer; all of an answer whose thoughts never end."""
    found = _THOUGHT.match(answer)
    if found is None:
        return Thoughts("", 0)
    return Thoughts(found.group().strip() if WORD.search(found.group()) else "", found.end())


def parsed_answer(thought: Thoughts, claims: list[Read], unparsed: list[str]) -> ParsedAnswer[Read]:
    """The parsed answer. The sentence that there is no claim counts only where it is the whole answer."""
    nothing = not claims and len(unparsed) == 1 and says_nothing(unparsed[0])
    return ParsedAnswer(tuple(claims), (*([thought.text] if thought.text else ()), *(() if nothing else unparsed)), nothing)


def informative_lines(answer: str, start: int) -> Iterator[Span]:
    """The lines from `start` on, without headers ("Claims:"), fences, and lines without a letter or digit."""
    for line in _LINE.finditer(answer, start):
        text = line.group()
        if WORD.search(text) and not _HEADER.match(text) and not _FENCE.match(text):
            yield Span(start=line.start(), end=line.end())


def says_nothing(text: str) -> bool:
    """Whether the text is the sentence that there is no verifiable claim."""
    return bool(_NOTHING.match(text))


def claim_span(answer: str, start: int, end: int) -> Span | None:
    """The claim in answer[start:end], without emphasis around all of it; None where that cannot be a claim."""
    text = answer[start:end].rstrip()
    for sign in ("**", "*"):
        opened, closed = text.startswith(sign), text.endswith(sign)
        # An opening sign alone belongs to a pair whose other sign is behind the claim.
        if text.count(sign) == opened + closed and len(text) > 2 * len(sign):
            start += len(sign) * opened
            text = text[len(sign) * opened : len(text) - len(sign) * closed]
    start += len(text) - len(text.lstrip())
    text = text.strip()
    if len(text) > LONGEST_CLAIM or not _LETTER.search(text) or says_nothing(text):
        return None
    return Span(start=start, end=start + len(text))
