"""The commands that do one stage by itself, file in and rows out: infer and relate."""

from pathlib import Path
from typing import Annotated

import typer

from localfact.cli.options import AsJson, Solver, options_from
from localfact.errors import InputError
from localfact.methods.options import ModelOptions, Options
from localfact.report.console import SOME_FAILED, note, output, show
from localfact.report.tables import graph_view, graphs_table, pairs_table


def infer(
    graphs: Annotated[
        list[Path],
        typer.Argument(
            metavar="GRAPH.json...", help="Fact graphs (atoms, contexts, relations), or UAI files; - for standard input."
        ),
    ],
    solver: Solver = "auto",
    write_uai: Annotated[
        Path | None, typer.Option("--write-uai", help="Also write each graph into this folder, for other solvers.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compute the marginals of fact graphs; with --json one line a graph.

    Several graphs are a table: how exact, how long, and, where a file carries reference marginals, how far off over its claims.
    """
    from localfact.api.infer import infer as infer_files

    failed, rows = 0, []
    for result in infer_files(graphs, solver=solver, write_uai=write_uai):
        failed += "error_message" in result
        if as_json or len(graphs) == 1:
            show(result, as_json=as_json, view=graph_view)
        else:
            rows.append(result)
            if "error_message" in result:
                note(result["error_message"])
    if rows:
        output().print(graphs_table(rows))
    if failed:
        raise typer.Exit(SOME_FAILED if failed < len(graphs) else InputError.exit_code)


@options_from(Options, ModelOptions, "relations", "embedder", "seed", without={"guided"})
def relate(
    options: Options,
    pairs: Annotated[Path, typer.Argument(metavar="PAIRS.jsonl", help="One object a line with premise and hypothesis.")],
    as_json: AsJson = False,
) -> None:
    """Relate pairs of texts: entailment, contradiction, neutral. With --json the rows with the three probabilities added."""
    from localfact.api.relate import relate_file

    related = relate_file(pairs, options=options)
    if as_json:
        for row in related:
            show(row, as_json=True)
    else:
        output().print(pairs_table(related))
    if any("error_message" in row for row in related):
        raise typer.Exit(SOME_FAILED)
