"""The command that puts runs, or methods, side by side."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from localfact.cli.options import AsJson, Data, Limit, RecallK, TableFormat, format_of, names_typed, options_from
from localfact.cli.watching import tell_unfinished, watch
from localfact.errors import InputError, LocalFactError
from localfact.methods.options import Options
from localfact.report.console import SOME_FAILED, note, show, show_table
from localfact.report.formats import Format

if TYPE_CHECKING:
    from localfact.report.comparison import RunsCompared
    from localfact.scoring import KPolicy

Which = Literal["all", "scores", "differences", "claims"]
#: The formats that people read.
PEOPLE = ("terminal", "markdown", "latex")
#: Options of the methods; those of runs are in their folders.
METHOD_OPTIONS = (
    *("model", "engine_args", "deterministic", "min_mass", "replay", "corpus", "k", "embedder", "extractor", "relations"),
    *("tables", "solver", "claims", "extraction_tokens", "verification_tokens", "seed"),
)


@options_from(Options, *METHOD_OPTIONS)
def compare(
    context: typer.Context,
    options: Options,
    runs: Annotated[list[Path] | None, typer.Argument(metavar="RUN", help="Run folders over the same responses.")] = None,
    methods: Annotated[
        str | None, typer.Option("--methods", help="Instead of runs: methods to run, with commas, over one set of claims.")
    ] = None,
    data: Data = None,
    limit: Limit = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="With --methods: the folder of all. Default: runs/compare-<hash>.")
    ] = None,
    one_sided: Annotated[
        bool, typer.Option("--one-sided", help="Test whether the first is better, as FactReasoner does; not only other.")
    ] = False,
    recall_k: RecallK = "median",
    claims_shown: Annotated[int, typer.Option("--show", min=0, help="So many claims on which they differ.")] = 10,
    which: Annotated[
        str, typer.Option("--table", help="all, scores, differences or claims. In CSV, all is differences.")
    ] = "all",
    html: Annotated[
        Path | None, typer.Option("--html", help="Write a page for a browser: claims on which they differ, with all evidence.")
    ] = None,
    how: TableFormat = "terminal",
    force: Annotated[
        bool, typer.Option("--force", help="With --methods: begin the runs again; claims, calls and relations are kept.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compare runs over the same responses, or methods over the same claims: scores, tests, and claims on which they differ.

    [dim]localfact compare runs/4f1c runs/9e02[/]                          two runs
    [dim]localfact compare runs/* --one-sided[/]                           the first against each other, as the papers test
    [dim]localfact compare --methods builtin-fr1,builtin-fr2 --limit 3[/]  methods over one set of claims
    [dim]localfact compare --methods factscore,veriscore --data answers.jsonl --corpus index/mine --model llama-3.1-8b[/]
    [dim]localfact compare runs/4f1c runs/9e02 --table claims --format csv > claims.csv[/]
    [dim]localfact compare runs/4f1c runs/9e02 --html compared.html[/]     both verdicts and both evidences, in a browser
    """
    from localfact.api.compare import compare_runs
    from localfact.scoring import KPolicy

    if which not in get_args(Which):
        raise InputError(f"There is no table '{which}'. There are: {', '.join(get_args(Which))}.")
    recall = KPolicy.parse(recall_k)
    for_people = format_of(how, as_json) in PEOPLE
    if "claims_shown" in names_typed(context) and not (for_people and which in ("all", "claims")):
        raise InputError("--show says how many claims are shown to people: leave it out with --json, csv, or another --table.")
    if methods is not None and runs:
        raise InputError("Name runs or --methods, not both.")
    if methods is None and names_typed(context) & {"data", "limit", "out", "force", *METHOD_OPTIONS} - {"seed"}:
        raise InputError("Data and options are for --methods; of runs, all that was chosen is in their folders.")
    if methods is None:
        compared = compare_runs(runs or (), one_sided=one_sided, recall_k=recall, seed=options.seed)
        tell_unfinished(runs or ())
    else:
        names = [name.strip() for name in methods.split(",") if name.strip()]
        compared = methods_compared(names, data, options, out, limit, recall, one_sided=one_sided, force=force)
    print_compared(compared, which, how, claims_shown, as_json)
    if html is not None:
        from localfact.api.report import write_comparison

        note(f"Page: {write_comparison(compared, html)}")
    if any(run.summary.responses_failed or run.summary.verdicts["failed"] for run in compared.runs):
        raise typer.Exit(SOME_FAILED)


def methods_compared(
    names: list[str],
    data: Path | None,
    options: Options,
    out: Path | None,
    limit: int | None,
    recall_k: "KPolicy",
    *,
    one_sided: bool,
    force: bool,
) -> "RunsCompared":
    """Runs the methods and compares them; says where what is done lies."""
    from localfact.api.compare_methods import compare_methods, prepare_comparison

    comparing = prepare_comparison(names, data, options=options, out=out, limit=limit)
    try:
        compared = compare_methods(comparing, watch, one_sided=one_sided, recall_k=recall_k, force=force)
    except (KeyboardInterrupt, LocalFactError):
        note(f"What is done is in {comparing.folder}; the same command goes on from there.")
        raise
    note(f"Claims, calls and run folders: {comparing.folder}")
    return compared


def print_compared(compared: "RunsCompared", which: str, how: Format, claims: int, as_json: bool) -> None:
    """Prints the tables that are wanted, in that format."""
    from localfact.report.comparison import claims_table, differences_table, scores_table

    chosen = format_of(how, as_json)
    if chosen == "json" and which == "all":
        show(compared.model_dump(mode="json"), as_json=True)
        return
    for_people = chosen in PEOPLE
    tables = {
        "scores": lambda: scores_table(compared),
        "differences": lambda: differences_table(compared),
        "claims": lambda: claims_table(compared, claims if for_people else None),
    }
    wanted = [which] if which != "all" else list(tables) if for_people else ["differences"]
    for name in wanted:
        show_table(tables[name](), chosen)
