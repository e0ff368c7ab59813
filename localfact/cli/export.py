"""The command that writes a run in the form of another tool."""

from pathlib import Path
from typing import Annotated

import typer

from localfact.cli.options import AsJson
from localfact.errors import InputError
from localfact.report.console import show


def export(
    run: Annotated[Path | None, typer.Argument(help="A run folder. Default: the latest in runs/.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="The file.")] = None,
    inspect: Annotated[
        bool, typer.Option("--inspect", help="Scores for inspect_ai's scorer precomputed_scores: JSON lines.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write a run in the form of another tool, which need not be installed.

    [dim]localfact export runs/4f1c --inspect --out scores.jsonl[/]   a line an answer: its precision, and all that was found
    """
    from localfact.api.runs import latest_run
    from localfact.integrations.exporting import FORMS, export_run

    wanted = [form for form, named in {"inspect": inspect}.items() if named]
    if len(wanted) != 1:
        raise InputError(f"Name one form: {' or '.join(f'--{form}' for form in FORMS)}.")
    if out is None:
        raise InputError("Name the file with --out.")
    folder = run if run is not None else latest_run()
    show({"file": str(out), "lines": export_run(folder, wanted[0], out)}, as_json=as_json)
