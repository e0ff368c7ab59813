"""Figures of runs as PNG and SVG: what stands in their folders, one run beside another. Nothing is assessed.

Numbers: report/plot_data.py and passage_posteriors.py; drawing: report/plots.py and report/run_plots.py.
"""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localfact.api.evaluate import RUNS
from localfact.api.passage_posteriors import MOST_GRAPHS, passage_posteriors
from localfact.errors import InputError
from localfact.records import Assessment, Record
from localfact.report import plot_data as data
from localfact.report import plots, run_plots
from localfact.report.table_data import tell_apart
from localfact.runs.record import RunRecord, read_whole_run
from localfact.runtime.files import replace, write_errors
from localfact.scoring.tally import Unscored

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Called before a factor graph is solved again: the run's name, the graphs that were, and their total.
Progress = Callable[[str, int, int], None]
#: Characters of the names of runs in the name of the default folder.
LONGEST_FOLDER = 100


class Plots(Record):
    """What `plot` wrote.

    Attributes:
        figures: the files, one PNG and one SVG a figure.
        notes: sentences about what is in no figure, or not whole in one.
    """

    figures: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlottedRun:
    """A run, with its name in legends, and those of its assessments that are drawn."""

    name: str
    record: RunRecord
    assessments: Sequence[Assessment]


@dataclass(frozen=True)
class FigureKind:
    """A figure of runs.

    Attributes:
        numbers: what of a run enters it, or what the run has instead ("no annotated claims"). Its second argument is told the
            graphs solved and their total.
        draw: makes a figure of name of a run -> its numbers; `looks` numbers all runs, also those that are not in it.
    """

    numbers: Callable[[PlottedRun, Callable[[int, int], None]], Any]
    draw: "Callable[..., Figure]"


#: Name -> figure, in the order in which they are drawn.
FIGURES: Mapping[str, FigureKind] = {
    "reliability": FigureKind(
        lambda run, _: data.reliability(run.assessments),
        partial(
            plots.reliability_figure,
            title="How often claims are supported, by posterior",
            xlabel="posterior stated",
            ylabel="share that annotators support",
            counted="claims",
        ),
    ),
    "risk-coverage": FigureKind(
        lambda run, _: data.risk_coverage(run.assessments),
        partial(run_plots.risk_coverage_figure, title="Errors among the claims kept when the least sure are left out"),
    ),
    "roc": FigureKind(
        lambda run, _: data.roc(run.assessments),
        partial(plots.roc_figure, title="Supported claims against others, by posterior"),
    ),
    "precision-by-length": FigureKind(
        lambda run, _: data.precision_by_length(run.assessments),
        partial(run_plots.precision_by_length_figure, title="Precision of each response, by its length"),
    ),
    "scores": FigureKind(
        lambda run, _: data.select_scored(run.assessments),
        lambda found, *, looks: run_plots.scores_figure(
            data.response_scores(found), list(found), "How the scores of responses are distributed", looks=looks
        ),
    ),
    "passage-posterior": FigureKind(
        lambda run, progress: passage_posteriors(run.record, run.assessments, progress),
        partial(run_plots.passage_posterior_figure, title="How far each response's passages are believed"),
    ),
}


def plot(
    folders: Sequence[str | Path],
    *,
    out: str | Path | None = None,
    only: Sequence[str] = (),
    by_source: bool = False,
    progress: Progress = lambda name, done, total: None,
) -> Plots:
    """Draws figures of runs, each figure with every run that has what it shows.

    Args:
        folders: run folders, finished or not; one that is named twice is drawn once.
        out: a folder, made if missing; `default_folder` when None.
        only: names in FIGURES; all when empty.
        by_source: draw the responses of each source (`source`) by themselves.
        progress: called while factor graphs are solved again, for `passage-posterior`.

    Raises:
        MissingError: there is no such run. WriteError: `out` cannot be written.
        InputError: no run, or more than can be told apart; no such figure; nothing that could be drawn; a damaged file.
    """
    unknown = [name for name in only if name not in FIGURES]
    if unknown:
        raise InputError(f"There is no figure '{unknown[0]}'. There are: {', '.join(FIGURES)}.")
    runs = read_plotted_runs(folders)
    folder = Path(out) if out is not None else default_folder([run.name for run in runs])
    runs = apart_by_source(runs) if by_source else runs
    looks = {run.name: number for number, run in enumerate(runs)}
    files: list[str] = []
    lacking: dict[tuple[str, str], list[str]] = {}  # (run or source of one, reason) -> figures
    for name, kind in FIGURES.items():
        if only and name not in only:
            continue
        found = {}
        for run in runs:
            numbers = kind.numbers(run, partial(progress, run.name))
            if isinstance(numbers, Unscored):
                who = run.name if by_source else str(run.record.path)
                lacking.setdefault((who, numbers.reason), []).append(name)
            else:
                found[run.name] = numbers
        if found:
            files += write_figure(kind.draw(found, looks=looks), folder / name)
    notes = [f"{run} has {reason}: not in {', '.join(names)}." for (run, reason), names in lacking.items()]
    if not files:
        raise InputError(
            f"Nothing can be drawn. {' '.join(notes)} Annotated claims come with the data, posteriors and factor graphs from "
            f"methods that reason; other figures than those asked for may be possible: {', '.join(FIGURES)}."
        )
    return Plots(figures=tuple(files), notes=(*notes, *graphs_left_out(runs, only)))


def read_plotted_runs(folders: Sequence[str | Path]) -> list[PlottedRun]:
    """Reads the runs.

    Raises:
        MissingError: there is no such run. InputError: none is named, or too many, or a file is damaged.
    """
    paths = list({Path(folder).resolve(): Path(folder) for folder in folders}.values())
    if not 0 < len(paths) <= plots.MOST_LINES:
        raise InputError(f"Name from 1 to {plots.MOST_LINES} runs, which can be told apart in a figure; here are {len(paths)}.")
    records = [read_whole_run(path) for path in paths]
    return [PlottedRun(name, record, record.assessments) for name, record in zip(names_of(paths), records, strict=True)]


def apart_by_source(runs: Sequence[PlottedRun]) -> list[PlottedRun]:
    """The responses of each source of each run as a run of their own, named "run, source".

    Raises:
        InputError: they are too many to be told apart.
    """
    found = []
    for run in runs:
        sources: dict[str, list[Assessment]] = {}
        for one in run.assessments:
            sources.setdefault(one.source or "", []).append(one)
        found += [PlottedRun(f"{run.name}, {source or 'no source'}", run.record, each) for source, each in sources.items()]
    if len(found) > plots.MOST_LINES:
        raise InputError(f"{len(found)} sources of runs cannot be told apart in a figure: name fewer runs.")
    names = tell_apart((run.name for run in found), "source")
    return [PlottedRun(name, run.record, run.assessments) for name, run in zip(names, found, strict=True)]


def names_of(paths: Sequence[Path]) -> list[str]:
    """What distinct folders are called: their names, with as many of the folders around them as it takes to differ."""
    parts = [path.resolve().parts for path in paths]
    depths = range(1, max(map(len, parts)) + 1)
    return next(names for depth in depths if len(set(names := ["/".join(one[-depth:]) for one in parts])) == len(paths))


def default_folder(names: Sequence[str]) -> Path:
    """The folder for figures of these runs: runs/plots-4f1c, runs/plots-4f1c-9e02."""
    joined = "-".join(names).replace("/", "-")
    if len(joined) > LONGEST_FOLDER:  # cut, several choices of runs would have one name
        joined = hashlib.sha256(os.fsencode(joined)).hexdigest()[:12]
    return RUNS / f"plots-{joined}"


def write_figure(figure: "Figure", file: Path) -> list[str]:
    """Writes a figure as PNG and as SVG; returns the names of the files."""
    files = []
    with write_errors(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        for suffix, content in plots.render_figure(figure).items():
            files.append(f"{file}.{suffix}")
            replace(Path(files[-1]), content)
    return files


def graphs_left_out(runs: Sequence[PlottedRun], only: Sequence[str]) -> list[str]:
    """A sentence for each run of which not all graphs were solved."""
    if only and "passage-posterior" not in only:
        return []
    return [
        f"{run.record.path} has {len(run.assessments):,} responses: {MOST_GRAPHS} evenly spread ones are in passage-posterior."
        for run in runs
        if len(run.assessments) > MOST_GRAPHS
    ]
