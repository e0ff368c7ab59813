"""The command that writes a run in the form of another tool."""

from pathlib import Path
from typing import Annotated

import typer

from localfact.cli.options import AsJson
from localfact.errors import InputError
from localfact.report.console import show


def export(
    out: Annotated[Path, typer.Option("--out", help="The file.")],
    run: Annotated[Path | None, typer.Argument(help="A run folder. Default: the latest in runs/.")] = None,
    inspect: Annotated[
        bool, typer.Option("--inspect", help="Scores for inspect_ai's scorer precomputed_scores: JSON lines.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write a run in the form of another tool, which need not be installed. Nothing is assessed and nothing is sent.

    [dim]localfact export runs/4f1c --inspect --out scores.jsonl[/]   a line an answer: its precision, and all that was found
    """
    from localfact.api.runs import latest_run
    from localfact.integrations.exporting import export_run

    wanted = [form for form, named in {"inspect": inspect}.items() if named]
    if len(wanted) != 1:
        raise InputError("Name one form: --inspect.")
    count = export_run(run if run is not None else latest_run(), wanted[0], out)
    show({"file": str(out), "lines": count}, as_json=as_json)
