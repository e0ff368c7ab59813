"""Loopy belief propagation's inner loop, compiled by numba; loopy.py imports this file only when a graph needs it.

Everything is in log-odds, log P(true) - log P(false), and finite: zeros were replaced by a floor before.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray


def _iterate(
    messages: NDArray[np.float64],
    prior_odds: NDArray[np.float64],
    first_message: NDArray[np.int64],
    reverse: NDArray[np.int64],
    log_tables: NDArray[np.float64],
    damping: float,
    tolerance: float,
    sweeps: int,
) -> tuple[int, float]:
    """Sweeps over all variables in order, changing `messages` in place, until no message changes by more than `tolerance`.

    Message e goes from the variable i with first_message[i] <= e < first_message[i + 1]; reverse[e] comes back to it, and
    log_tables[e, x, y] weighs its sender being x and its receiver y. A sender uses what it received in the same sweep. A new
    message is `damping` of the old one and the rest of what the other messages call for.

    Returns the number of sweeps done and the largest change of the last one, before damping.
    """
    change = 0.0
    for sweep in range(sweeps):
        change = 0.0
        for sender in range(len(prior_odds)):
            total = prior_odds[sender]
            for e in range(first_message[sender], first_message[sender + 1]):
                total += messages[reverse[e]]
            for e in range(first_message[sender], first_message[sender + 1]):
                without_receiver = total - messages[reverse[e]]
                true = np.logaddexp(log_tables[e, 0, 1], log_tables[e, 1, 1] + without_receiver)
                false = np.logaddexp(log_tables[e, 0, 0], log_tables[e, 1, 0] + without_receiver)
                difference = true - false - messages[e]
                change = max(change, abs(difference))
                messages[e] += (1.0 - damping) * difference
        if change <= tolerance:
            return sweep + 1, change
    return sweeps, change


iterate = njit(nogil=True)(_iterate)
