"""The command that draws runs: figures as PNG and SVG."""

from pathlib import Path
from typing import Annotated

import typer

from localfact.cli.options import AsJson
from localfact.cli.watching import line_for_each, tell_unfinished
from localfact.report.console import note, one_line, progress_bar, show, show_text


def plot(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RUN", help="Run folders. Default: the latest in runs/.", show_default=False),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder to make. Default: runs/plots-<names of the runs>.")] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAME", help="One of the figures named above; repeat for several."),
    ] = None,
    by_source: Annotated[bool, typer.Option("--by-source", help="Draw the responses of each source by themselves.")] = False,
    as_json: AsJson = False,
) -> None:
    """Draw figures of one run or several, as PNG and SVG for papers and slides.

    [bold]reliability[/]          are claims of posterior 0.8 supported in 80 % of cases? *
    [bold]risk-coverage[/]        how many errors remain when the least sure claims go? *
    [bold]roc[/]                  does the posterior tell supported claims from others? *
    [bold]precision-by-length[/]  are longer responses less precise?
    [bold]scores[/]               how are the scores of the responses distributed?
    [bold]passage-posterior[/]    do the factor graphs believe their own passages?

    * of claims that annotators labelled. Factor graphs are solved again for this, in milliseconds, or a fifth of a second for
    120 claims; of a run of more than 500 responses, those of 500, evenly spread.

    [dim]localfact plot[/]                                        of the latest run
    [dim]localfact plot runs/4f1c runs/9e02 --out figures[/]      two runs together
    [dim]localfact plot runs/4f1c --only reliability --only roc[/]
    [dim]localfact plot runs/4f1c --by-source[/]                  each source of prompts a line
    """
    from localfact.api.plot import plot as draw
    from localfact.api.runs import latest_run

    drawn = runs or [latest_run()]
    with progress_bar() as bar:
        watch = line_for_each(bar, "{}: factor graphs")
        plots = draw(drawn, out=out, only=only or (), by_source=by_source, progress=watch)
    tell_unfinished(drawn)
    for sentence in plots.notes:
        note(sentence)
    if as_json:
        show(plots.model_dump(mode="json"), as_json=True)
    else:
        show_text("".join(f"{one_line(file)}\n" for file in plots.figures))
