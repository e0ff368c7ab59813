"""The percentile bootstrap over responses, seeded: the intervals of scores and of differences between runs."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

#: A score as a function of which responses count: positions, repetitions allowed.
Estimator = Callable[[NDArray[np.int64]], float]

RESAMPLES = 2_000
CONFIDENCE = 0.95


def resample(estimator: Estimator, size: int, seed: int) -> NDArray[np.float64]:
    """The estimates on RESAMPLES samples of `size` responses drawn with replacement, shape (RESAMPLES,).

    The draws depend on size and seed alone, so scores of the same responses are resampled alike.
    """
    generator = np.random.default_rng(seed)
    return np.array([estimator(generator.integers(0, size, size)) for _ in range(RESAMPLES)])


def percentile_interval(estimates: NDArray[np.float64]) -> tuple[float, float]:
    """The middle CONFIDENCE of the estimates."""
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(estimates, (tail, 1 - tail))
    return float(low), float(high)
