"""The scores that need an annotation: F1 of the labels, error of the precision, Brier scores and calibration error."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from localfact.records import Assessment
from localfact.scoring.aggregate import Policy, ResponseScore, Score
from localfact.scoring.bootstrap import Estimator
from localfact.scoring.calibration import (
    BINS,
    ReliabilityBin,
    expected_calibration_error,
    reliability_bins,
    squared_errors,
)
from localfact.scoring.tally import Unscored, labelled_claims, precision_annotated, tally
from localfact.vocabulary import VerdictLabel


@dataclass(frozen=True)
class GoldF1(ResponseScore):
    """F1 of the supported class among the claims with a gold label, per response.

    Every verdict but supported predicts "not supported". Claims labelled irrelevant are on neither side, failed ones left out.
    """

    def __str__(self) -> str:
        return "F1(gold)"

    def of(self, assessment: Assessment) -> float | Unscored:
        """The score in [0, 1]; undefined if no claim is supported by gold or verdict."""
        pairs = _predictions(assessment)
        if not pairs:
            return Unscored("no gold label")
        hits = sum(gold and predicted for gold, predicted in pairs)
        total = sum(gold + predicted for gold, predicted in pairs)
        return 2 * hits / total if total else Unscored("nothing supported")

    def of_unjudged(self, assessment: Assessment) -> float | None:
        """0 where the annotation supports a claim, as none was found; else None."""
        return 0.0 if assessment.gold_supported else None

    def claims_in(self, assessment: Assessment) -> int:
        """The number of claims with a gold label and a verdict that did not fail."""
        return len(_predictions(assessment))


@dataclass(frozen=True)
class PrecisionError(ResponseScore):
    """MAE of precision: |Pr - Pr*|, Pr* by the annotation, whose claims may be others than ours (FactReasoner, equation 6)."""

    lower_is_better: ClassVar[bool] = True

    def __str__(self) -> str:
        return "MAE(Pr)"

    def of(self, assessment: Assessment) -> float | Unscored:
        """The score of one response, in [0, 1]; or why it has none."""
        gold = precision_annotated(assessment)
        return Unscored("no annotated precision") if gold is None else abs(tally(assessment).precision - gold)

    def of_unjudged(self, assessment: Assessment) -> float | None:
        """The error of a precision of 0."""
        return precision_annotated(assessment)


@dataclass(frozen=True)
class Forecasts:
    """The posteriors (n,) of one response's labelled claims, n >= 1, and their outcomes (n,): 1 supported by gold, 0 not."""

    posteriors: NDArray[np.float64]
    outcomes: NDArray[np.float64]


def forecasts(assessment: Assessment) -> Forecasts | Unscored:
    """The labelled claims of a response that have a posterior."""
    pairs = [(verdict.posterior, gold) for gold, verdict in labelled_claims(assessment) if verdict.posterior is not None]
    if not pairs:
        return Unscored("no posterior with a gold label")
    posteriors, outcomes = np.array(pairs, dtype=np.float64).T
    return Forecasts(posteriors, outcomes)


class _OfForecasts:
    """What scores of labelled claims with a posterior have in common."""

    lower_is_better: ClassVar[bool] = True

    def claims_in(self, assessment: Assessment) -> int:
        """The number of claims with a gold label and a posterior."""
        found = forecasts(assessment)
        return 0 if isinstance(found, Unscored) else len(found.posteriors)


@dataclass(frozen=True)
class BrierPerResponse(_OfForecasts, ResponseScore):
    """The Brier score of each response, averaged over responses (FactReasoner, section C.2)."""

    def __str__(self) -> str:
        return "Brier(response)"

    def of(self, assessment: Assessment) -> float | Unscored:
        """The score of one response, in [0, 1]; or why it has none."""
        found = forecasts(assessment)
        return found if isinstance(found, Unscored) else float(squared_errors(found.posteriors, found.outcomes).mean())

    def with_zeros(self, contributions: Sequence[float], unjudged: Sequence[Assessment]) -> None:
        """Always None: counting responses without a score as a Brier score of 0 would make them the best."""


class PooledForecasts(_OfForecasts, Score[Forecasts]):
    """A score over the labelled claims of all responses together; single responses have no score."""

    def of(self, assessment: Assessment) -> Forecasts | Unscored:
        """The forecasts of one response's labelled claims."""
        return forecasts(assessment)


@dataclass(frozen=True)
class BrierPerClaim(PooledForecasts):
    """The Brier score over the claims of all responses."""

    def __str__(self) -> str:
        return "Brier(claim)"

    def estimator(self, contributions: Sequence[Forecasts]) -> Estimator:
        """The mean over claims."""
        sums = np.array([squared_errors(one.posteriors, one.outcomes).sum() for one in contributions])
        counts = np.array([len(one.posteriors) for one in contributions])
        return lambda chosen: float(sums[chosen].sum() / counts[chosen].sum())


@dataclass(frozen=True)
class CalibrationError(PooledForecasts):
    """Expected calibration error over the claims of all responses, in equal-count bins."""

    bin_count: int = BINS

    def __str__(self) -> str:
        return f"ECE({self.bin_count} equal-count bins)"

    @property
    def policy(self) -> Policy:
        """How the claims are put into bins."""
        return {"bins": self.bin_count, "binning": "equal count"}

    def estimator(self, contributions: Sequence[Forecasts]) -> Estimator:
        """Sorts once: repeating each claim as often as its response was drawn leaves the claims in order."""
        pooled = _pool(contributions)
        owners = np.repeat(np.arange(len(contributions)), [len(one.posteriors) for one in contributions])
        order = np.argsort(pooled.posteriors, kind="stable")

        def estimate(chosen: NDArray[np.int64]) -> float:
            times = np.bincount(chosen, minlength=len(contributions))
            claims = np.repeat(order, times[owners[order]])
            return expected_calibration_error(pooled.posteriors[claims], pooled.outcomes[claims], self.bin_count)

        return estimate

    def bins(self, contributions: Sequence[Forecasts]) -> tuple[ReliabilityBin, ...]:
        """The reliability diagram; none without a claim."""
        if not contributions:
            return ()
        pooled = _pool(contributions)
        return reliability_bins(pooled.posteriors, pooled.outcomes, self.bin_count)


def _predictions(assessment: Assessment) -> list[tuple[bool, bool]]:
    """(gold says supported, the verdict says supported) of each labelled claim whose verdict did not fail."""
    return [
        (gold, verdict.label is VerdictLabel.SUPPORTED)
        for gold, verdict in labelled_claims(assessment)
        if verdict.label is not VerdictLabel.FAILED
    ]


def _pool(contributions: Sequence[Forecasts]) -> Forecasts:
    return Forecasts(
        np.concatenate([one.posteriors for one in contributions]), np.concatenate([one.outcomes for one in contributions])
    )
