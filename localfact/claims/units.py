"""Parses an atomizer's answer: one atomic unit a line after its number, "[3] Water boils." (FactReasoner, section 3.3).

Models also write "3.", a bullet or JSON; where any line has a number in brackets, only such lines are units. Nothing is
guessed: a line that is not clearly a claim is returned as unparsed, to be counted and shown.
"""

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from localfact.claims.json_claims import json_claims
from localfact.claims.labelled_lines import LIST_MARKER, heads_nested_items
from localfact.claims.lines import ParsedAnswer, claim_span, informative_lines, make_parsed_answer
from localfact.records import Span
from localfact.thoughts import thoughts

_NUMBER = re.compile(
    r"\s*(?:[-*+•–]\s+|\d{1,3}[.)]\s+)?(?:\*\*)?\[(?i:claim\s+)?(?P<number>\d{1,3})\](?:\*\*)?(?:[.:](?=\s))?\s*"
)
#: The next number on the same line, behind the end of a sentence.
_NUMBER_INSIDE = re.compile(r"(?<=[.!?\"”)])\s+(?=\[(?P<number>\d{1,3})\]\s)")
# A model that does not stop may go on with an invented example: text after a marker is no longer about the response.
_RUN_ON = re.compile(r"^[ \t]*<<(?:end )?\w+ [^>\n]{1,40}>>", re.MULTILINE)


class Unit(NamedTuple):
    """An atomic unit, its place in the answer, and the number that the model gave it."""

    text: str
    span: Span
    number: int


def read_units(answer: str, *, cut: bool = False) -> ParsedAnswer[Unit]:
    """Parses the answer of an atomizer. Any text can be parsed.

    Numbers only distinguish claims from remarks: out of order, repeated or with gaps, each line is a claim of its own. Headers,
    fences and lines without a letter or digit are ignored, and are not in `unparsed`.

    Args:
        answer: as the model wrote it.
        cut: whether it was cut at its longest; then its last line does not count.
    """
    thought = thoughts(answer)
    if found := json_claims(answer, thought.end):
        return make_parsed_answer(thought, [Unit(one.text, one.span, number) for number, one in enumerate(found, start=1)], [])
    run_on = _RUN_ON.search(answer, thought.end)
    end = run_on.start() if run_on else len(answer)
    lines = [part for line in informative_lines(answer[:end], thought.end) for part in _split_at_numbers(answer, line)]
    marker = _NUMBER if any(_NUMBER.match(answer, line.start, line.end) for line in lines) else LIST_MARKER
    units: list[Unit] = []
    unparsed: list[str] = []
    for line, following in zip_longest(lines, lines[1:]):
        usable = (not cut or bool(answer[line.end :].strip(" \t"))) and not heads_nested_items(answer, line, following)
        unit = _unit(answer, line, marker, len(units) + 1) if usable else None
        if unit is None:
            unparsed.append(answer[line.start : line.end].strip())
        else:
            units.append(unit)
    return make_parsed_answer(thought, units, [*unparsed, *([answer[end:].strip()] if run_on else [])])


def _split_at_numbers(answer: str, line: Span) -> Iterator[Span]:
    """The line, or its parts where the next number follows on it: "[1] Water boils. [2] Ice floats."."""
    first = _NUMBER.match(answer, line.start, line.end)
    start, number = line.start, int(first["number"]) if first else 0
    for found in _NUMBER_INSIDE.finditer(answer, line.start, line.end) if first else ():
        if int(found["number"]) == number + 1:
            yield Span(start=start, end=found.start())
            start, number = found.end(), number + 1
    yield Span(start=start, end=line.end)


def _unit(answer: str, line: Span, marker: re.Pattern[str], number: int) -> Unit | None:
    """The claim of a line behind its marker; `number` is its own where the marker has none."""
    found = marker.match(answer, line.start, line.end)
    if found is None or not found.group().strip():
        return None
    claim = claim_span(answer, found.end(), line.end)
    if claim is None or answer[line.start : line.end].rstrip("*_ ").endswith(":"):
        return None
    return Unit(answer[claim.start : claim.end], claim, int(found.groupdict().get("number") or number))
