"""Makes one run of the shards of it, as if one machine had run all responses."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from localfact.api.evaluate import RUNS, run_name
from localfact.api.report import write_report
from localfact.api.rescore import finished, run_facts, summarise_record
from localfact.errors import InputError
from localfact.methods.settings import windowless
from localfact.records import Assessment
from localfact.report.summary import Summary, summarise
from localfact.runs.assessments import assessments_in_order
from localfact.runs.journal import differences
from localfact.runs.outlines import read_outlines
from localfact.runs.record import RunSettings, read_record
from localfact.runs.run_folder import SHOWN, RunFolder, read_run_file, read_timings
from localfact.runs.shards import Shard
from localfact.scoring import KPolicy


def merge_runs(
    folders: Sequence[str | Path], *, out: str | Path | None = None, recall_k: KPolicy | None = None, force: bool = False
) -> Summary:
    """Writes the run of all shards: the assessments are byte by byte those of one run.

    Args:
        folders: the run folders of all shards (`eval --shards`), ended, in any order.
        out: the run folder to be made; where the whole run would lie when None. recall_k: as for `execute`.
        force: begins that folder again.

    Raises:
        MissingError: there is no such run. WriteError: it cannot be written.
        InputError: the runs are not all the shards of one run, or one has not ended.
    """
    paths = [Path(folder) for folder in folders]
    files = [read_run_file(path) for path in paths]
    whole = _whole(paths, files)
    settings = RunSettings.read(whole)
    shards = [Shard.parse(str(one["settings"]["data"]["shard"])) for one in files]
    indices: set[int] = set()
    windows: list[int | None] = []
    given: list[str] = []
    for path, shard in zip(paths, shards, strict=True):
        found = read_outlines(path)
        given += _own_warnings(path, found, settings)
        if strange := [one.index for one in found if one.index % shard.of != shard.number - 1]:
            raise InputError(f"{path} is shard {shard} and has response {strange[0] + 1}, which is another's.")
        indices |= {one.index for one in found}
        windows += [one.decided_by_window for one in found]
    if absent := sorted(set(range(max(indices, default=-1) + 1)) - indices):
        raise InputError(
            f"{len(absent)} responses are in no shard, number {absent[0] + 1} first. Run the shards to their ends."
        )
    _check_windows(files, windows)
    folder = Path(out) if out is not None else RUNS / run_name(whole)
    if folder.resolve() in {path.resolve() for path in paths}:
        raise InputError(f"{folder} is one of the shards. Name another with --out.")
    for path, one in zip(paths[1:], files[1:], strict=True):
        changes = differences(files[0]["versions"], one["versions"])
        given += [f"{path} was made with another version than {paths[0]}: {change}." for change in changes]
    notes = {name: value for name, value in files[0].items() if name not in ("settings", "versions")}
    with RunFolder(folder, whole, files[0]["versions"], notes=notes, force=force) as made:
        for path in paths:
            timings = read_timings(path)
            for assessment in assessments_in_order(path):
                if assessment.index not in made.done:
                    made.append(assessment, timings.get(assessment.index, {"index": assessment.index}))
        # Read back, so that what is summed up is what is there.
        record = read_record(folder, most=SHOWN, opened=made.unchanged)
        summary = summarise_record(record, recall_k, tuple(dict.fromkeys(given)))
        made.complete(summary.model_dump(mode="json"))
        write_report(folder, record=record, summary=summary)
    return summary


def _whole(paths: Sequence[Path], files: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The settings of the run that these are the shards of.

    Raises:
        InputError: they are not all the shards of one.
    """
    settings = [dict(one["settings"]) for one in files]
    shards: dict[str, Path] = {}
    for path, one in zip(paths, settings, strict=True):
        data = dict(one.get("data") or {})
        shard = data.pop("shard", None)
        if shard is None:
            raise InputError(f"{path} is no shard of a run: `localfact eval --shards K --shard N` makes one.")
        if str(shard) in shards:
            raise InputError(f"{path} and {shards[str(shard)]} are the same shard, {shard}.")
        shards[str(shard)] = path
        one["data"] = data
    for path, one in zip(paths[1:], settings[1:], strict=True):
        if changes := differences(windowless(settings[0]), windowless(one)):
            raise InputError(f"{path} is of another run than {paths[0]} ({'; '.join(changes)}).")
    of = Shard.parse(next(iter(shards))).of
    missing = sorted({str(Shard(number, of)) for number in range(1, of + 1)} - set(shards))
    if missing or len(shards) != of:
        here, absent = ", ".join(sorted(shards)), f"; missing: {', '.join(missing)}" if missing else ""
        raise InputError(f"These are not all the shards of one run: {here} are here{absent}.")
    return settings[0]


def _check_windows(files: Sequence[Mapping[str, Any]], decided: Iterable[int | None]) -> None:
    """Raises InputError where shards have other windows, and one of those decided how a response was split or cut."""
    had = {str((one["settings"].get("model") or {}).get("window")) for one in files}
    split = sum(window is not None for window in decided)
    if len(had) > 1 and split:
        raise InputError(
            f"The shards' models have windows of {', '.join(sorted(had))} tokens, and those split or cut {split} "
            "responses: one machine would have given something else. Run the shards with one --engine-arg max_model_len."
        )


def _own_warnings(path: Path, assessments: Sequence[Assessment], settings: RunSettings) -> Sequence[str]:
    """What a shard warns of besides what its responses tell: that is told anew of all.

    Raises:
        InputError: the shard has not ended.
    """
    summary = finished(path)
    if summary is None or summary.responses != len(assessments):
        raise InputError(f"{path} has not ended. The command that began it goes on.")
    told = len(summarise(assessments, run_facts(settings)).warnings)
    return summary.warnings[: len(summary.warnings) - told]
