"""Joins the shards of a run (`eval --shards`) into the run that one machine would have made of all responses."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from localfact.api.evaluate import RUNS, run_name
from localfact.api.report import write_report
from localfact.api.rescore import read_finished_summary, run_facts, summarise_record
from localfact.errors import InputError
from localfact.methods.settings import windowless
from localfact.records import Assessment
from localfact.report.summary import Summary, summarise
from localfact.runs.assessments import lines_in_order
from localfact.runs.journal import differences
from localfact.runs.outlines import read_outlines
from localfact.runs.record import RunRecord, read_record, read_run
from localfact.runs.run_folder import SHOWN, RunFolder, read_timings
from localfact.runs.shards import Shard
from localfact.scoring import KPolicy


def merge_runs(
    folders: Sequence[str | Path], *, out: str | Path | None = None, recall_k: KPolicy | None = None, force: bool = False
) -> Summary:
    """Writes the run of all shards: the assessments are byte by byte those of one run.

    Args:
        folders: the run folders of all shards (`eval --shards`), ended, in any order.
        out: the run folder to be made; where the whole run would lie when None.
        recall_k: as for `execute`.
        force: begins that folder again.

    Raises:
        MissingError: there is no such run. WriteError: it cannot be written.
        InputError: the runs are not all the shards of one run, or one has not ended.
    """
    paths = [Path(folder) for folder in folders]
    shards = [read_run(path) for path in paths]
    whole = _whole(shards)
    decided: list[list[tuple[int, int | None]]] = []  # of each shard: its responses, and the windows that split or cut them
    given: list[str] = []
    for shard in shards:
        found = read_outlines(shard.path)
        given += _own_warnings(shard, found)
        share = Shard.parse(str(_shard_of(shard)))
        if strange := [one.index for one in found if one.index % share.of != share.number - 1]:
            raise InputError(f"{shard.path} is shard {share} and has response {strange[0] + 1}, which is another's.")
        decided.append([(one.index, one.decided_by_window) for one in found])
    indices = {index for of_shard in decided for index, _ in of_shard}
    if absent := sorted(set(range(max(indices, default=-1) + 1)) - indices):
        raise InputError(
            f"{len(absent)} responses are in no shard, number {absent[0] + 1} first. Run the shards to their ends."
        )
    _check_windows(shards, [window for of_shard in decided for _, window in of_shard])
    folder = Path(out) if out is not None else RUNS / run_name(whole)
    if folder.resolve() in {path.resolve() for path in paths}:
        raise InputError(f"{folder} is one of the shards. Name another with --out.")
    first, *others = shards
    for other in others:
        changes = differences(first.content["versions"], other.content["versions"])
        given += [f"{other.path} was made with another version than {first.path}: {change}." for change in changes]
    notes = {name: value for name, value in first.content.items() if name not in ("settings", "versions")}
    with RunFolder(folder, whole, first.content["versions"], notes=notes, force=force) as made:
        for path, of_shard in zip(paths, decided, strict=True):
            timings = read_timings(path)
            for (index, window), line in zip(of_shard, lines_in_order(path), strict=True):
                if index not in made.done:
                    made.append_line(line, index, window, timings.get(index, {"index": index}))
        # Read back, so that what is summed up is what is there.
        record = read_record(folder, most=SHOWN, opened=made.unchanged)
        summary = summarise_record(record, recall_k, tuple(dict.fromkeys(given)))
        made.complete(summary.model_dump(mode="json"))
        write_report(folder, record=record, summary=summary)
    return summary


def _shard_of(shard: RunRecord) -> str | None:
    """Which share of the responses a run is, "3/8"; None for all."""
    return None if shard.settings.data is None else shard.settings.data.shard


def _whole(shards: Sequence[RunRecord]) -> dict[str, Any]:
    """The settings of the whole run: those of any shard, without the number of the shard.

    Raises:
        InputError: they are not all the shards of one.
    """
    named: dict[str, Path] = {}
    settings = []
    for shard in shards:
        name = _shard_of(shard)
        if name is None:
            raise InputError(f"{shard.path} is no shard of a run: `localfact eval --shards K --shard N` makes one.")
        if name in named:
            raise InputError(f"{shard.path} and {named[name]} are the same shard, {name}.")
        named[name] = shard.path
        data = {key: value for key, value in shard.plain_settings["data"].items() if key != "shard"}
        settings.append(shard.plain_settings | {"data": data})
    for shard, one in zip(shards[1:], settings[1:], strict=True):
        if changes := differences(windowless(settings[0]), windowless(one)):
            raise InputError(f"{shard.path} is of another run than {shards[0].path} ({'; '.join(changes)}).")
    of = Shard.parse(next(iter(named))).of
    missing = sorted({str(Shard(number, of)) for number in range(1, of + 1)} - set(named))
    if missing or len(named) != of:
        here, absent = ", ".join(sorted(named)), f"; missing: {', '.join(missing)}" if missing else ""
        raise InputError(f"These are not all the shards of one run: {here} are here{absent}.")
    return settings[0]


def _check_windows(shards: Sequence[RunRecord], decided: Iterable[int | None]) -> None:
    """Raises InputError where shards have other windows, and one of those decided how a response was split or cut."""
    had = {str(shard.settings.model and shard.settings.model.window) for shard in shards}
    split = sum(window is not None for window in decided)
    if len(had) > 1 and split:
        raise InputError(
            f"The shards' models have windows of {', '.join(sorted(had))} tokens, and those split or cut {split} "
            "responses: one machine would have given something else. Run the shards with one --engine-arg max_model_len."
        )


def _own_warnings(shard: RunRecord, assessments: Sequence[Assessment]) -> Sequence[str]:
    """The warnings of a shard's summary that do not come from its assessments; the others are made again for the whole run.

    Raises:
        InputError: the shard has not ended.
    """
    summary = read_finished_summary(shard.path)
    if summary is None or summary.responses != len(assessments):
        raise InputError(f"{shard.path} has not ended. The command that began it goes on.")
    told = len(summarise(assessments, run_facts(shard.settings)).warnings)
    return summary.warnings[: len(summary.warnings) - told]
