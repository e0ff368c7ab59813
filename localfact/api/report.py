"""The report of a run: one HTML file to be opened in a browser, made from what the run folder has."""

from pathlib import Path

from localfact.api.rescore import finished, rescore
from localfact.errors import LocalFactError
from localfact.llm.transcript import recorded_calls
from localfact.methods.relations import kept_relations
from localfact.records import Assessment, Distribution, Pair
from localfact.report.page.run_page import ModelCall, RunRead, run_page
from localfact.report.summary import Summary
from localfact.runs.run_folder import (
    RELATIONS_FILE,
    REPORT_FILE,
    SECOND_RELATIONS_FILE,
    read_assessments,
    read_run_file,
    read_seconds,
)
from localfact.runtime.files import replace, write_errors

#: The most calls of the language model in a report, and characters of each text.
CALLS, CALL_CHARACTERS = 500, 8_000


def write_report(
    run_folder: str | Path, *, out: str | Path | None = None, calls: str | Path | None = None, summary: Summary | None = None
) -> Path:
    """Writes the report of a run, finished or not, and returns where it is.

    Args:
        out: the file; report.html in the run folder when None.
        calls: a transcript, of which the first CALLS calls stand in the report, each cut at CALL_CHARACTERS; none when None.
        summary: of the run, where it was just made; else the stored one, or one of what is done so far.

    Raises:
        MissingError: there is no such run or transcript. InputError: a file of it is damaged.
        WriteError: `out` cannot be written.
    """
    path = Path(run_folder)
    settings = {name: value for name, value in read_run_file(path).items() if name != "versions"}
    assessments = read_assessments(path)
    shown, left = model_calls(Path(calls)) if calls is not None else ([], 0)
    content = run_page(
        RunRead(
            name=path.resolve().name,
            summary=summary or finished(path) or rescore(path),
            assessments=assessments,
            settings=settings,
            seconds=read_seconds(path),
            distributions=distributions(path, assessments),
            calls=shown,
            calls_left=left,
        )
    )
    file = Path(out) if out is not None else path / REPORT_FILE
    with write_errors(file):
        replace(file, content.encode("utf-8", "replace"))
    return file


def distributions(run_folder: Path, assessments: list[Assessment]) -> dict[Pair, list[Distribution]]:
    """The probabilities of all three relations of what entered verdicts, as far as the run folder keeps them."""
    pairs = []
    for assessment in assessments:
        texts = {passage.id: passage.text for passage in assessment.passages}
        for claim, verdict in zip(assessment.claims, assessment.verdicts, strict=True):
            pairs += [Pair(texts[one.passage_id], claim.text) for one in verdict.passages if one.passage_id in texts]
    found: dict[Pair, list[Distribution]] = {}
    for name in (RELATIONS_FILE, SECOND_RELATIONS_FILE):
        try:
            for pair, said in kept_relations(run_folder / name, pairs).items():
                found.setdefault(pair, []).extend(said)
        except LocalFactError:  # the report tells the label's probability, which the assessment has
            continue
    return found


def model_calls(transcript: Path) -> tuple[list[ModelCall], int]:
    """The first calls of a transcript as the report shows them, and how many more there are."""
    calls, total = recorded_calls(transcript, CALLS)
    return [ModelCall(call.stage, _cut(call.sent), _cut(call.answer)) for call in calls], total - len(calls)


def _cut(text: str) -> str:
    more = len(text) - CALL_CHARACTERS
    return text if more <= 0 else f"{text[:CALL_CHARACTERS]}\n[{more:,} more characters]"
