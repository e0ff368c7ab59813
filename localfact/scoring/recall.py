"""Factual recall: how many supported claims a response should have (K and K'), the two recall formulas, and their F1."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal, Self, cast, get_args

from localfact.errors import InputError
from localfact.records import Assessment
from localfact.scoring.tally import Unscored, reason_unscored, tally, total_annotated

#: The scaling of R@K' in FastFact's released code; the paper (equation 5) gives none.
GAMMA = 0.1

DataSetK = Literal["median", "max", "gold"]


def recall_at_k(supported: int, k: float) -> float:
    """R@K = min(S / K, 1), in [0, 1], for K > 0 (FactReasoner, equation 4)."""
    return min(supported / k, 1.0)


def recall_at_k_prime(supported: int, k_prime: float, gamma: float) -> float:
    """R@K' = 2 / (1 + exp(gamma |S - K'|)), in [0, 1]: too many supported claims cost as much as too few (FastFact, eq. 5)."""
    decay = math.exp(-gamma * abs(supported - k_prime))
    return 2 * decay / (1 + decay)


def f1(precision: float, recall: float) -> float:
    """2PR / (P + R), the harmonic mean; 0 where both are 0 (FactReasoner, section 2.2; FastFact, equation 6)."""
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


@dataclass(frozen=True)
class KPolicy:
    """Where the K of R@K and F1@K comes from. Prints as "median" or, once fitted to data, "median=17".

    Attributes:
        kind: `median` or `max` of S + N over the responses that have a score; `gold`, each response's own number of claims that
            the annotation supports; None for a fixed number.
        value: K. None for gold, and before `fit`.
        fixed: whether `fit` leaves the K as it is: one of several runs together, which holds for each of them.
    """

    kind: DataSetK | None = "median"
    value: float | None = None
    fixed: bool = False

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parses "median", "max", "gold" or a number of claims.

        Raises:
            InputError: anything else, 0 and negative numbers included.
        """
        word = text.strip().lower()
        if word in get_args(DataSetK):
            return cls(cast(DataSetK, word))
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if not 0 < value < math.inf:
            raise InputError(f"K of F1@K cannot be {text!r}. Give median, max, gold or a number of claims such as 22.")
        return cls(None, value)

    def __str__(self) -> str:
        number = "" if self.value is None else f"{self.value:g}"
        return "=".join(part for part in (self.kind, number) if part)

    def fit(self, assessments: Sequence[Assessment]) -> Self:
        """The same policy with its K, where it depends on the data. Without any response that has a score, K stays None."""
        counts = [tally(assessment).judged for assessment in assessments if reason_unscored(assessment) is None]
        if self.fixed or self.kind not in ("median", "max") or not counts:
            return self
        return replace(self, value=float(median(counts) if self.kind == "median" else max(counts)))

    def fit_all(self, runs: Iterable[Sequence[Assessment]]) -> Self:
        """The same policy with the K of several runs together, which then holds for each of them and for every pair."""
        return replace(self.fit([assessment for run in runs for assessment in run]), fixed=True)

    def of(self, assessment: Assessment) -> float | Unscored:
        """The K of one response, above 0."""
        k = assessment.gold_supported if self.kind == "gold" else self.value
        if k is None:
            return Unscored("no annotation" if self.kind == "gold" else "K not fitted")
        return float(k) if k > 0 else Unscored("K = 0")


#: The default K, as in FactReasoner's Table 2.
MEDIAN = KPolicy()


@dataclass(frozen=True)
class KPrime:
    """The K' of each response: S' + N' of its annotation; without one, the median S + N of its source (FastFact, section 4.4).

    Attributes:
        annotated: whether some response has an annotation.
        medians: (source, median of S + N over its responses that have a score), for sources with a response that has none.
    """

    annotated: bool
    medians: tuple[tuple[str | None, float], ...]

    @classmethod
    def fit(cls, assessments: Sequence[Assessment]) -> Self | None:
        """Reads the annotations and takes the medians; None with no response that has a score."""
        scored = [assessment for assessment in assessments if reason_unscored(assessment) is None]
        if not scored:
            return None
        bare = dict.fromkeys(assessment.source for assessment in scored if total_annotated(assessment) is None)
        medians = tuple(
            (source, float(median(tally(assessment).judged for assessment in scored if assessment.source == source)))
            for source in bare
        )
        return cls(any(total_annotated(assessment) is not None for assessment in scored), medians)

    def __str__(self) -> str:
        if not self.medians:
            return "K'=annotation"
        medians = f"median={self.medians[0][1]:g}" if len(self.medians) == 1 else "median per source"
        return f"K'=annotation, else {medians}" if self.annotated else medians

    @property
    def by_source(self) -> Mapping[str, float]:
        """The medians by source; responses that name no source are one source, named "" here."""
        return {source or "": value for source, value in self.medians}

    def of(self, assessment: Assessment) -> float:
        """The K' of one response that was among those it was fitted to."""
        total = total_annotated(assessment)
        return float(total) if total is not None else dict(self.medians)[assessment.source]
