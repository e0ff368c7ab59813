"""Claims of some verdicts alone, those first that are the least likely to be true: what `show --only` prints."""

from collections.abc import Collection, Iterable

from rich.console import RenderableType
from rich.table import Table

from localfact.records import Assessment, Verdict
from localfact.report.claim_rows import UNKNOWN
from localfact.report.console import line
from localfact.report.terminal import verdict_cells
from localfact.vocabulary import VerdictLabel


def found_view(assessments: Iterable[Assessment], labels: Collection[VerdictLabel]) -> RenderableType:
    """The claims of a run with these verdicts, over all responses those first that are the least likely to be true."""
    found = [
        (verdict, number, claim, assessment)
        for assessment in assessments
        for number, (claim, verdict) in enumerate(zip(assessment.claims, assessment.verdicts, strict=True), start=1)
        if verdict.label in labels
    ]
    found.sort(key=lambda one: likelihood(one[0]))
    grid = Table.grid(padding=(0, 2))
    for _ in ("verdict", "posterior", "claim"):
        grid.add_column(overflow="fold")
    for verdict, number, claim, assessment in found:
        passages = {passage.id: passage for passage in assessment.passages}
        place = line(f"claim {number} of {assessment.response_id}", "bold dim")
        grid.add_row(*verdict_cells(claim, verdict, passages, place))
    return grid


def likelihood(verdict: Verdict) -> float:
    """How likely a claim is to be true, to put claims in order; one half where there is no posterior."""
    return UNKNOWN if verdict.posterior is None else verdict.posterior


def only_verdicts(assessment: Assessment, labels: Collection[VerdictLabel]) -> Assessment:
    """The assessment with the claims of these verdicts alone, those first that are the least likely to be true."""
    judged = zip(assessment.claims, assessment.verdicts, strict=True)
    kept = [(claim, verdict) for claim, verdict in judged if verdict.label in labels]
    kept.sort(key=lambda one: likelihood(one[1]))
    claims, verdicts = (tuple(claim for claim, _ in kept), tuple(verdict for _, verdict in kept))
    return assessment.model_copy(update={"claims": claims, "verdicts": verdicts, "warnings": (), "unparsed": ()})


def worst_first(assessments: Iterable[Assessment]) -> list[Assessment]:
    """Those with claims, the one first whose first claim is the least likely to be true."""
    return sorted((one for one in assessments if one.claims), key=lambda one: likelihood(one.verdicts[0]))
