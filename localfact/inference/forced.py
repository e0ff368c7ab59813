"""Hard evidence: fixes the variables that weights of 0 force, and removes them from the graph before anything is solved.

consistency.py says which values are impossible; a variable with one possible value gets it, and its factors are added to its
neighbours' priors. In the rest every variable can have both values, also after any part of it is summed out: reduction.py makes
no new hard evidence.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from localfact.inference.components import Component
from localfact.inference.consistency import impossible_values

#: The value of a variable that is not fixed.
FREE = -1


@dataclass(frozen=True, eq=False)
class Conditioned:
    """A graph of n variables and k pairs after its hard evidence was applied.

    Attributes:
        free: the rest, over the variables that are still open; free.variables are positions in the whole.
        free_pairs: positions in the whole of the pairs of `free`.
        values: (n,) 0 or 1 for a fixed variable, FREE for the others.
        log_z: the log weight of the fixed part, which every assignment of the rest shares.
    """

    free: Component
    free_pairs: NDArray[np.int64]
    values: NDArray[np.int64]
    log_z: float

    def expand(
        self, whole: Component, marginals: NDArray[np.float64], pair_marginals: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """From marginals (free,) and pair marginals (free pairs, 2, 2) of the rest to those of the whole."""
        true = np.where(self.values == 1, 1.0, 0.0)
        true[self.free.variables] = marginals
        both = np.stack([1 - true, true], axis=1)
        first, second = both[whole.pairs[:, 0]], both[whole.pairs[:, 1]]
        # Where one of the two is fixed, they are independent; the others are known.
        joint = first[:, :, None] * second[:, None, :]
        joint[self.free_pairs] = pair_marginals
        return true, joint


def condition(whole: Component) -> Conditioned:
    """Fixes all variables that are forced to one value.

    The whole must be consistent and without tied variables, as contraction.py leaves it: else not all that is forced is found.
    """
    impossible = impossible_values(whole)
    log_priors = np.where(impossible, -np.inf, whole.log_priors)
    values = np.full(len(log_priors), FREE)
    meeting: list[list[tuple[int, int]]] = [[] for _ in range(len(values))]
    for pair, (first, second) in enumerate(whole.pairs.tolist()):
        meeting[first].append((pair, second))
        meeting[second].append((pair, first))
    for variable in np.flatnonzero(impossible.any(axis=1)).tolist():
        value = values[variable] = int(impossible[variable, 0])
        for pair, other in meeting[variable]:
            if values[other] == FREE:
                table = whole.log_tables[pair]
                log_priors[other] += table[value] if variable < other else table[:, value]
    return _without_fixed(whole, log_priors, values)


def _without_fixed(whole: Component, log_priors: NDArray[np.float64], values: NDArray[np.int64]) -> Conditioned:
    open_ = values == FREE
    fixed = np.flatnonzero(~open_)
    position = np.cumsum(open_) - 1
    pairs_open = open_[whole.pairs].all(axis=1)
    free_pairs = np.flatnonzero(pairs_open)
    free = Component(np.flatnonzero(open_), log_priors[open_], position[whole.pairs[free_pairs]], whole.log_tables[free_pairs])
    # A factor between two fixed variables counts when the first of them is fixed: it is in the other's log prior then.
    log_z = float(np.sum(log_priors[fixed, values[fixed]]))
    return Conditioned(free, free_pairs, values, log_z)
