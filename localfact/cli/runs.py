"""The commands that look into a run: show and score. Nothing is assessed and nothing is written."""

from pathlib import Path
from typing import Annotated

import typer

from localfact.cli.options import AsJson, RecallK, format_of
from localfact.cli.watching import tell_unfinished
from localfact.errors import InputError
from localfact.report.console import note, output, show, show_table
from localfact.report.formats import Format, find_format
from localfact.vocabulary import VerdictLabel


def show_command(
    run: Annotated[str | None, typer.Argument(help="A run folder. Default: the latest in runs/.")] = None,
    response_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="One response of it.")] = None,
    only: Annotated[
        list[VerdictLabel] | None,
        typer.Option("--only", help="Claims of this verdict alone, over the run the least likely first; repeat for several."),
    ] = None,
    graph: Annotated[bool, typer.Option("--graph", help="Print the factor graph of one response, for infer.")] = False,
    citations: Annotated[
        bool, typer.Option("--citations", help="With --format: citations as a table, a row a citation, in place of claims.")
    ] = False,
    how: Annotated[
        Format,
        typer.Option(
            "--format",
            metavar="<str>",
            parser=find_format,
            help="terminal; or all claims as a table: csv, markdown, latex, json.",
        ),
    ] = "terminal",
    as_json: AsJson = False,
) -> None:
    """Show a run: its scores and responses, or one response: its text with the claims marked, and a verdict for each.

    [dim]localfact show[/]                                the latest run
    [dim]localfact show marie-curie[/]                    one response of it
    [dim]localfact show runs/4f1c --only contradicted[/]  what that run found wrong, the surest first
    [dim]localfact show --format csv > claims.csv[/]      a row a claim, with the sentence that it rests on
    [dim]localfact show --citations --format csv[/]       a row a citation, with the sentence of its source that decides
    [dim]localfact show marie-curie --graph | localfact infer -[/]  the marginals again, by another solver perhaps
    """
    from localfact.api.graph import graph as graph_of
    from localfact.api.rescore import read_finished_summary, rescore
    from localfact.api.runs import latest_run
    from localfact.report.citation_rows import citations_table
    from localfact.report.claim_rows import claim_rows, claims_table, least_likely
    from localfact.report.finding_view import findings_view
    from localfact.report.findings import common_flags, only_verdicts, worst_first
    from localfact.report.terminal import assessment_view, responses_table, summary_view
    from localfact.runs.assessments import read_assessment, read_assessments
    from localfact.runs.record import read_run

    format_of(how, as_json)
    if graph and (only or how != "terminal"):
        raise InputError("--graph prints one response's graph, as JSON: leave --only and --format out.")
    folder = Path(run) if run is not None else latest_run()
    if run is not None and response_id is None and not folder.exists():  # an id, where only that is given
        folder, response_id = latest_run(), run
    assessments = read_assessments(folder) if response_id is None else [read_assessment(folder, response_id)]
    if graph:
        if response_id is None:
            raise InputError("A graph is of one response: localfact show RUN ID --graph. `localfact show RUN` lists the ids.")
        show(graph_of(read_run(folder), assessments[0]), as_json=True)
        return
    whole = {one.index: one for one in assessments} if only else {}
    if only:
        view = findings_view(assessments, verdicts=only, most=None)
        assessments = worst_first(only_verdicts(one, only) for one in assessments)
    if citations:
        if how == "terminal" or only:
            raise InputError("--citations goes with --format alone; in a terminal, localfact show ID has a text's citations.")
        show_table(citations_table(assessments), how)
        return
    if how != "terminal":
        show_table(claims_table(assessments, worst_first=bool(only)), how)
        return
    if only and as_json and assessments:
        for row in sorted(claim_rows(assessments), key=least_likely):
            show(row, as_json=True)
        return
    if only and assessments and response_id is None:
        output().print(view)
        return
    if response_id is None and not only:
        summary = read_finished_summary(folder)
        if summary is None:
            tell_unfinished([folder])
            summary = rescore(folder)
        if as_json:
            show(summary.model_dump(mode="json"), as_json=True)
        else:
            output().print(summary_view(summary, findings_view(assessments, common_flags(summary))))
            output().print(responses_table(assessments))
        return
    stored = read_finished_summary(folder)
    common = common_flags(stored) if stored is not None else ()
    for assessment in assessments:
        if as_json:
            show(assessment.model_dump(mode="json"), as_json=True)
        else:
            output().print(assessment_view(assessment, whole.get(assessment.index), common))
    if not assessments:
        note(f"No claim of {response_id or folder} has such a verdict.")


def score(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    recall_k: RecallK = "median",
    explain: Annotated[bool, typer.Option("--explain", help="Say what each score means.")] = False,
    as_json: AsJson = False,
) -> None:
    """Score a run again, perhaps with another K. Nothing is assessed and nothing is written."""
    from localfact.api.rescore import rescore
    from localfact.report.explanations import explanations
    from localfact.report.terminal import summary_view
    from localfact.scoring import KPolicy

    if explain and as_json:
        raise InputError("--explain is for people, and --json for programs: type one of them.")
    summary = rescore(run, KPolicy.parse(recall_k))
    tell_unfinished([run])
    show(summary.model_dump(mode="json"), as_json=as_json, view=lambda _: summary_view(summary))
    if explain and not as_json:
        for name, line in explanations(summary):
            output().print(f"{name}: {line}.")
