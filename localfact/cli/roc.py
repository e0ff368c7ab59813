"""The command about relation models as classifiers: roc, their curves on FACTOR's true and false completions."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import Progress

from localfact.cli.options import AsJson, Force, Limit, options_from
from localfact.cli.watching import line_for_each, reporting_interruption
from localfact.methods.options import ModelOptions, Options
from localfact.report.console import SOME_FAILED, note, progress_bar, show
from localfact.report.tables import table_of

if TYPE_CHECKING:
    from localfact.api.roc import RocReport

#: Without a terminal, a line is printed each time another such share of the questions is done.
SHARE = 0.25


@options_from(Options, ModelOptions, "embedder", without={"guided"})
def roc(
    options: Options,
    data: Annotated[Path, typer.Option("--data", help="FACTOR's CSV, plain or .gz.")],
    relations: Annotated[
        list[str] | None,
        typer.Option("--relations", help="Relation model; repeat for several in one plot. [default: lexical]"),
    ] = None,
    limit: Limit = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder to make. Default: runs/roc-<name of the data>.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the intervals.")] = 0,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Draw ROC curves of relation models: do they tell true completions from false ones? (FactReasoner, Figures 6-10)

    The premise is the text with its true completion, the hypothesis that completion or one of the three false ones. Numbers,
    PNG and SVG go into the folder. Killed or interrupted, the same command goes on where it stopped.

    [dim]localfact roc --data expert_factor.csv --relations lexical --relations albert-vitaminc[/]
    """
    from localfact.api.roc import relation_roc
    from localfact.methods.relations import DEFAULT_RELATIONS

    folder = out or default_folder(data, limit)
    names = relations or [DEFAULT_RELATIONS]
    left = f"What is done is in {folder}; the same command goes on from there."
    with reporting_interruption(left), progress_bar() as bar:
        watch = progress_reporter(bar)
        report = relation_roc(
            data, folder, relations=names, options=options, seed=seed, limit=limit, force=force, progress=watch
        )
    for problem in report.unusable:
        note(f"Passed over: {problem}")
    for one in report.models:
        for warning in one.warnings:
            note(f"{one.relations}: {warning}")
    show(report.model_dump(mode="json"), as_json=as_json, view=lambda _: table_of(area_rows(report)))
    if not as_json:
        note(f"{report.questions} questions. Intervals: {report.interval}.")
    note(f"Numbers and figures are in {folder}.")
    if report.unusable or any(one.failed for one in report.models):
        raise typer.Exit(SOME_FAILED)


def default_folder(data: Path, limit: int | None) -> Path:
    """The default folder of the results: data of another name, or another limit, has a folder of its own."""
    name = data.name.removesuffix(".gz").removesuffix(".csv")
    return Path("runs") / (f"roc-{name}" if limit is None else f"roc-{name}-first-{limit}")


def progress_reporter(bar: Progress) -> Callable[[str, int, int], None]:
    """Updates the progress bar of each relation model; without a terminal, prints a line now and then."""
    show_progress = line_for_each(bar, "{}: questions")
    printed: dict[str, int] = {}

    def report(name: str, done: int, total: int) -> None:
        show_progress(name, done, total)
        if not bar.console.is_terminal and done - printed.setdefault(name, done) >= max(1, SHARE * total):
            printed[name] = done
            note(f"{name}: {done} of {total} questions")

    return report


def area_rows(report: "RocReport") -> list[dict[str, Any]]:
    """One row a model and relation, for a table of 80 columns; `cut` counts premises of which only the end was read."""
    rows = []
    for one in report.models:
        for label, curve in (("contradiction", one.contradiction), ("entailment", one.entailment)):
            rows.append(
                {
                    "model": one.relations,
                    "relation": label,
                    "area": curve.area if curve else None,
                    "95 %": f"{curve.ci[0]:.3f}-{curve.ci[1]:.3f}" if curve and curve.ci else None,
                    "positive": f"{curve.positives}/{curve.positives + curve.negatives}" if curve else None,
                    "failed": one.failed,
                    "cut": one.premises_cut,
                }
            )
    return rows
