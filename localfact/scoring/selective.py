"""Risk and coverage: how often the claims that are kept are wrong, when the least sure ones are left out.

Selective prediction (El-Yaniv and Wiener, 2010; Geifman and El-Yaniv, 2017). Arrays only: who calls decides what a claim's
confidence is and when it is wrong. The points are those of risk.py, which asks for guarantees.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from localfact.scoring.bootstrap import Estimator, percentile_interval, resample
from localfact.scoring.risk import RiskPoint, risk_curve

#: The most points of a curve, at quantiles of the confidences where there are more.
POINTS = 500


@dataclass(frozen=True)
class CoverageCurve:
    """The error rate among the claims kept, for every share that is kept.

    Attributes:
        points: from the fewest claims kept (their share is `skipped`) to all; claims of one confidence are kept together.
        error: the share wrong among all claims.
        area: under the curve, level before its first point, in [0, 1]: 0 is perfect.
        ci: of the area, from a bootstrap over responses, all claims of one together; None with fewer than two responses.
        claims, responses: how many.
    """

    points: tuple[RiskPoint, ...]
    error: float
    area: float
    ci: tuple[float, float] | None
    claims: int
    responses: int


def coverage_curve(confidence: NDArray[np.float64], wrong: NDArray[np.bool_], responses: NDArray[np.int64]) -> CoverageCurve:
    """The curve of n claims, n >= 1.

    Args:
        confidence: (n,) in [0, 1]; the least confident claims are left out first.
        wrong: (n,) whether what is said of the claim disagrees with its annotation.
        responses: (n,) which claims belong together; any whole numbers.
    """
    _, row = np.unique(responses, return_inverse=True)
    count = int(row.max()) + 1
    estimator = area_of_responses(confidence, wrong, row, count)
    distinct = np.unique(confidence)
    chosen = distinct if len(distinct) <= POINTS else np.quantile(distinct, np.linspace(0, 1, POINTS), method="lower")
    points = risk_curve(confidence, ~wrong, len(confidence), thetas=chosen.tolist(), inclusive=True)
    return CoverageCurve(
        points=tuple(points),
        error=float(wrong.mean()),
        area=estimator(np.arange(count)),
        ci=percentile_interval(resample(estimator, count, seed=0)) if count > 1 else None,
        claims=len(confidence),
        responses=count,
    )


def area_of_responses(
    confidence: NDArray[np.float64], wrong: NDArray[np.bool_], row: NDArray[np.int64], count: int
) -> Estimator:
    """The area when responses count as often as they were drawn: trapezoids between the distinct confidences, descending."""
    distinct, level = np.unique(-confidence, return_inverse=True)

    def estimate(chosen: NDArray[np.int64]) -> float:
        times = np.bincount(chosen, minlength=count)[row]
        kept = np.cumsum(np.bincount(level, weights=times, minlength=len(distinct)))
        missed = np.cumsum(np.bincount(level, weights=times * wrong, minlength=len(distinct)))
        any_kept = kept > 0
        coverage, risk = kept[any_kept] / kept[-1], missed[any_kept] / kept[any_kept]
        return float(coverage[0] * risk[0] + np.trapezoid(risk, coverage))

    return estimate
