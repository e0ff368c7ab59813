"""The commands about a run that is there: show and score. Nothing is assessed and nothing is written."""

from pathlib import Path
from typing import Annotated

import typer

from localfact.cli.options import AsJson, RecallK
from localfact.errors import InputError
from localfact.report.console import note, output, show


def show_command(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    response_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="One response of it.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show a run: its scores and responses, or one response with a verdict per claim."""
    from localfact.api.rescore import finished, rescore
    from localfact.report.terminal import assessment_view, responses_table, summary_view
    from localfact.runs.run_folder import read_assessments

    assessments = read_assessments(run)
    if response_id is None:
        summary = finished(run)
        if summary is None:
            note("This run has not ended: these are the responses done so far. The same `localfact eval` goes on with it.")
            summary = rescore(run)
        view = summary_view(summary)
        show(summary.model_dump(mode="json"), as_json=as_json, view=lambda _: view)
        if not as_json:
            output().print(responses_table(assessments))
        return
    found = [assessment for assessment in assessments if assessment.response_id == response_id]
    if not found:
        known = ", ".join(assessment.response_id for assessment in assessments[:5])
        raise InputError(
            f"The run {run} has no response '{response_id}'. It has {known}, ... (localfact show {run} lists them)."
        )
    show(found[0].model_dump(mode="json"), as_json=as_json, view=lambda _: assessment_view(found[0]))


def score(
    run: Annotated[Path, typer.Argument(help="A run folder.")], recall_k: RecallK = "median", as_json: AsJson = False
) -> None:
    """Score a run again, perhaps with another K. Nothing is assessed and nothing is written."""
    from localfact.api.rescore import rescore
    from localfact.report.terminal import summary_view
    from localfact.scoring import KPolicy

    summary = rescore(run, KPolicy.parse(recall_k))
    show(summary.model_dump(mode="json"), as_json=as_json, view=lambda _: summary_view(summary))
