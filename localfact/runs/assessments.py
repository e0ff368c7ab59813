"""The assessments of a run, a line each in assessments.jsonl: where they stand, and reading them one at a time or all."""

import json
import re
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from localfact.errors import InputError, MissingError
from localfact.records import Assessment
from localfact.vocabulary import VerdictLabel

ASSESSMENTS_FILE = "assessments.jsonl"
#: How a line of assessments begins.
_INDEX = re.compile(rb'\{"schema_version":\d+,"index":(\d+),')
#: How many of a run's ids are named where one is not among them.
SHOWN_IDS = 5


class Place(NamedTuple):
    """The position of a line in the file of assessments; sorted as the responses in the input.

    `whole`: whether it is complete. response: its index; -1 where the line tells none.
    """

    response: int
    begin: int
    length: int
    whole: bool = True


def places_of(file: Path) -> Iterator[Place]:
    """The lines of a file of assessments, in its order; one at a time is in memory."""
    begin = 0
    with file.open("rb") if file.exists() else BytesIO() as lines:
        for line in lines:
            yield Place(_index_of(line), begin, len(line), line.endswith(b"\n"))
            begin += len(line)


def _index_of(line: bytes) -> int:
    """The index in a line, which stands at its beginning as `append` writes it."""
    if found := _INDEX.match(line):
        return int(found[1])
    try:
        return int(json.loads(line)["index"])
    except (ValueError, KeyError, TypeError, RecursionError):  # whoever parses the whole line says what is wrong
        return -1


def lines_at(file: Path, places: Iterable[Place]) -> Iterator[bytes]:
    """The lines at these places, in their order."""
    with file.open("rb") if file.exists() else BytesIO() as stored:
        for place in places:
            stored.seek(place.begin)
            yield stored.read(place.length)


def assessments_in_order(path: Path, start: int = 0, count: int | None = None) -> Iterator[Assessment]:
    """The assessments of a run folder in the order of the input, failures included; one at a time is in memory.

    Args:
        start, count: which of them, by their place in that order.

    Raises:
        MissingError: there is no such run.
        InputError: a line that is no assessment.
    """
    for _, assessment in places_in_order(assessments_file(path), start, count):
        yield assessment


def lines_in_order(path: Path) -> Iterator[bytes]:
    """The lines of `assessments_in_order` as bytes, not parsed; one at a time is in memory.

    Raises:
        MissingError: there is no such run.
    """
    file = assessments_file(path)
    yield from lines_at(file, sorted(place for place in places_of(file) if place.whole))


def places_in_order(file: Path, start: int = 0, count: int | None = None) -> Iterator[tuple[Place, Assessment]]:
    """`assessments_in_order` for a file, which may be missing, with the position of each line."""
    places = [place for place in places_of(file) if place.whole]
    numbers = {place: number for number, place in enumerate(places, start=1)}
    chosen = sorted(places)[start : None if count is None else start + count]
    for place, line in zip(chosen, lines_at(file, chosen), strict=True):
        yield place, parse_assessment(file, numbers[place], line)


def count_assessments(path: Path) -> int:
    """How many assessments a run folder has.

    Raises:
        MissingError: there is no such run.
    """
    return sum(place.whole for place in places_of(assessments_file(path)))


def is_failed(assessment: Assessment) -> bool:
    """Whether the response, or one of its claims, failed and is to be tried again."""
    return assessment.status == "failed" or any(verdict.label is VerdictLabel.FAILED for verdict in assessment.verdicts)


def parse_assessment(file: Path, number: int, line: bytes) -> Assessment:
    """Parses one line of assessments.jsonl.

    Raises:
        InputError: a complete line that is no assessment of this version; the file is left unchanged.
    """
    try:
        assessment = Assessment.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        wrong = f"{'.'.join(map(str, first['loc'])) or 'the line'}: {first['msg']}"
    else:
        inconsistent = inconsistency(assessment)
        if inconsistent is None:
            return assessment
        wrong = inconsistent
    raise InputError(
        f"{file}, line {number}, cannot be read ({wrong}): another version of localfact wrote it, or it is damaged. Use that "
        "version, remove the line, or begin the run again with --force."
    )


def inconsistency(assessment: Assessment) -> str | None:
    """What in a stored assessment contradicts itself; None where nothing does."""
    if len(assessment.verdicts) != len(assessment.claims):
        return "it has not one verdict a claim"
    if assessment.status == "failed":
        return None
    if [verdict.claim_id for verdict in assessment.verdicts] != [claim.id for claim in assessment.claims]:
        return "its verdicts are not those of its claims"
    if assessment.counts.get("retrieve", {}).get("claims", 0) > len(assessment.claims):
        return "more claims went to evidence than there are"
    return None


def assessments_file(path: Path) -> Path:
    """The file of a run folder that holds its assessments.

    Raises:
        MissingError: there is no such run.
    """
    file = path / ASSESSMENTS_FILE
    if not file.is_file():
        raise MissingError(
            f"{path} is not a run folder: it has no {ASSESSMENTS_FILE}. `localfact eval --out {path}` makes one."
        )
    return file


def read_assessment(path: Path, response_id: str) -> Assessment:
    """The assessment of one response: one line at a time is in memory, and mostly its own alone is parsed.

    Raises:
        MissingError: there is no such run. InputError: it has no such response, or a line is no assessment.
    """
    file = assessments_file(path)
    quoted = json.dumps(response_id, ensure_ascii=False).encode("utf-8", "surrogatepass")
    known: list[str] = []
    for asked in (quoted, b""):  # an id may be quoted in another way in the file: then every line is parsed
        known = []
        for found in _parse(file, asked):
            if found.response_id == response_id:
                return found
            known = [*known, found.response_id][:SHOWN_IDS]
    has = f"It has {', '.join(known)}, ... (localfact show {path} lists them)." if known else "It has none at all."
    raise InputError(f"The run {path} has no response '{response_id}'. {has}")


def _parse(file: Path, holding: bytes) -> Iterator[Assessment]:
    """The assessments of the complete lines that hold these bytes."""
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.endswith(b"\n") and holding in line:
                yield parse_assessment(file, number, line)


def read_assessments(path: Path) -> list[Assessment]:
    """The assessments of a run folder in the order of the input, failures included.

    Raises:
        MissingError: there is no such run.
        InputError: a line that is no assessment.
    """
    return list(assessments_in_order(path))
