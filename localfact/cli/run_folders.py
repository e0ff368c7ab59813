"""The commands about run folders as a whole: runs, which lists them, and runs remove."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from localfact.cli.options import AsJson
from localfact.errors import InputError, MissingError
from localfact.report.console import note, output, show
from localfact.runs.run_folder import RUN_FILE

app = typer.Typer(
    invoke_without_command=True,
    help="List the runs and comparisons that are there, the latest first: method, responses, ended, precision, size on disk.",
)


@app.callback()
def runs(
    context: typer.Context,
    folder: Annotated[Path, typer.Option("--folder", help="The folder in which runs lie.")] = Path("runs"),
    as_json: AsJson = False,
) -> None:
    """Lists the runs, where no command about them was given."""
    if context.invoked_subcommand is not None:
        return
    from localfact.api.runs import list_runs
    from localfact.report.tables import table_of

    rows = list_runs(folder)
    if not rows:
        note(f"There is no run in {folder}. `localfact eval` makes one.")
    if as_json:
        for row in rows:
            show(row.model_dump(mode="json"), as_json=True)
    elif rows:
        broken = any(row.problem for row in rows)
        shown = [row.model_dump(exclude={"bytes"} if broken else {"bytes", "problem"}) for row in rows]
        for plain, row in zip(shown, rows, strict=True):
            plain["size"] = megabytes(row.bytes)
        output().print(table_of(shown))
        note(f"{megabytes(sum(row.bytes for row in rows))} together. `localfact runs remove RUN` deletes one.")
        if several := next((row.run for row in rows if (Path(row.run) / RUN_FILE).is_file() is False), None):
            note(f"Of several runs made together: localfact compare {several}/*/")


@app.command()
def remove(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Run folders.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete run folders: what localfact wrote there, and nothing else. It cannot be undone.

    [dim]localfact runs remove runs/4f1c[/]
    [dim]localfact runs remove runs/* --yes[/]      all of them, unasked
    """
    from localfact.api.runs import remove_run, run_size

    found = list({run.resolve(): run for run in runs if (run / RUN_FILE).is_file()}.values())
    for other in (run for run in runs if not (run / RUN_FILE).is_file()):
        note(f"{other} is not a run folder: it is left as it is.")
    if not found:
        raise MissingError("There is no run folder among them. `localfact runs` lists the runs.")
    sizes = {run: run_size(run) for run in found}
    if not yes:
        if not sys.stdin.isatty():
            raise InputError("Nobody can be asked here whether to delete: say --yes.")
        listed = ", ".join(f"{run} ({megabytes(size)})" for run, size in sizes.items())
        note(f"To be deleted for good: {listed}")
        typer.confirm("Delete?", abort=True, err=True)
    for run in found:
        left = remove_run(run)
        if as_json:
            show({"removed": str(run), "bytes": sizes[run], "left": left}, as_json=True)
        else:
            note(f"Deleted: {run} ({megabytes(sizes[run])})")
        if left:
            note(f"{run} is left with files that are not of localfact: {', '.join(left)}")


def megabytes(size: int) -> str:
    """A size for people: "1.4 MB"."""
    return f"{size / 1e6:,.1f} MB"
