"""What parsing model answers with lists of claims has in common: lines to ignore, quotes, emphasis.

Used by the parsers of labelled claims (`answers.py`), of numbered ones (`units.py`) and of revised ones (`reviser.py`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from localfact.records import Span
from localfact.thoughts import Thoughts

#: The most characters of a claim; longer lines are no claims.
LONGEST_CLAIM = 1_000

#: How many characters of an answer that is of no use are shown.
SHOWN = 300

#: A letter or digit, which every line that is not ignored has.
WORD = re.compile(r"[^\W_]")

_LINE = re.compile(r"[^\r\n]+")
_HEADER = re.compile(r"\W*(?:(?:atomic|extracted|factual|verifiable) ){0,3}claims?\W*$", re.IGNORECASE)
_TABLE_HEADER = re.compile(
    r"\s*\|(?:[\s*]*(?:claims?|labels?|statements?|facts?|verdicts?|status|number|no\.?|id|#)[\s*]*\|)+\s*$", re.IGNORECASE
)
_FENCE = re.compile(r"\s*```[A-Za-z]{0,12}\d?\s*$")
_NOTHING = re.compile(
    r"\W*(?:(?:there (?:are|is)|(?:the|this) (?:text|response|passage) (?:has|contains|makes|states)|i (?:found|see)) )?"
    r"no (?:(?:verifiable(?: (?:atomic|factual))?|checkable|factual|atomic) claims?\b.{0,400}|claims? to (?:verify|check)\W*)$"
    r"|\W*none\W*$",
    re.IGNORECASE,
)
_NO_CLAIM = re.compile(r"\W*no verifiable claims?\W*$", re.IGNORECASE)
#: The boundary's marker of a text that is shown: at the beginning of an answer an echo, behind claims the next example.
_MARKER = re.compile(r"\s*<<(?:end )?\w+ [^>\n]{1,40}>>")
#: A line that belongs to a prompt: behind claims the model goes on with an example of its own, or speaks for somebody else.
_PROMPT_LINE = re.compile(
    r"[\s*#]*(?:question|topic|text|before the text|after the text|claim|user|human|instruction|input|example(?: \d+)?)[\s*]*:"
    r"|\s*now (?:do the same|judge this|revise the)\b|\s*(?:<\|\w+\|>|\[INST\]|<start_of_turn>)",
    re.IGNORECASE,
)
_EMPHASIS = re.compile(r"(?P<sign>\*\*|__)(?=\S)(?P<inside>.+?)(?<=\S)(?P=sign)")
_QUOTED = re.compile(r"[\"“„](?P<inside>[^\"“”„]+)[\"”“]$")
_LETTER = re.compile(r"[^\W\d_]")

#: A claim as one of the parsers reads it.
Read = TypeVar("Read")


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


def make_parsed_answer(thought: Thoughts, claims: list[Read], unparsed: list[str]) -> ParsedAnswer[Read]:
    """The parsed answer. That there is no claim counts only where it has none, and its first line says so."""
    nothing = not claims and bool(unparsed) and says_nothing(unparsed[0])
    rest = unparsed[1:] if nothing and _NO_CLAIM.match(unparsed[0]) else unparsed
    return ParsedAnswer(tuple(claims), (*([thought.text] if thought.text else ()), *rest), nothing)


def informative_lines(answer: str, start: int) -> Iterator[Span]:
    """The lines from `start` on, without headers ("Claims:"), fences, and lines without a letter or digit."""
    for line in _LINE.finditer(answer, start):
        text = line.group()
        if WORD.search(text) and not any(pattern.match(text) for pattern in (_HEADER, _TABLE_HEADER, _FENCE)):
            yield Span(start=line.start(), end=line.end())


def is_marker(line: str) -> bool:
    """Whether a line is a marker of the boundary, which the model repeats."""
    return bool(_MARKER.match(line))


def runs_on(line: str) -> bool:
    """Whether a line after the claims no longer belongs to the answer: an invented example, or another speaker's turn."""
    return is_marker(line) or bool(_PROMPT_LINE.match(line))


def says_nothing(text: str) -> bool:
    """Whether the text says that there is no verifiable claim, perhaps with a reason behind that."""
    return bool(_NOTHING.match(text))


def excerpt(answer: str) -> str:
    """An answer on one line, cut at SHOWN characters, for messages."""
    said = " ".join(answer.split())
    return f"{said[:SHOWN]}…" if len(said) > SHOWN else said or "[an empty answer]"


def strip_quotes(answer: str, claim: Span) -> Span:
    """The claim without quotation marks around all of it."""
    quoted = _QUOTED.match(answer, claim.start, claim.end)
    return Span(start=quoted.start("inside"), end=quoted.end("inside")) if quoted else claim


def plain(claim: str) -> str:
    """The claim without marks of emphasis inside."""
    return _EMPHASIS.sub(r"\g<inside>", claim)


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
