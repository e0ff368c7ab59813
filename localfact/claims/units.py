"""Parses an atomizer's answer: one atomic unit a line after its number, "[3] Water boils." (FactReasoner, section 3.3).

Nothing is guessed: a line that is not clearly one numbered claim is returned as unparsed, to be counted and shown.
"""

import re
from typing import NamedTuple

from localfact.claims.lines import ParsedAnswer, claim_span, informative_lines, parsed_answer, thoughts
from localfact.records import Span

_NUMBER = re.compile(r"\s*(?:[-*+•–]\s+)?(?:\*\*)?\[(?P<number>\d{1,3})\](?:\*\*)?(?:[.:](?=\s))?\s*")
_NUMBER_INSIDE = re.compile(r"\s\[(\d{1,3})\]\s")
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
    run_on = _RUN_ON.search(answer, thought.end)
    end = run_on.start() if run_on else len(answer)
    units: list[Unit] = []
    unparsed: list[str] = []
    for line in informative_lines(answer[:end], thought.end):
        whole = not cut or bool(answer[line.end :].strip(" \t"))
        unit = _unit(answer, line) if whole else None
        if unit is None:
            unparsed.append(answer[line.start : line.end].strip())
        else:
            units.append(unit)
    return parsed_answer(thought, units, [*unparsed, *([answer[end:].strip()] if run_on else [])])


def _unit(answer: str, line: Span) -> Unit | None:
    """The one numbered claim of a line."""
    marker = _NUMBER.match(answer, line.start, line.end)
    if marker is None:
        return None
    number = int(marker["number"])
    claim = claim_span(answer, marker.end(), line.end)
    if claim is None:
        return None
    text = answer[claim.start : claim.end]
    # Another number on the same line: two claims, or a reference mark.
    if any(int(inside) == number + 1 for inside in _NUMBER_INSIDE.findall(text)):
        return None
    return Unit(text, claim, number)
