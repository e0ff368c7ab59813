"""What a Brier score is made of, and a calibration error without the part that chance adds.

Arrays only, in bins of equal count as the reliability diagram has them (calibration.py).
"""

import math

import numpy as np
from numpy.typing import NDArray

from localfact.records import Record
from localfact.scoring.calibration import BINS, expected_calibration_error, reliability_bins, squared_errors


class Reliability(Record):
    """How far posteriors of labelled claims can be taken at their word.

    Attributes:
        claims: n.
        ece: expected calibration error, in [0, 1].
        rms: the root of the mean squared calibration error with the bias taken out that finite bins have (Kumar, Liang and Ma,
            2019), in [0, 1]; 0 where chance explains all of it; None where a bin has one claim.
        brier: = reliability - resolution + uncertainty + within (Murphy, 1973; Stephenson and others, 2008).
        reliability: mean squared distance of a bin's posterior from its share supported; less is better.
        resolution: of that share from the share of all; more is better.
        uncertainty: of the labels by themselves.
        within: what the bins hide.
    """

    claims: int
    ece: float
    rms: float | None
    brier: float
    reliability: float
    resolution: float
    uncertainty: float
    within: float


def reliability(posteriors: NDArray[np.float64], outcomes: NDArray[np.float64], bins: int = BINS) -> Reliability:
    """The figures of n >= 1 claims.

    Args:
        posteriors: (n,) P(claim is true).
        outcomes: (n,) 1 where the annotation supports the claim, else 0.
        bins: at most.
    """
    found = reliability_bins(posteriors, outcomes, bins)
    share = np.array([one.count for one in found]) / len(posteriors)
    said, right = np.array([one.posterior for one in found]), np.array([one.supported for one in found])
    counts, base = np.array([one.count for one in found]), float(outcomes.mean())
    squared = float((share * (said - right) ** 2).sum())
    resolution, uncertainty = float((share * (right - base) ** 2).sum()), base * (1 - base)
    brier = float(squared_errors(posteriors, outcomes).mean())
    # Of a bin, (posterior - share)^2 is too large by the variance of its share, right (1 - right) / (count - 1) on average.
    chance = None if counts.min() < 2 else float((share * right * (1 - right) / (counts - 1)).sum())
    return Reliability(
        claims=len(posteriors),
        ece=expected_calibration_error(posteriors, outcomes, bins),
        rms=None if chance is None else math.sqrt(max(0.0, squared - chance)),
        brier=brier,
        reliability=squared,
        resolution=resolution,
        uncertainty=uncertainty,
        within=brier - (squared - resolution + uncertainty),
    )
