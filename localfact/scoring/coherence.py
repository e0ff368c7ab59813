"""The score of texts that were compared with themselves."""

from collections.abc import Sequence

from localfact.records import Assessment
from localfact.scoring.aggregate import ResponseScore
from localfact.scoring.tally import Unscored


class CoherenceScore(ResponseScore):
    """coherence = 1 - |claims in a contradiction| / |claims|: the share of a response's claims that no other contradicts.

    In [0, 1]; 1 where no two claims contradict one another. It says nothing of what is true: two claims that agree may both
    be false. Ours.
    """

    def __str__(self) -> str:
        return "coherence"

    def reason_left_out(self, assessment: Assessment) -> str | None:
        """Why a response has no such score: verdicts are not needed for it."""
        return "not compared" if assessment.coherence is None else None

    def of(self, assessment: Assessment) -> float | Unscored:
        """The value, in [0, 1]."""
        score = assessment.coherence.score if assessment.coherence is not None else None
        return Unscored("no claims") if score is None else score

    def claims_in(self, assessment: Assessment) -> int:
        """All claims."""
        return len(assessment.claims)

    def with_zeros(self, contributions: Sequence[float], unjudged: Sequence[Assessment]) -> None:
        """Always None: a text without verdicts contradicts itself no more than another."""
