"""The command that says how far the posteriors of runs can be trusted."""

from pathlib import Path
from typing import Annotated

import typer

from localfact.cli.options import AsJson, TableFormat, format_of
from localfact.report.console import show_table


def reliability(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Run folders with annotated claims.")],
    how: TableFormat = "terminal",
    as_json: AsJson = False,
) -> None:
    """Say how far posteriors can be trusted: calibration error, Brier's parts, risk-coverage, by run and source.

    The pictures of it: localfact plot RUN --only reliability --only risk-coverage

    [dim]localfact reliability runs/4f1c runs/9e02[/]
    """
    from localfact.api.plot import names_of
    from localfact.errors import InputError
    from localfact.report.reliability_table import reliability_table
    from localfact.runs.assessments import read_assessments

    chosen = format_of(how, as_json)
    paths = list({run.resolve(): run for run in runs}.values())
    table = reliability_table(dict(zip(names_of(paths), map(read_assessments, paths), strict=True)))
    if not table.groups:
        raise InputError("No run has posteriors of annotated claims: --claims given judges the claims that come with labels.")
    show_table(table, chosen)
