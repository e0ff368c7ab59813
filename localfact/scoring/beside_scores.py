"""The scores of what is looked at beside verdicts: citations, key facts of the pages, a text's agreement with itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from localfact.records import Assessment
from localfact.scoring.aggregate import ResponseScore
from localfact.scoring.recall import f1
from localfact.scoring.tally import Unscored, tally


@dataclass(frozen=True)
class CitationScore(ResponseScore):
    """Recall: the share of a response's sentences that their citations entail. Precision: of its citations, that count."""

    kind: Literal["recall", "precision"]

    def __str__(self) -> str:
        return f"citation {self.kind}"

    def reason_left_out(self, assessment: Assessment) -> str | None:
        """Why a response has no such score: verdicts are not needed for it."""
        missing = "failed" if assessment.status == "failed" else "not checked"
        return missing if assessment.citations is None else None

    def of(self, assessment: Assessment) -> float | Unscored:
        """The score of one response, in [0, 1]; or why it has none."""
        found = assessment.citations
        value = None if found is None else getattr(found, self.kind)
        return Unscored("nothing is cited" if self.kind == "precision" else "no sentence") if value is None else float(value)

    def claims_in(self, assessment: Assessment) -> int:
        """All claims."""
        return len(assessment.claims)

    def with_zeros(self, contributions: Sequence[float], unjudged: Sequence[Assessment]) -> None:
        """Always None: a response without a claim has its own value among the others."""


def citation_scores(assessments: Sequence[Assessment]) -> tuple[CitationScore, ...]:
    """The two scores, where citations were checked."""
    checked = any(one.citations is not None for one in assessments)
    return (CitationScore("recall"), CitationScore("precision")) if checked else ()


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
        """The score of one response, in [0, 1]; or why it has none."""
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
        """The score of one response, in [0, 1]; or why it has none."""
        score = assessment.recall.score if assessment.recall is not None else None
        return Unscored("no key fact") if score is None else f1(tally(assessment).precision, score)

    def of_unjudged(self, assessment: Assessment) -> float | None:
        """0 for an abstained or unscored response; None where there is no key fact."""
        return None if assessment.recall is None or assessment.recall.score is None else 0.0


def recall_scores(assessments: Sequence[Assessment]) -> tuple[ResponseScore, ...]:
    """The two scores, where key facts were asked for."""
    return (EvidenceRecallScore(), F1AtEvidence()) if any(one.recall is not None for one in assessments) else ()


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
        """The score of one response, in [0, 1]; or why it has none."""
        score = assessment.coherence.score if assessment.coherence is not None else None
        return Unscored("no claims") if score is None else score

    def claims_in(self, assessment: Assessment) -> int:
        """All claims."""
        return len(assessment.claims)

    def with_zeros(self, contributions: Sequence[float], unjudged: Sequence[Assessment]) -> None:
        """Always None: a text without verdicts contradicts itself no more than another."""
