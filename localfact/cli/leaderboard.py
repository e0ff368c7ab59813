"""The command that ranks the models whose responses were judged."""

from math import inf
from pathlib import Path
from typing import Annotated

import typer

from localfact.cli.options import AsJson, TableFormat, format_of
from localfact.cli.watching import tell_unfinished
from localfact.errors import InputError
from localfact.report.console import show, show_table
from localfact.scoring.recall import GAMMA


def leaderboard(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Run folders, made alike.")],
    gamma: Annotated[float, typer.Option("--gamma", min=0, help="Of F1@K'. The paper gives none; its code has 0.1.")] = GAMMA,
    prices: Annotated[
        str | None,
        typer.Option("--prices", metavar="READ,WRITTEN", help="Of a million tokens read and written: what judging cost."),
    ] = None,
    by_source: Annotated[bool, typer.Option("--by-source", help="A row a model and source, as in Table 8.")] = False,
    how: TableFormat = "terminal",
    as_json: AsJson = False,
) -> None:
    """Rank the models that wrote the responses of runs: F1@K' by source and on average, precision, cost (FastFact, Figure 3).

    A response names its model with "model", and the data set of its prompt with "source".

    [dim]localfact leaderboard runs/4f1c runs/9e02[/]
    [dim]localfact leaderboard runs/* --format markdown[/]
    [dim]localfact leaderboard runs/* --by-source[/]
    """
    from localfact.api.leaderboard import rank
    from localfact.report.leaderboard_table import benchmark_table, leaderboard_table

    format_of(how, as_json)
    board = rank(runs, gamma=gamma, prices=read_prices(prices) if prices is not None else None)
    tell_unfinished(runs)
    if as_json:
        show(board.model_dump(mode="json"), as_json=True)
        return
    if by_source:
        show_table(benchmark_table(board.by_source, board.k_prime, board.differs), how)
        return
    show_table(leaderboard_table(board.standings, board.sources, board.k_prime, board.differs, board.prompts), how)


def read_prices(typed: str) -> tuple[float, float]:
    """The prices of a million tokens read and written, from a text like "0.15,0.60".

    Raises:
        InputError: it is not two numbers.
    """
    try:
        read, written = (float(part) for part in typed.split(","))
    except ValueError:
        read = written = -1.0
    if not (0 <= read < inf and 0 <= written < inf):
        raise InputError(f"--prices cannot be {typed!r:.100}. Take two numbers with a comma between them, like 0.15,0.60.")
    return read, written
