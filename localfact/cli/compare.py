"""The command that puts runs side by side."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from localfact.cli.options import AsJson, RecallK, Seed
from localfact.errors import InputError
from localfact.report.console import output, show, show_text

if TYPE_CHECKING:
    from localfact.report.comparison import RunsCompared

Which = Literal["all", "scores", "differences", "claims"]


def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN RUN...", help="Run folders over the same responses.")],
    one_sided: Annotated[
        bool, typer.Option("--one-sided", help="Test whether the first run is better, as FactReasoner does; not only other.")
    ] = False,
    recall_k: RecallK = "median",
    claims: Annotated[int, typer.Option("--claims", min=0, help="Show so many claims on which the runs differ.")] = 10,
    which: Annotated[
        str, typer.Option("--table", help="all, scores, differences or claims. In CSV, all is differences.")
    ] = "all",
    how: Annotated[str, typer.Option("--format", help="terminal, markdown, latex, csv or json.")] = "terminal",
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Compare runs over the same responses: scores, tests of their differences, and the claims on which they differ.

    [dim]localfact compare runs/4f1c runs/9e02[/]                         two runs
    [dim]localfact compare runs/* --one-sided[/]                          the first against each other, as the papers test
    [dim]localfact compare runs/4f1c runs/9e02 --table claims --format csv > claims.csv[/]
    """
    from localfact.api.compare import compare_runs
    from localfact.scoring import KPolicy

    compared = compare_runs(runs, one_sided=one_sided, recall_k=KPolicy.parse(recall_k), seed=seed)
    print_compared(compared, which, how, claims, as_json)


def print_compared(compared: "RunsCompared", which: str, how: str, claims: int, as_json: bool) -> None:
    """Prints the tables that are wanted, in that format.

    Raises:
        InputError: there is no such table or format.
    """
    from localfact.report.comparison import claims_table, differences_table, scores_table
    from localfact.report.formats import known_format, rendered

    chosen = known_format(how)
    if which not in get_args(Which):
        raise InputError(f"There is no table '{which}'. There are: {', '.join(get_args(Which))}.")
    if as_json or (chosen == "json" and which == "all"):
        show(compared.model_dump(mode="json"), as_json=True)
        return
    for_people = chosen in ("terminal", "markdown", "latex")
    tables = {
        "scores": lambda: scores_table(compared),
        "differences": lambda: differences_table(compared),
        "claims": lambda: claims_table(compared, claims if for_people else None),
    }
    wanted = [which] if which != "all" else list(tables) if for_people else ["differences"]
    for name in wanted:
        view = rendered(tables[name](), chosen)
        if isinstance(view, str):
            show_text(view)
        else:
            output().print(view)
