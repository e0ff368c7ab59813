"""Merges variables that zeros tie together: equal or opposite in every assignment of positive weight.

The rest has no cycle of certainties, around which message passing would keep its starting state.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from localfact.inference.components import Component
from localfact.inference.consistency import literal_classes


@dataclass(frozen=True, eq=False)
class Contraction:
    """A graph of n variables and k pairs, and the same with tied variables merged.

    Attributes:
        tied: the smaller graph; its variables are the first of each class, as positions in the whole.
        variable_of: (n,) which variable of `tied` each is.
        opposite: (n,) whether it is the opposite of that one.
        pair_of: (k,) which pair of `tied` each became; -1 where its two variables were merged.
    """

    tied: Component
    variable_of: NDArray[np.int64]
    opposite: NDArray[np.bool_]
    pair_of: NDArray[np.int64]

    def expand(
        self, whole: Component, marginals: NDArray[np.float64], pair_marginals: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """From marginals and pair marginals of the tied graph to those of the whole: (n,), (k, 2, 2)."""
        both = np.stack([1 - marginals, marginals], axis=1)[self.variable_of]
        both[self.opposite] = both[self.opposite, ::-1]
        first, second = whole.pairs.T
        equal = self.opposite[first] == self.opposite[second]
        joint = np.zeros((len(whole.pairs), 2, 2))
        for value in (0, 1):
            joint[np.arange(len(joint)), value, np.where(equal, value, 1 - value)] = both[first, value]
        apart = self.pair_of >= 0
        swapped = self.variable_of[first] > self.variable_of[second]
        of_apart = _transpose(pair_marginals[self.pair_of[apart]], swapped[apart])
        joint[apart] = _flip_values(of_apart, self.opposite[first[apart]], self.opposite[second[apart]])
        return both[:, 1], joint


def contract(whole: Component) -> Contraction | None:
    """Merges variables that the zeros of the factors tie; None where no assignment of the whole weighs more than 0."""
    count = len(whole.variables)
    if not np.isneginf(whole.log_tables).any():
        if np.isneginf(whole.log_priors).all(axis=1).any():
            return None
        return Contraction(whole, np.arange(count), np.zeros(count, dtype=bool), np.arange(len(whole.pairs)))
    classes = literal_classes(whole)
    if classes is None:
        return None
    # The first literal of the class of "i is true" says which variable stands for i, and with which value.
    _, first_literal = np.unique(classes, return_index=True)
    standing = first_literal[classes[1::2]]
    kept, variable_of = np.unique(standing // 2, return_inverse=True)
    opposite = standing % 2 == 0
    return _tie_variables(whole, kept, variable_of, opposite)


def _tie_variables(
    whole: Component, kept: NDArray[np.int64], variable_of: NDArray[np.int64], opposite: NDArray[np.bool_]
) -> Contraction:
    log_priors = np.zeros((len(kept), 2))
    np.add.at(log_priors, variable_of, np.where(opposite[:, None], whole.log_priors[:, ::-1], whole.log_priors))
    ends = variable_of[whole.pairs]
    tables = _flip_values(whole.log_tables, *opposite[whole.pairs].T)
    tables = _transpose(tables, ends[:, 0] > ends[:, 1])
    ends = np.sort(ends, axis=1)
    same = ends[:, 0] == ends[:, 1]
    np.add.at(log_priors, ends[same, 0], tables[same][:, (0, 1), (0, 1)])
    keys, of_apart = np.unique(ends[~same, 0] * len(kept) + ends[~same, 1], return_inverse=True)
    merged = np.zeros((len(keys), 2, 2))
    np.add.at(merged, of_apart, tables[~same])
    pair_of = np.full(len(whole.pairs), -1)
    pair_of[~same] = of_apart
    pairs = np.stack([keys // len(kept), keys % len(kept)], axis=1)
    return Contraction(Component(kept, log_priors, pairs, merged), variable_of, opposite, pair_of)


def _flip_values(tables: NDArray[np.float64], first: NDArray[np.bool_], second: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The tables (k, 2, 2) with the values of the first, or second, variable exchanged where the masks (k,) say so."""
    tables = np.where(first[:, None, None], tables[:, ::-1], tables)
    return np.where(second[:, None, None], tables[:, :, ::-1], tables)


def _transpose(tables: NDArray[np.float64], where: NDArray[np.bool_]) -> NDArray[np.float64]:
    return np.where(where[:, None, None], tables.transpose(0, 2, 1), tables)
