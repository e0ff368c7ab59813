"""The scores that need no annotation: precision, recall and F1 by K and by K', entropy, counts; and what a run prints."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

from localfact.records import Assessment
from localfact.scoring.aggregate import Policy, ResponseScore, Score
from localfact.scoring.beside_scores import CoherenceScore, citation_scores, recall_scores
from localfact.scoring.gold_scores import BrierPerClaim, BrierPerResponse, CalibrationError, GoldF1, PrecisionError
from localfact.scoring.recall import GAMMA, MEDIAN, KPolicy, KPrime, f1, recall_at_k, recall_at_k_prime
from localfact.scoring.tally import Unscored, labelled_claims, tally, total_annotated


@dataclass(frozen=True)
class Precision(ResponseScore):
    """Pr = S / (S + N) (FactReasoner, equation 3; FastFact, section 4.4).

    FactReasoner's equation 3 divides by all n claims. It judges every claim, so the two are one number unless a claim failed: a
    claim that nobody judged says nothing about the response, and neither do irrelevant and unverifiable ones.
    """

    def __str__(self) -> str:
        return "Pr"

    def of(self, assessment: Assessment) -> float:
        """The score of one response, in [0, 1]; or why it has none."""
        return tally(assessment).precision


@dataclass(frozen=True)
class RecallAtK(ResponseScore):
    """R@K = min(S / K, 1) (FactReasoner, equation 4); undefined where K = 0."""

    letters: ClassVar[str] = "R@K"
    k: KPolicy = MEDIAN

    def __str__(self) -> str:
        """The name with its K: R@K(median=17)."""
        return f"{self.letters}({self.k})"

    @property
    def policy(self) -> Policy:
        """The origin of K, and its value if it is the same for all responses."""
        return {"K": self.k.kind or "number"} | ({} if self.k.value is None else {"K_value": self.k.value})

    def fit(self, assessments: Sequence[Assessment]) -> Self:
        """The score with K taken from the data."""
        return replace(self, k=self.k.fit(assessments))

    def of(self, assessment: Assessment) -> float | Unscored:
        """The score of one response, in [0, 1]; or why it has none."""
        k = self.k.of(assessment)
        return k if isinstance(k, Unscored) else recall_at_k(tally(assessment).supported, k)

    def of_unjudged(self, assessment: Assessment) -> float | None:
        """0 for an abstained or unscored response; None where K is that of its annotation, which has none or 0."""
        return None if self.k.kind == "gold" and isinstance(self.k.of(assessment), Unscored) else 0.0


@dataclass(frozen=True)
class F1AtK(RecallAtK):
    """F1@K of Pr and R@K; 0 where S = 0 (FactReasoner, section 2.2)."""

    letters: ClassVar[str] = "F1@K"

    def of(self, assessment: Assessment) -> float | Unscored:
        """The score of one response, in [0, 1]; or why it has none."""
        recall = super().of(assessment)
        return recall if isinstance(recall, Unscored) else f1(tally(assessment).precision, recall)


@dataclass(frozen=True)
class RecallAtKPrime(ResponseScore):
    """R@K' = 2 / (1 + exp(gamma |S - K'|)) (FastFact, equation 5)."""

    letters: ClassVar[str] = "R@K'"
    gamma: float = GAMMA
    k_prime: KPrime | None = None

    def __str__(self) -> str:
        """F1@K'(gamma=0.1, K'=annotation), or F1@K'(median=17) where gamma is the default (FastFact, section 4.4)."""
        medians_alone = self.k_prime is not None and not self.k_prime.annotated
        gamma = () if medians_alone and self.gamma == GAMMA else (f"gamma={self.gamma:g}",)
        k_prime = () if self.k_prime is None else (str(self.k_prime),)
        return f"{self.letters}({', '.join((*gamma, *k_prime))})"

    @property
    def policy(self) -> Policy:
        """Gamma, where K' comes from, and the medians by source."""
        if self.k_prime is None:
            return {"gamma": self.gamma}
        return {"gamma": self.gamma, "K'": str(self.k_prime), "K'_medians": self.k_prime.by_source}

    def fit(self, assessments: Sequence[Assessment]) -> Self:
        """The score with the K' of every response; one that has it already stays, as that of several runs does."""
        return self if self.k_prime is not None else replace(self, k_prime=KPrime.fit(assessments))

    def of(self, assessment: Assessment) -> float | Unscored:
        """The score of one response, in [0, 1]; or why it has none."""
        if self.k_prime is None:
            return Unscored("K' not fitted")
        return recall_at_k_prime(tally(assessment).supported, self.k_prime.of(assessment), self.gamma)


@dataclass(frozen=True)
class F1AtKPrime(RecallAtKPrime):
    """F1@K' of Pr and R@K' (FastFact, equation 6)."""

    letters: ClassVar[str] = "F1@K'"

    def of(self, assessment: Assessment) -> float | Unscored:
        """The score of one response, in [0, 1]; or why it has none."""
        recall = super().of(assessment)
        return recall if isinstance(recall, Unscored) else f1(tally(assessment).precision, recall)


@dataclass(frozen=True)
class Entropy(ResponseScore):
    """E = mean of -P log10 P over the claims with a posterior (FactReasoner, equation 5).

    0.1505 where every posterior is one half, 0 at 0 and at 1, largest at 1/e: without Pr beside it, it says nothing.
    """

    lower_is_better: ClassVar[bool] = True
    stands_alone: ClassVar[bool] = False

    def __str__(self) -> str:
        return "E(log10)"

    @property
    def policy(self) -> Policy:
        """The base of its logarithm."""
        return {"log": 10}

    def of(self, assessment: Assessment) -> float | Unscored:
        """The score of one response, in [0, 0.16]; or why it has none."""
        posteriors = [verdict.posterior for verdict in assessment.verdicts if verdict.posterior is not None]
        if not posteriors:
            return Unscored("no posterior")
        return 0.0 - math.fsum(p * math.log10(p) for p in posteriors if p > 0) / len(posteriors)

    def with_zeros(self, contributions: Sequence[float], unjudged: Sequence[Assessment]) -> None:
        """Always None: counting abstained and unscored responses as an entropy of 0 would read as certainty."""

    def claims_in(self, assessment: Assessment) -> int:
        """The number of claims with a posterior."""
        return sum(verdict.posterior is not None for verdict in assessment.verdicts)


@dataclass(frozen=True)
class VerdictCount(ResponseScore):
    """#S, #C or #U: claims per response that are supported, contradicted, or neither."""

    kind: Literal["S", "C", "U"]

    def __str__(self) -> str:
        return f"#{self.kind}"

    def of(self, assessment: Assessment) -> float:
        """A whole number."""
        counts = tally(assessment)
        return float({"S": counts.supported, "C": counts.contradicted, "U": counts.undecided}[self.kind])


def quality_scores(
    assessments: Sequence[Assessment], k: KPolicy | None = None, k_prime: KPrime | None = None
) -> list[ResponseScore]:
    """Those standard scores that each response has and that measure quality, without the parts of others: recall, of its F1."""
    left_out = (Entropy, VerdictCount)
    parts = (RecallAtK, RecallAtKPrime)
    return [
        score
        for score in standard_scores(assessments, k, k_prime)
        if isinstance(score, ResponseScore) and not isinstance(score, left_out) and type(score) not in parts
    ]


def standard_scores(
    assessments: Sequence[Assessment], k: KPolicy | None = None, k_prime: KPrime | None = None
) -> tuple[Score[Any], ...]:
    """What a run prints, in its order: entropy only where there are posteriors, comparisons with gold only where there is gold.

    Args:
        assessments: of the run.
        k: of R@K and F1@K; the median of the data where None.
        k_prime: of R@K' and F1@K'; None: that of these assessments.
    """
    k = k or MEDIAN
    by_k_prime = (RecallAtKPrime(k_prime=k_prime), F1AtKPrime(k_prime=k_prime))
    scores: list[Score[Any]] = [Precision(), RecallAtK(k), F1AtK(k), *by_k_prime]
    if any(verdict.posterior is not None for assessment in assessments for verdict in assessment.verdicts):
        scores.append(Entropy())
    scores += [VerdictCount("S"), VerdictCount("C"), VerdictCount("U")]
    scores += citation_scores(assessments)
    scores += recall_scores(assessments)
    labelled = [verdict for assessment in assessments for _, verdict in labelled_claims(assessment)]
    if labelled:
        scores.append(GoldF1())
    if any(total_annotated(assessment) is not None for assessment in assessments):
        scores.append(PrecisionError())
    if any(verdict.posterior is not None for verdict in labelled):
        scores += [BrierPerResponse(), BrierPerClaim(), CalibrationError()]
    if any(assessment.coherence is not None for assessment in assessments):
        scores.append(CoherenceScore())
    return tuple(scores)
