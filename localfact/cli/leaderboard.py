"""The command that ranks the models whose responses were judged."""

from pathlib import Path
from typing import Annotated

import typer

from localfact.cli.options import AsJson, TableFormat, format_of
from localfact.report.console import show, show_table
from localfact.scoring.recall import GAMMA


def leaderboard(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Run folders, made alike.")],
    gamma: Annotated[float, typer.Option("--gamma", min=0, help="Of F1@K'. The paper gives none; its code has 0.1.")] = GAMMA,
    how: TableFormat = "terminal",
    as_json: AsJson = False,
) -> None:
    """Rank the models that wrote the responses of runs: F1@K' by source and on average, precision, cost (FastFact, Figure 3).

    A response names its model with "model", and the data set of its prompt with "source".

    [dim]localfact leaderboard runs/4f1c runs/9e02[/]
    [dim]localfact leaderboard runs/* --format markdown[/]
    """
    from localfact.api.leaderboard import rank
    from localfact.report.leaderboard_table import leaderboard_table

    format_of(how, as_json)
    board = rank(runs, gamma=gamma)
    if as_json:
        show(board.model_dump(mode="json"), as_json=True)
        return
    show_table(leaderboard_table(board.standings, board.sources, board.k_prime, board.differs, board.prompts), how)
