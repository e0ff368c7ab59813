"""How well posteriors are calibrated: Brier score, expected calibration error, bins of a reliability diagram.

Arrays only: gold_scores.py decides which claims enter, and how responses are averaged.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from localfact.records import Probability, Record

#: Bins of the expected calibration error.
BINS = 10


class ReliabilityBin(Record):
    """One point of a reliability diagram.

    Attributes:
        lowest, highest: the range of the posteriors in it.
        posterior: their mean.
        supported: the share of its claims that the annotation supports.
        count: how many claims it holds.
    """

    lowest: Probability
    highest: Probability
    posterior: Probability
    supported: Probability
    count: int


def squared_errors(posteriors: NDArray[np.float64], outcomes: NDArray[np.float64]) -> NDArray[np.float64]:
    """(p - y)^2 of each claim, shape (n,), in [0, 1]; its mean is the Brier score (FactReasoner, section C.2).

    Args:
        posteriors: (n,) P(claim is true).
        outcomes: (n,) 1 where the annotation supports the claim, else 0.
    """
    return np.square(posteriors - outcomes)


def reliability_bins(
    posteriors: NDArray[np.float64], outcomes: NDArray[np.float64], bins: int = BINS
) -> tuple[ReliabilityBin, ...]:
    """Equal-count bins by ascending posterior: sizes differ by one at most; as many bins as claims where those are fewer.

    Claims with the same posterior share their mean outcome, so where a bin ends among them does not depend on their order.
    """
    if len(posteriors) == 0:
        return ()
    ordered, shared = _in_order(posteriors, outcomes)
    edges = _edges(len(ordered), bins)
    return tuple(
        ReliabilityBin(
            lowest=float(ordered[start]),
            highest=float(ordered[end - 1]),
            posterior=min(1.0, float(ordered[start:end].mean())),
            supported=min(1.0, float(shared[start:end].mean())),
            count=int(end - start),
        )
        for start, end in pairwise(edges)
    )


def expected_calibration_error(posteriors: NDArray[np.float64], outcomes: NDArray[np.float64], bins: int = BINS) -> float:
    """The mean over claims of |mean posterior - share supported| of their bin, in [0, 1]; n >= 1."""
    ordered, shared = _in_order(posteriors, outcomes)
    starts = _edges(len(ordered), bins)[:-1]
    return float(np.abs(np.add.reduceat(ordered - shared, starts)).sum() / len(ordered))


def _in_order(
    posteriors: NDArray[np.float64], outcomes: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Posteriors ascending, and beside them the outcomes, each the mean over all claims with that very posterior."""
    order = np.argsort(posteriors, kind="stable")
    ordered = posteriors[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1.0))
    sizes = np.diff(starts, append=len(ordered))
    means = np.add.reduceat(outcomes[order], starts) / sizes
    return ordered, np.repeat(means, sizes)


def _edges(count: int, bins: int) -> NDArray[np.int64]:
    """The positions at which the bins of `count` sorted claims begin, and where the last ends; no bin is empty."""
    bins = min(bins, count)
    return np.arange(bins + 1, dtype=np.int64) * count // bins
