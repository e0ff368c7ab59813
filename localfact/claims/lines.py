"""What the answers of all models that list claims have in common: thoughts first, lines that say nothing, emphasis.

Below the readers of labelled claims (`answers.py`), of numbered ones (`units.py`) and of revised ones (`reviser.py`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar

from localfact.records import Span

#: A longer "claim" is a model running on.
LONGEST_CLAIM = 1_000

#: A sign of which a line that says anything has one.
WORD = re.compile(r"[^\W_]")

_THOUGHT = re.compile(r"\A\s*<think>.*?(?:</think>|\Z)|\A(?:(?!<think>).)*?^[ \t]*</think>", re.DOTALL | re.MULTILINE)
_LINE = re.compile(r"[^\r\n]+")
_HEADER = re.compile(r"\W*(?:(?:atomic|extracted|factual|verifiable) ){0,3}claims?\W*$", re.IGNORECASE)
_FENCE = re.compile(r"\s*```\w*\s*$")
_NOTHING = re.compile(r"\W*no verifiable claims?\W*$", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")


class ReadClaim(Protocol):
    """A claim that was read from an answer, whatever else stood beside it."""

    @property
    def text(self) -> str:
        """Its words."""
        ...


Read = TypeVar("Read", bound=ReadClaim)


@dataclass(frozen=True)
class ParsedAnswer(Generic[Read]):
    """An answer that was read.

    Attributes:
        claims: in the order of the answer.
        unparsed: what is no claim in the asked format, line by line; a reasoning model's thoughts are the first of them, in one
            piece.
        nothing: whether the whole answer says that there is no verifiable claim.
    """

    claims: tuple[Read, ...] = ()
    unparsed: tuple[str, ...] = ()
    nothing: bool = False


class Thoughts(NamedTuple):
    """What a reasoning model thought aloud before its answer: "" for none; `end` is where the answer itself begins."""

    text: str
    end: int


def thoughts(answer: str) -> Thoughts:
    """The thoughts before an answer; all of an answer whose thoughts never end."""
    found = _THOUGHT.match(answer)
    if found is None:
        return Thoughts("", 0)
    return Thoughts(found.group().strip() if WORD.search(found.group()) else "", found.end())


def parsed_answer(thought: Thoughts, claims: list[Read], unparsed: list[str]) -> ParsedAnswer[Read]:
    """The answer, thoughts before all that is unparsed. That there is no claim counts only as the whole answer."""
    nothing = not claims and len(unparsed) == 1 and says_nothing(unparsed[0])
    return ParsedAnswer(tuple(claims), (*([thought.text] if thought.text else ()), *(() if nothing else unparsed)), nothing)


def informative_lines(answer: str, start: int) -> Iterator[Span]:
    """The lines from `start` on, less headers ("Claims:"), fences, and lines without a letter or digit."""
    for line in _LINE.finditer(answer, start):
        text = line.group()
        if WORD.search(text) and not _HEADER.match(text) and not _FENCE.match(text):
            yield Span(start=line.start(), end=line.end())


def says_nothing(text: str) -> bool:
    """Whether the text is the sentence by which a model says that there is no claim."""
    return bool(_NOTHING.match(text))


def claim_span(answer: str, start: int, end: int) -> Span | None:
    """The claim in answer[start:end], less the emphasis around all of it; None when that can be no claim."""
    text = answer[start:end].rstrip()
    for sign in ("**", "*"):
        opened, closed = text.startswith(sign), text.endswith(sign)
        # An opening sign alone belongs to a pair whose other half stands behind what was taken for the claim.
        if text.count(sign) == opened + closed and len(text) > 2 * len(sign):
            start += len(sign) * opened
            text = text[len(sign) * opened : len(text) - len(sign) * closed]
    start += len(text) - len(text.lstrip())
    text = text.strip()
    if len(text) > LONGEST_CLAIM or not _LETTER.search(text) or says_nothing(text):
        return None
    return Span(start=start, end=start + len(text))
