"""The percentile bootstrap over responses, seeded: the intervals of scores and of differences between runs."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

#: A score as a function of which responses count: positions, repetitions allowed.
Estimator = Callable[[NDArray[np.int64]], float]

RESAMPLES = 2_000
CONFIDENCE = 0.95
#: Positions that are drawn at once: a draw by itself costs more than its estimate.
MOST_DRAWN = 1_000_000


def resample(estimator: Estimator, size: int, seed: int) -> NDArray[np.float64]:
    """The estimates on RESAMPLES samples of `size` responses drawn with replacement, shape (RESAMPLES,).

    The draws depend on size and seed alone, so scores of the same responses are resampled alike.
    """
    return np.array([estimator(chosen) for chosen in _draws(size, seed)])


def _draws(size: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """RESAMPLES samples; the same in whatever blocks they are drawn."""
    generator = np.random.default_rng(seed)
    block = max(1, MOST_DRAWN // size)
    for begun in range(0, RESAMPLES, block):
        yield from generator.integers(0, size, (min(block, RESAMPLES - begun), size))


def percentile_interval(estimates: NDArray[np.float64]) -> tuple[float, float]:
    """The middle CONFIDENCE of the estimates."""
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(estimates, (tail, 1 - tail))
    return float(low), float(high)
