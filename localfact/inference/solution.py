"""A solver's result for one component; solve.py combines those of all components."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Solution:
    """A solver's answer for a component of n variables and k pairs.

    Attributes:
        solver: its name.
        marginals: (n,) P(true).
        pair_marginals: (k, 2, 2) P(first, second), false before true; None from a solver that does not give them.
        exact: whether all of this is exact up to rounding.
        log_z: the natural log of the sum of all weights; an estimate or a bound where not exact.
        error: 0 when exact; otherwise an indication of the largest error of a marginal, see the solver.
        width: the induced width of the elimination order used; None when none was.
        sweeps: how often message passing went over all variables.
    """

    solver: str
    marginals: NDArray[np.float64]
    exact: bool
    log_z: float
    pair_marginals: NDArray[np.float64] | None = None
    error: float = 0.0
    width: int | None = None
    sweeps: int = 0
