"""Reads what an atomizer answered: one atomic unit a line behind its number, "[3] Water boils." (FactReasoner, section 3.3).

Nothing is guessed: a line that is not surely one numbered claim is handed back as it is, to be counted and shown.
"""

import re
from typing import NamedTuple

from localfact.claims.lines import ParsedAnswer, claim_span, informative_lines, parsed_answer, thoughts
from localfact.records import Span

_NUMBER = re.compile(r"\s*(?:[-*+•–]\s+)?(?:\*\*)?\[(?P<number>\d{1,3})\](?:\*\*)?(?:[.:](?=\s))?\s*")
_NUMBER_INSIDE = re.compile(r"\s\[(\d{1,3})\]\s")
# A model that runs on writes an example of its own: what stands behind a marker is no longer about the text.
_RUN_ON = re.compile(r"^[ \t]*<<(?:end )?\w+ [^>\n]{1,40}>>", re.MULTILINE)


class Unit(NamedTuple):
    """An atomic unit, where it stands in the answer, and the number that the model gave it."""

    text: str
    span: Span
    number: int


def read_units(answer: str, *, cut: bool = False) -> ParsedAnswer[Unit]:
    """Reads the answer of an atomizer. Any text can be read.

    Numbers tell claims from remarks and do nothing else: out of order, twice or with gaps, each line is a claim of its own.
    Headers, fences and lines without a letter or digit say nothing and are left out of `unparsed`.

    Args:
        answer: as the model wrote it.
        cut: whether it was cut at the longest it may have; then its last line does not count.
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
    # The next number on the same line: two claims, or a reference mark that only looks like it.
    if any(int(inside) == number + 1 for inside in _NUMBER_INSIDE.findall(text)):
        return None
    return Unit(text, claim, number)
