"""The commands about prompts: export."""

from pathlib import Path
from typing import Annotated

import typer

from localfact.cli.options import AsJson
from localfact.report.console import note, show

app = typer.Typer(no_args_is_help=True, help="The prompts that a language model is asked with, ours and your own.")


@app.callback()
def prompts() -> None:
    """Keeps `export` a command of its own."""


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder without prompts; made where there is none.")],
    as_json: AsJson = False,
) -> None:
    """Write our prompts into a folder, with a table of what each may use and of where the papers' prompts go.

    Change them, or put others in their places; `--prompts DIR` takes the folder. What is removed from it stays ours.

    [dim]localfact prompts export prompts/mine[/]
    [dim]localfact eval --data answers.jsonl --corpus DIR --model llama-3.1-8b --prompts prompts/mine[/]
    """
    from localfact.api.prompts import export_prompts

    files = export_prompts(folder)
    if as_json:
        show({"files": [str(file) for file in files]}, as_json=True)
    else:
        note(f"{len(files)} files are in {folder}; README.md says what each may use.")
