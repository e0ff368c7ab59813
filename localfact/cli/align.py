"""The command that sets a run beside people's annotation."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from localfact.cli.options import AsJson, TableFormat, format_of
from localfact.cli.watching import tell_unfinished
from localfact.report.console import SOME_FAILED, show, show_table
from localfact.scoring.recall import GAMMA

if TYPE_CHECKING:
    from localfact.api.align import RunAligned
    from localfact.report.table_data import Table


def align(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    gold: Annotated[
        Path,
        typer.Option("--gold", help="Responses with labelled claims: any file that eval reads, FaStfact's too."),
    ],
    same: Annotated[
        float | None,
        typer.Option("--same", min=0, max=1, help="The least similarity of two claims that are the same. Default: 0.8."),
    ] = None,
    embedder: Annotated[str, typer.Option("--embedder", help="Whose vectors match claims; none: words.")] = "minilm",
    gamma: Annotated[float, typer.Option("--gamma", min=0, help="Of F1@K'. The paper gives none; its code has 0.1.")] = GAMMA,
    how: TableFormat = "terminal",
    as_json: AsJson = False,
) -> None:
    """Align a run with people's claims and labels: edits, agreement, K' and F1@K', by source (FastFact, Table 1).

    The claims of both sides are matched one to one; which rule decides is printed with the table.

    [dim]localfact align runs/4f1c --gold annotated.jsonl[/]
    [dim]localfact align runs/4f1c --gold annotated.jsonl --embedder none --format csv[/]
    """
    from localfact.api.align import align_run

    format_of(how, as_json)
    found = align_run(run, gold, embedder=embedder, same=same, gamma=gamma)
    tell_unfinished([run])
    if as_json:
        show(found.model_dump(mode="json"), as_json=True)
    else:
        show_table(table_of(found), how)
    if found.problems:
        raise typer.Exit(SOME_FAILED)


def table_of(found: "RunAligned") -> "Table":
    """The table of what was found."""
    from localfact.api.align import SHOWN_PROBLEMS
    from localfact.report.alignment_table import ALL, alignment_table
    from localfact.report.table_data import name_sources

    columns = {ALL: found.overall}
    if len(found.by_source) > 1:
        names = name_sources(found.by_source, taken={"", ALL})
        columns |= dict(zip(names, found.by_source.values(), strict=True))
    notes = [f"{count} responses of the run are left out: {reason}." for reason, count in found.left_out.items()]
    notes += [f"Rows of the annotation that no response of the run has: {found.unused}."] if found.unused else []
    if found.problems:
        more = len(found.problems) - SHOWN_PROBLEMS
        shown = " ".join(found.problems[:SHOWN_PROBLEMS]) + (f" And {more} more (--json)." if more > 0 else "")
        notes.append(f"Rows of the annotation that cannot be used: {len(found.problems)}. {shown}")
    edits = ", ".join(f"{name} {count:,}" for name, count in found.recorded_edits.items())
    notes += [f"Edits that annotators recorded, claims in all: {edits}."] if edits else []
    if found.coarse:
        notes.append(
            f"{found.coarse} of {found.labelled} labelled claims of the annotation are called not supported, and not how: so"
            " there is no agreement on the five labels, which only the easy claims would carry."
        )
    if found.irrelevant_otherwise:
        notes.append(
            f"{found.irrelevant_otherwise} claims of the annotation are called irrelevant as no evidence could decide them."
            " FastFact's benchmark calls those so that have nothing to do with the question: the figures are not comparable"
            " with its own."
        )
    facts = {"run": found.run, "annotation": found.gold, "claims are matched": found.rule, "gamma": f"{found.gamma:g}"}
    return alignment_table("A run beside its annotation (FastFact, Table 1)", columns, facts, tuple(notes))
