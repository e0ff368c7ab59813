"""Lists the run folders and how far each run is, and removes one."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from localfact.api.evaluate import RUNS
from localfact.api.rescore import read_finished_summary
from localfact.errors import InputError, LocalFactError, MissingError
from localfact.records import Assessment, Record
from localfact.report.citation_rows import citation_rows as citation_rows_of
from localfact.report.claim_rows import claim_rows as rows_of
from localfact.runs.assessments import count_assessments, read_assessments
from localfact.runs.record import read_run
from localfact.runs.run_folder import RUN_FILE, own_files, remove


class RunRow(Record):
    """One run folder, or a folder of runs that were made together.

    Attributes:
        run: the folder.
        method: its method, or how many runs there are and of which methods.
        begun: when run.yaml was written.
        responses: done so far, in the run that is the furthest.
        ended: whether it has its summary.
        precision: Pr of that; None without one.
        bytes: of its files.
        problem: why the folder cannot be read, or None.
    """

    run: str
    method: str = ""
    begun: str = ""
    responses: int = 0
    ended: bool = False
    precision: float | None = None
    bytes: int = 0
    problem: str | None = None


def run_folders(folder: Path = RUNS) -> list[Path]:
    """The run folders in a folder, the latest first."""
    return sorted((file.parent for file in folder.glob(f"*/{RUN_FILE}")), key=_begin_time, reverse=True)


def latest_run(folder: Path = RUNS) -> Path:
    """The run in a folder that was begun last.

    Raises:
        MissingError: there is none.
    """
    found = run_folders(folder)
    if not found:
        raise MissingError(f"There is no run in {folder}. `localfact eval` makes one; or name a run folder.")
    return found[0]


def list_runs(folder: Path = RUNS) -> list[RunRow]:
    """What became of each run in a folder, and of each comparison, the latest first; one that cannot be read says why."""
    inside: dict[Path, list[Path]] = {}
    for file in sorted(folder.glob(f"*/**/{RUN_FILE}"), key=lambda one: _begin_time(one.parent)):
        if len(file.relative_to(folder).parts) > 2:
            inside.setdefault(folder / file.relative_to(folder).parts[0], []).append(file.parent)
    alone = [(_begin_time(path), _row(path)) for path in run_folders(folder)]
    several = [(_begin_time(runs[-1]), _row_of_several(path, runs)) for path, runs in inside.items()]
    return [row for _, row in sorted([*alone, *several], key=lambda one: -one[0])]


def run_size(run: str | Path) -> int:
    """Bytes that localfact has written in a run folder.

    Raises:
        MissingError: there is no such run.
    """
    return sum(file.lstat().st_size for file in own_files(Path(run)))


def remove_run(run: str | Path) -> list[str]:
    """Deletes a run folder for good; returns the names of files in it that are not of localfact, which stay there.

    Raises:
        MissingError: there is no such run. RunFolderError: a process is at work on it. WriteError: it cannot be deleted.
    """
    return remove(Path(run))


def claim_rows(run: str | Path | Assessment | Iterable[Assessment]) -> list[dict[str, Any]]:
    """A row for each claim of a run folder, or of assessments, as plain values, the same names in each.

    `pandas.DataFrame(claim_rows("runs/4f1c"))`, or `polars.DataFrame(claim_rows("runs/4f1c"), infer_schema_length=None)`, as a
    column may begin with many missing values.

    `relation`, `probability`, `sentence` and `source` are of the passage that counts most; `task`, `sample` and `epoch` say
    which sample of another tool's log the response is. None where there is none.

    Raises:
        MissingError: there is no such run. InputError: it is neither a run nor assessments.
    """
    return list(rows_of(_assessments(run, "claim_rows")))


def citation_rows(run: str | Path | Assessment | Iterable[Assessment]) -> list[dict[str, Any]]:
    """A row for each source that a sentence cites, and for each uncited sentence, as plain values; none where not checked.

    `supported` says whether all that the sentence cites entails it, `counts` whether the citation is precise, `quote` is the
    sentence of the source that decides. Arguments and errors as of `claim_rows`.
    """
    return list(citation_rows_of(_assessments(run, "citation_rows")))


def _assessments(run: str | Path | Assessment | Iterable[Assessment], name: str) -> list[Assessment]:
    if isinstance(run, str | Path):
        run = read_assessments(Path(run))
    assessments = [run] if isinstance(run, Assessment) else list(run) if isinstance(run, Iterable) else [run]
    if not all(isinstance(one, Assessment) for one in assessments):
        raise InputError(f"{name} takes a run folder, as summary.run of a summary, or what localfact.check returned.")
    return assessments


def _row(path: Path) -> RunRow:
    begun = datetime.fromtimestamp(_begin_time(path), UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    try:
        method = read_run(path).settings.method
        summary = read_finished_summary(path)
        done = summary.responses if summary is not None else count_assessments(path)
    except LocalFactError as error:
        return RunRow(run=str(path), begun=begun, bytes=run_size(path), problem=str(error))
    scores = {score.name: score.value for score in summary.scores} if summary is not None else {}
    return RunRow(
        run=str(path),
        method=method,
        begun=begun,
        responses=done,
        ended=summary is not None,
        precision=scores.get("Pr"),
        bytes=run_size(path),
    )


def _row_of_several(path: Path, runs: Sequence[Path]) -> RunRow:
    """A comparison, or a table: a folder of runs, which are shown by `localfact compare`."""
    rows = [_row(run) for run in runs]
    methods = ", ".join(dict.fromkeys(row.method for row in rows if row.method))
    return RunRow(
        run=str(path),
        method=f"{len(rows)} runs: {methods}",
        begun=rows[-1].begun,
        responses=max(row.responses for row in rows),
        ended=all(row.ended for row in rows),
        bytes=sum(file.lstat().st_size for file in path.rglob("*") if file.is_file()),
        problem=next((row.problem for row in rows if row.problem), None),
    )


def _begin_time(path: Path) -> float:
    return (path / RUN_FILE).stat().st_mtime
