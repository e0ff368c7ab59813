"""GitHub's workflow commands: an annotation on a pull request for each contradicted claim, at the line that states it.

A runner obeys what stands at the beginning of a line of the log, so what models and pages wrote is escaped into one line:
https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from localfact.inputs.plain_texts import PLAIN, texts_in
from localfact.records import Assessment
from localfact.report.bar import Held
from localfact.report.console import escape_unseen, one_line
from localfact.report.plain_findings import describe, failed_claims, unjudged_because
from localfact.runs.assessments import is_failed

Level = Literal["error", "warning", "notice"]
#: What ends a message or begins a command, percent first, as GitHub writes it; a property ends at the other two as well.
MESSAGE = {"%": "%25", "\r": "%0D", "\n": "%0A"}
PROPERTY = {**MESSAGE, ":": "%3A", ",": "%2C"}


class FileLine(NamedTuple):
    """Where somebody looks for a claim: a file, and the line in it, from 1, where that is known."""

    file: str
    line: int | None = None


#: From a response and the number of a claim in it, None for the response itself, to where it is; None where nobody knows.
FindLine = Callable[[Assessment, int | None], FileLine | None]


def annotations(assessments: Iterable[Assessment], held: Sequence[Held], places: FindLine) -> Iterator[str]:
    """A workflow command for each contradicted or failed claim, response without a score, and bound that was missed.

    Contradicted claims are warnings where bounds are given and all are reached.
    """
    level: Level = "warning" if held and all(one.passed for one in held) else "error"
    for assessment in assessments:
        severity: Level = "error" if is_failed(assessment) else "warning"
        if (because := unjudged_because(assessment)) is not None:
            yield command(severity, f"{assessment.response_id}: not judged", because, places(assessment, None))
        numbers = {claim.id: number for number, claim in enumerate(assessment.claims)}
        for title, shown, claims in (
            ("contradicted", level, assessment.contradicted),
            ("not judged", severity, failed_claims(assessment)),
        ):
            for claim in claims:
                place = places(assessment, numbers[claim.id])
                yield command(shown, f"{assessment.response_id}: {title}", describe(claim), place)
    for one in held:
        if not one.passed:
            yield command("error", "Below the bar", one.said)


def command(level: Level, title: str, message: str, place: FileLine | None = None) -> str:
    """One workflow command, on one line whatever its texts hold."""
    properties = {} if place is None else {"file": place.file}
    if place is not None and place.line is not None:
        properties["line"] = str(place.line)
    properties["title"] = one_line(title)
    listed = ",".join(f"{name}={_escape(value, PROPERTY)}" for name, value in properties.items())
    return f"::{level} {listed}::{_escape(message, MESSAGE)}"


def _escape(text: str, signs: dict[str, str]) -> str:
    return "".join(signs.get(character, character) for character in escape_unseen(text))


def places_in(data: Path | None) -> FindLine:
    """Where responses and their claims are in a file or a folder that `localfact.inputs` reads; `data` is None for none.

    A row of JSON lines has its line, a claim of a plain text the line in that; rows of tables and documents the file alone.
    """
    if data is None:
        return lambda assessment, claim: None
    if data.is_dir():
        files = texts_in(data)[0]
        return lambda assessment, claim: _in_text(files[assessment.index], assessment, claim)
    lines = _row_lines(data)
    if not lines and data.suffix.lower() in ("", *PLAIN):
        return places_in_text(data)
    return lambda assessment, claim: FileLine(_shown(data), lines.get(assessment.index))


def places_in_text(file: Path) -> FindLine:
    """Where the claims of one text are in the file that holds it."""
    return lambda assessment, claim: _in_text(file, assessment, claim)


def _in_text(file: Path, assessment: Assessment, claim: int | None) -> FileLine:
    """The line of a claim's first place; a head of the file that is no part of the text is counted, too."""
    spans = () if claim is None else assessment.claims[claim].spans
    if not spans:
        return FileLine(_shown(file))
    whole = file.read_text(encoding="utf-8", errors="replace")
    before = max(whole.find(assessment.text), 0)
    return FileLine(_shown(file), 1 + whole.count("\n", 0, before) + assessment.text.count("\n", 0, spans[0].start))


def _row_lines(data: Path) -> dict[int, int]:
    """Index of a row -> its line, of JSON lines; empty for anything else."""
    found: dict[int, int] = {}
    try:
        with data.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip("\ufeff\x1e \t\r\n"):
                    if not found:
                        _require_json(line)
                    found[len(found)] = number
    except (OSError, ValueError, RecursionError):
        return {}
    return found


def _require_json(line: str) -> None:
    """Raises ValueError where a line is no object or list of JSON."""
    if not isinstance(json.loads(line.strip("\ufeff\x1e")), dict | list):
        raise ValueError(line)


def _shown(file: Path) -> str:
    """The path as GitHub knows it: from the root of the checkout, where that is known and the file is in it."""
    root = os.environ.get("GITHUB_WORKSPACE")
    if root and (whole := file.resolve()).is_relative_to(Path(root).resolve()):
        return whole.relative_to(Path(root).resolve()).as_posix()
    return file.as_posix()
