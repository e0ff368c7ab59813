"""The commands about the papers' tables: which there are, and one of them with runs of ours beside it."""

from pathlib import Path
from typing import Annotated

import typer

from localfact.cli.compare import METHOD_OPTIONS
from localfact.cli.options import AsJson, Data, Limit, TableFormat, format_of, names_typed, options_from
from localfact.cli.watching import watch
from localfact.errors import InputError
from localfact.methods.options import ModelOptions, Options
from localfact.report.console import SOME_FAILED, note, show, show_table


def tables(as_json: AsJson = False) -> None:
    """List the tables of both papers: what each shows, and what it takes to measure it again."""
    from localfact.papers.printed_tables import printed_tables
    from localfact.report.tables import table_of

    rows = [
        {"table": f"{table.paper.lower()}-{table.number}", "shows": table.about, "needs": table.needs}
        for table in printed_tables().values()
    ]
    show(rows, as_json=as_json, view=table_of)


@options_from(Options, *METHOD_OPTIONS)
def table(
    context: typer.Context,
    options: Options,
    name: Annotated[str, typer.Argument(help="Its number: 12 of FactReasoner, fastfact-3 of FastFact.")],
    runs: Annotated[list[Path] | None, typer.Argument(metavar="[RUN]", help="Run folders to be set beside it.")] = None,
    methods: Annotated[str | None, typer.Option("--methods", help="Methods to run over the data first, with commas.")] = None,
    data: Data = None,
    limit: Limit = None,
    out: Annotated[Path | None, typer.Option("--out", help="With --methods: the folder of their runs.")] = None,
    recall_k: Annotated[
        str | None, typer.Option("--recall-k", help="K of F1@K: median, max, gold or a number. Default: as in the table.")
    ] = None,
    how: TableFormat = "terminal",
    as_json: AsJson = False,
) -> None:
    """Show a paper's table as it is printed, with its known errors, and runs of ours beside it.

    [dim]localfact papers table 12[/]                                                       as printed
    [dim]localfact papers table 12 runs/4f1c runs/9e02[/]                                   runs beside it
    [dim]localfact papers table 4 runs/4f1c runs/9e02[/]                                    whether the first run is better
    [dim]localfact papers table 5 --data conflicts.jsonl --methods builtin-fr2,builtin-fr3[/]  runs made now
    """
    from localfact.papers.comparison import recall_of
    from localfact.papers.measured_runs import measure_runs, run_methods
    from localfact.papers.measured_significance import significance_table
    from localfact.papers.measured_table import measure_table
    from localfact.papers.printed_tables import printed_table
    from localfact.scoring import KPolicy

    chosen, printed = format_of(how, as_json), printed_table(name)
    recall = KPolicy.parse(recall_k or recall_of(printed))
    if runs and methods is not None:
        raise InputError("Name runs or --methods, not both.")
    if methods is None and names_typed(context) & {"data", "limit", "out", *METHOD_OPTIONS}:
        raise InputError("Data and options are for --methods; of runs, all that was chosen is in their folders.")
    folders = list(runs or ())
    if methods is not None:
        names = [one.strip() for one in methods.split(",") if one.strip()]
        folders = run_methods(names, data, options=options, watch=watch, out=out, limit=limit)
        note(f"Run folders: {', '.join(map(str, folders))}")
    found = measure_runs(folders, recall)
    made = significance_table(printed, found, recall) if printed.kind == "significance" else measure_table(printed, found)
    show_table(made, chosen)


@options_from(Options, ModelOptions, "extraction_tokens", "seed")
def figure2(
    options: Options,
    data: Data = None,
    strides: Annotated[str, typer.Option("--strides", help="Sentences a chunk, with commas; max: all.")] = "1,4,16,max",
    limit: Limit = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder of the claims. Default: runs/strides-<hash>.")] = None,
    how: TableFormat = "terminal",
    as_json: AsJson = False,
) -> None:
    """FastFact's Figure 2: claims and tokens by stride; and theta beside it. The same command goes on where it stopped.

    [dim]localfact papers figure2 --model smollm2-135m --limit 2[/]
    [dim]localfact papers figure2 --data answers.jsonl --model llama-3.1-8b --strides 1,2,4,8,16,32,max[/]
    """
    from localfact.papers.figure2 import draw_figure2, figure2_tables, measure_strides

    chosen = format_of(how, as_json)
    names = [one.strip() for one in strides.split(",") if one.strip()]
    folder, found = measure_strides(data, options=options, strides=names, watch=watch, out=out, limit=limit)
    note(f"Claims of each stride: {folder}/stride-*.jsonl")
    note(f"Drawn: {', '.join(draw_figure2(found, folder))}")
    failed = sum(one.failed for one in found)
    facts = {"data": str(data or "the sample"), "extractor": options.model_said}
    for table in figure2_tables(found, facts):
        show_table(table, chosen)
    if failed:
        note(f"{failed} extractions failed. The same command tries them again.")
        raise typer.Exit(SOME_FAILED)


@options_from(Options, ModelOptions, "relations", "embedder", "seed", without={"guided"})
def failures(
    options: Options,
    run: Annotated[Path, typer.Argument(help="A run folder with extracted claims.")],
    judging: Annotated[
        str,
        typer.Option(
            "--judging", help="each: a claim by the probabilities of its labels; whole: all in one call, as published."
        ),
    ] = "each",
    how: TableFormat = "terminal",
    as_json: AsJson = False,
) -> None:
    """Count redundant claims; with a --model unverifiable and missing ones too (FastFact, C.2).

    [dim]localfact papers failures runs/4f1c[/]                         redundant: two claims that entail each other
    [dim]localfact papers failures runs/4f1c --model llama-3.1-8b[/]    beside these, what the model finds of all three kinds
    """
    from localfact.api.failures import Judging, claim_failures
    from localfact.methods.relations import DEFAULT_RELATIONS
    from localfact.papers.failures_table import failures_table

    chosen = format_of(how, as_json)
    kind: Judging = "whole" if judging == "whole" else "each"
    if judging != kind:
        raise InputError(f"--judging cannot be {judging!r:.100}. Take each or whole.")
    with watch("looking at claims") as progress:
        found = claim_failures(run, options=options, judging=kind, progress=progress)
    judge = options.model_said if options.names_model else ""
    show_table(failures_table(found, options.relations or DEFAULT_RELATIONS, judge, kind), chosen)
    if failed := sum(one.failed + one.unrelated for one in found):
        note(f"{failed} questions got no answer; the shares are of what was answered.")
        raise typer.Exit(SOME_FAILED)
