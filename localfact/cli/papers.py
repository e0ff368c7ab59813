"""The commands about the papers: table10 runs one again; list, check and build are about the data that they judge by."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from localfact.cli import papers_tables
from localfact.cli.options import AsJson, Data, EmbedderName, Force, Limit, RecallK, TableFormat, options_from
from localfact.cli.watching import watch
from localfact.errors import LocalFactError
from localfact.methods.options import Options
from localfact.report.console import SOME_FAILED, errors, line, note, show, show_table
from localfact.report.progress import TerminalProgress
from localfact.report.tables import fields_table, table_of

if TYPE_CHECKING:
    from localfact.papers.table10 import Row
    from localfact.papers.table10_plan import Planned
    from localfact.report.formats import Format

Seed = Annotated[int, typer.Option("--seed", help="Draws as many rows as the paper, where it drew them from more.")]

app = typer.Typer(no_args_is_help=True, help="Run the papers' tables again, beside the figures that the papers print.")
build_app = typer.Typer(
    no_args_is_help=True, help="Make an input file of a data set that lies here, or of one that cannot be had."
)
app.add_typer(build_app, name="build")
app.command()(papers_tables.tables)
app.command()(papers_tables.table)
app.command()(papers_tables.figure2)
app.command()(papers_tables.failures)


@app.command()
@options_from(
    Options,
    "model",
    "prompts",
    "engine_args",
    "deterministic",
    "min_mass",
    "revise",
    "tables",
    "probability",
    "solver",
    "corpus",
    "k",
    "embedder",
)
def table10(
    options: Options,
    data: Data = None,
    relations: Annotated[
        list[str] | None,
        typer.Option(
            "--relations",
            help="Relation models, with commas or repeated. Default: lexical; with --model albert-vitaminc, llm.",
        ),
    ] = None,
    versions: Annotated[str, typer.Option("--versions", help="Which versions, with commas.")] = "fr1,fr2,fr3",
    recall_k: RecallK = "median",
    limit: Limit = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder with a run folder a row. Default: runs/table10-<hash of data and options>."),
    ] = None,
    how: TableFormat = "terminal",
    plan: Annotated[bool, typer.Option("--plan", help="Show pairs, tokens and hours of each row; run nothing.")] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """FactReasoner's Table 10: FR1 to FR3 by relation model, beside the paper's figures. The same command goes on with it.

    [dim]localfact papers table10[/]                                          the sample, nothing to download
    [dim]localfact papers table10 --data biographies.jsonl --model llama-3.1-70b[/]  as published
    [dim]localfact papers table10 --data biographies.jsonl --model llama-3.1-70b --solver wmb[/]  with the paper's solver
    [dim]localfact papers table10 --data biographies.jsonl --model llama-3.1-70b --plan[/]  hours a row; needs no weights
    [dim]localfact papers table10 --versions fr1,fr2 --relations lexical[/]  some of the rows
    """
    from localfact.papers.table10 import read_versions, row_jobs, run_rows
    from localfact.report.terminal import machine_line
    from localfact.scoring import KPolicy

    recall = KPolicy.parse(recall_k)
    wanted = read_versions(versions)
    names = [name.strip() for typed in relations or () for name in typed.split(",") if name.strip()]
    if plan:
        from localfact.papers.table10_plan import plan_rows

        planned = plan_rows(data, relations=names, versions=wanted, options=options, out=out, limit=limit)
        show(planned.model_dump(mode="json"), as_json=as_json, view=lambda _: plan_view(planned))
        return
    jobs = row_jobs(data, relations=names, versions=wanted, options=options, out=out, limit=limit)
    folder = jobs[0].job.out.parent.parent
    for facts in [one.job.chosen.facts for one in jobs if one.job.chosen.facts is not None][:1]:
        note(machine_line(facts.machine))
    rows: list[Row] = []
    try:
        for row in run_rows(jobs, watch, recall_k=recall, force=force):
            rows.append(row)
            note(told(row))  # a row can take hours, and those before it can be read meanwhile
    except (KeyboardInterrupt, LocalFactError) as stop:
        if rows:
            print_table(rows, how)
        done = f"{len(rows)} of {len(jobs)} rows are done. What is done is in {folder}; the same command goes on from there."
        note(f"Interrupted. {done}" if isinstance(stop, KeyboardInterrupt) else done)
        raise
    print_table(rows, how)
    note(f"Run folders: {folder}/*/fr1, fr2, fr3")
    if any(row.summary.responses_failed or row.summary.verdicts["failed"] for row in rows):
        note("Some responses or claims failed. The same command tries them again; rows that cannot be used must be mended.")
        raise typer.Exit(SOME_FAILED)


def told(row: "Row") -> str:
    """A finished row in a line."""
    figures = (f"{name} {one.value:.2f}" for name, one in row.scores.items() if one.value is not None)
    return f"{row.run.name} is done: {', '.join(figures)}"


def plan_view(planned: "Planned") -> RenderableType:
    """The rows that are planned, and what was assumed."""
    return Group(table_of([one.shown for one in planned.rows]), *map(line, planned.notes))


def print_table(rows: list["Row"], how: "Format") -> None:
    """Prints the warnings of the runs, and the table of these rows."""
    from localfact.papers.table10_view import table10 as table_of_rows
    from localfact.papers.table10_view import warnings_of

    for warning in warnings_of(rows):
        note(warning)
    show_table(table_of_rows(rows), how)


@app.command(name="list")
def list_command(as_json: AsJson = False) -> None:
    """List the data sets that the papers' methods are judged on: what each is, where it is had, its licence."""
    from localfact.papers.data_sets import DATA_SETS

    rows = [
        {"data set": one.name, "kind": one.kind, "what": one.about, "from": one.source, "licence": one.licence}
        for one in DATA_SETS.values()
    ]
    show(rows, as_json=as_json, view=data_sets_view)


def data_sets_view(rows: Sequence[Mapping[str, str]]) -> RenderableType:
    """Each data set in two lines."""
    lines = []
    for row in rows:
        lines.append(line(f"{row['data set']}: {row['what']}"))
        lines.append(Text(f"    {row['kind']}; {row['from']}; licence: {row['licence']}", style="dim"))
    return Group(*lines)


@app.command()
def check(
    name: Annotated[str, typer.Argument(help="A data set: see `localfact papers list`.")],
    file: Annotated[Path, typer.Argument(help="Its file, JSONL or JSON.")],
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Check that a file is that data set, and as large as the paper's, and count what it holds."""
    from localfact.papers.data_sets import check_data_set

    show(check_data_set(name, file, seed=seed).model_dump(mode="json"), as_json=as_json, view=fields_table)


@build_app.command(name="data")
def build_data(
    name: Annotated[str, typer.Argument(help="A data set: see `localfact papers list`.")],
    file: Annotated[Path, typer.Argument(help="Its file, JSONL or JSON.")],
    out: Annotated[Path, typer.Option("--out", help="The file to make, JSONL: for eval, or of prompts, for generate.")],
    seed: Seed = 0,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make the rows of a data set ours: responses with claims, labels and passages, or prompts."""
    from localfact.papers.data_sets import build_data_set

    built = build_data_set(name, file, out, seed=seed, force=force)
    show(built.model_dump(mode="json"), as_json=as_json, view=fields_table)


@build_app.command()
def biographies(
    labels: Annotated[Path, typer.Option("--labels", help="FActScore's labelled release of one model, JSONL.")],
    corpus: Annotated[Path, typer.Option("--corpus", help="A corpus of Wikipedia pages (`localfact corpus build`).")],
    out: Annotated[Path, typer.Option("--out", help="The file to make, JSONL.")],
    k: Annotated[int, typer.Option("--k", min=1, help="Passages an atom; the paper has 3 of Wikipedia.")] = 3,
    embedder: EmbedderName = "minilm",
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make FactReasoner's biographies (IBM's schema) from FActScore's labels and a corpus. The same command goes on with it."""
    from localfact.models.embedder import open_embedder
    from localfact.papers.biographies import build_biographies

    with TerminalProgress(errors()) as progress:
        built = build_biographies(
            labels,
            corpus,
            out,
            k=k,
            embedder=open_embedder(embedder),
            force=force,
            progress=progress,
        )
    for warning in built.warnings:
        note(warning)
    show(built.model_dump(mode="json"), as_json=as_json, view=fields_table)
