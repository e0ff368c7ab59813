"""Citation recall and precision of a run: the means over its responses (`citations/alce.py` has what each response's are)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from localfact.records import Assessment
from localfact.scoring.aggregate import ResponseScore
from localfact.scoring.tally import Unscored


@dataclass(frozen=True)
class CitationScore(ResponseScore):
    """Recall: the share of a response's sentences that their citations entail. Precision: of its citations, that count."""

    kind: Literal["recall", "precision"]

    def __str__(self) -> str:
        return f"citation {self.kind}"

    def of(self, assessment: Assessment) -> float | Unscored:
        """The value, in [0, 1]."""
        found = assessment.citations
        value = None if found is None else getattr(found, self.kind)
        return Unscored("nothing is cited" if self.kind == "precision" else "no sentence") if value is None else float(value)

    def with_zeros(self, contributions: Sequence[float], unjudged: Sequence[Assessment]) -> None:
        """Always None: a response without a claim may cite well."""


def citation_scores(assessments: Sequence[Assessment]) -> tuple[CitationScore, ...]:
    """The two scores, where citations were checked."""
    checked = any(one.citations is not None for one in assessments)
    return (CitationScore("recall"), CitationScore("precision")) if checked else ()
