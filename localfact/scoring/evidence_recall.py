"""Recall from evidence of a run: how much of the key facts of the pages its responses say, and its F1 with their precision."""

from collections.abc import Sequence

from localfact.records import Assessment
from localfact.scoring.aggregate import ResponseScore
from localfact.scoring.recall import f1
from localfact.scoring.tally import Unscored, tally


class EvidenceRecallScore(ResponseScore):
    """R@E: the share of the key facts' weight that a response says, one said in part counting one half. Ours.

    Where R@K divides by a number that holds for all responses, this divides by what the pages about each prompt say.
    """

    def __str__(self) -> str:
        return "R@E"

    def reason_left_out(self, assessment: Assessment) -> str | None:
        """Why a response has no such score: verdicts are not needed for it."""
        missing = "failed" if assessment.status == "failed" else "not asked for key facts"
        return missing if assessment.recall is None else None

    def of(self, assessment: Assessment) -> float | Unscored:
        """The value, in [0, 1]."""
        score = assessment.recall.score if assessment.recall is not None else None
        return Unscored("no key fact") if score is None else score

    def claims_in(self, assessment: Assessment) -> int:
        """All claims."""
        return len(assessment.claims)

    def with_zeros(self, contributions: Sequence[float], unjudged: Sequence[Assessment]) -> None:
        """Always None: a response without a claim has its value, 0, among the others."""


class F1AtEvidence(ResponseScore):
    """F1@E of Pr and R@E; 0 where nothing is supported."""

    def __str__(self) -> str:
        return "F1@E"

    def of(self, assessment: Assessment) -> float | Unscored:
        """The value, in [0, 1]."""
        score = assessment.recall.score if assessment.recall is not None else None
        return Unscored("no key fact") if score is None else f1(tally(assessment).precision, score)


def recall_scores(assessments: Sequence[Assessment]) -> tuple[ResponseScore, ...]:
    """The two scores, where key facts were asked for."""
    return (EvidenceRecallScore(), F1AtEvidence()) if any(one.recall is not None for one in assessments) else ()
