"""The command that makes the report of a run, a page for a browser."""

from pathlib import Path
from typing import Annotated

import typer

from localfact.cli.options import AsJson
from localfact.cli.watching import tell_unfinished
from localfact.report.console import note, one_line, show, show_text


def report(
    run: Annotated[Path | None, typer.Argument(help="A run folder. Default: the latest in runs/.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="The file. Default: report.html in the run folder.")] = None,
    start: Annotated[
        int, typer.Option("--start", min=1, help="The first response in it, by number: of large runs it has 2,000.")
    ] = 1,
    calls: Annotated[
        Path | None,
        typer.Option("--calls", help="A transcript: the model's calls stand in the report too, whole prompts and answers."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a run's report: one HTML file with every text, its claims marked, and what each verdict rests on.

    A finished run has one already. It is complete in itself and loads nothing, so it can be sent to somebody else.

    [dim]localfact report[/]                                       of the latest run
    [dim]localfact report runs/4f1c --out marie-curie.html[/]
    [dim]localfact report runs/4f1c --calls calls.sqlite[/]        with the language model's calls
    """
    from localfact.api.report import write_report
    from localfact.api.runs import latest_run

    folder = run if run is not None else latest_run()
    file = write_report(folder, out=out, start=start, calls=calls)
    tell_unfinished([folder])
    if as_json:
        show({"report": str(file), "bytes": file.stat().st_size}, as_json=True)
    else:
        show_text(f"{one_line(str(file))}\n")
    if calls is not None:
        note("The calls have the whole text of responses and passages in them: look at the report before you give it away.")
