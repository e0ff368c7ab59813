"""Claims of some verdicts alone, those first that are the least likely to be true."""

from collections.abc import Collection, Iterable

from localfact.records import Assessment, Verdict
from localfact.report.claim_rows import UNKNOWN
from localfact.vocabulary import VerdictLabel


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
