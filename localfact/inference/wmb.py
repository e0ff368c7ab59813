"""Weighted mini-buckets, the solver of the published FactReasoner ("paper mode"): a bound on log Z, and marginals beside it.

Buckets are summed out as in exact.py, but one whose table would be over more than i_bound + 1 variables is split into
mini-buckets, each summed by itself with a weight (Liu and Ihler, 2011, "Bounding the partition function using Hölder's
inequality"). Slow and, on wide graphs, wrong by up to tenths: it is here for comparison with the paper's figures.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from localfact.errors import InputError
from localfact.inference.components import Component
from localfact.inference.elimination import min_fill_order
from localfact.inference.solution import Solution

#: Largest number of variables of a mini-bucket, less one, in the published experiments (FactReasoner, appendix A).
I_BOUND = 6
#: Iterations of the published experiments: merlin's default.
ITERATIONS = 10
#: Largest number of table entries of all mini-buckets together: with messages and indices, about 0.7 GB.
ENTRIES_LIMIT = 2**24

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]
_Scope = tuple[int, ...]


@dataclass(eq=False)
class _MiniBucket:
    """One mini-bucket c. Cells are the assignments of its scope, numbered with the first variable as the highest bit.

    Attributes:
        scope: elimination positions, ascending; the first is the variable that is summed out here, the rest the separator.
        weight: w_c; the weights of all mini-buckets of one variable add up to 1.
        log_table: (2, separator cells) log psi_c, its own factors; cost shifting changes it.
        children: the mini-buckets whose messages come here.
        separator_cell: (parent's cells,) which cell of this separator each cell of the parent's scope belongs to.
        parent_cells: (separator cells, rest) the same the other way round: the parent's cells of each separator cell.
        incoming: (2, separator cells) log_table plus all messages from the children.
        forward: (separator cells,) log message to the parent.
        backward: the same, from it.
    """

    scope: _Scope
    weight: float
    log_table: _Floats
    children: list["_MiniBucket"]
    separator_cell: _Integers
    parent_cells: _Integers
    incoming: _Floats
    forward: _Floats
    backward: _Floats

    def log_belief(self) -> _Floats:
        """log b_c up to a constant, (2, separator cells): b_c = (psi_c times all messages to c) to the power of 1 / w_c."""
        return (self.incoming + self.backward) / self.weight


_Bucket = list[_MiniBucket]


def mini_buckets(component: Component, *, i_bound: int = I_BOUND, iterations: int = ITERATIONS) -> Solution:
    """An upper bound on log Z, and approximate marginals, of a consistent component; exact where no bucket is split.

    Each iteration eliminates forwards, shifting costs between the mini-buckets of a variable so that their marginals of it
    agree better, and then passes messages backwards. Shifting leaves the product of all tables as it was, so every forward
    pass bounds log Z from above; the smallest bound counts. The step of iteration t is 1 / t and the weights are uniform, as in
    merlin.

    Args:
        component: one that has an assignment of positive weight; hard zeros are allowed.
        i_bound: a mini-bucket holds at most i_bound + 1 variables; at least 1, so that a pair fits.
        iterations: at least 1. One suffices, and one is done, where no bucket is split.

    Raises:
        InputError: the tables would need more than ENTRIES_LIMIT numbers.
    """
    order = min_fill_order(component)
    buckets = _buckets(component, order, i_bound)
    split = any(len(bucket) > 1 for bucket in buckets)
    log_z = np.inf
    for iteration in range(1, (iterations if split else 1) + 1):
        log_z = min(log_z, _forward(buckets, step=1 / iteration))
        _backward(buckets)
    marginals = np.empty(len(order))
    marginals[order] = [_marginal(bucket) for bucket in buckets]
    return Solution("wmb", marginals, exact=not split, log_z=log_z)


def _buckets(component: Component, order: Sequence[int], i_bound: int) -> list[_Bucket]:
    """The mini-buckets of each variable, in elimination order, linked to those that their messages go to."""
    count = len(order)
    rank = np.empty(count, dtype=np.int64)
    rank[order] = np.arange(count)
    factors: list[dict[_Scope, _Floats]] = [{} for _ in range(count)]
    for variable, log_prior in zip(rank.tolist(), component.log_priors, strict=True):
        factors[variable][(variable,)] = log_prior
    for (first, second), table in zip(rank[component.pairs].tolist(), component.log_tables, strict=True):
        if first < second:
            factors[first][(first, second)] = table
        else:
            factors[second][(second, first)] = table.T

    arriving: list[_Bucket] = [[] for _ in range(count)]
    buckets = []
    for tables, parts, children in zip(factors, _plan(factors, i_bound), arriving, strict=True):
        bucket = [_mini_bucket(scope, 1 / len(parts)) for scope in parts]
        for scope, table in tables.items():
            holder = _holder(bucket, scope)
            cells = _cells_within(holder.scope, scope)
            holder.log_table += table.reshape(-1)[cells].reshape(holder.log_table.shape)
        for child in children:
            _link(child, _holder(bucket, child.scope[1:]))
        for part in bucket:
            if len(part.scope) > 1:
                arriving[part.scope[1]].append(part)
        buckets.append(bucket)
    return buckets


def _plan(scopes: Sequence[Iterable[_Scope]], i_bound: int) -> list[list[_Scope]]:
    """The scopes of each variable's mini-buckets, from those of its factors; refused before any table is made."""
    waiting = [list(own) for own in scopes]
    plan = []
    for own in waiting:
        parts = _partition(own, i_bound + 1)
        for part in parts:
            if len(part) > 1:
                waiting[part[1]].append(part[1:])
        plan.append(parts)
    entries = sum(2 ** len(part) for parts in plan for part in parts)
    if entries > ENTRIES_LIMIT:
        raise InputError(
            f"Mini-buckets with i-bound {i_bound} need {entries} numbers, the limit is {ENTRIES_LIMIT}: take a smaller i-bound."
        )
    return plan


def _partition(scopes: Iterable[_Scope], most: int) -> list[_Scope]:
    """Joins scopes, the largest first, each to the first set that stays within `most` variables (first fit, decreasing)."""
    parts: list[set[int]] = []
    for scope in sorted(set(scopes), key=lambda scope: (-len(scope), scope)):
        fitting = next((part for part in parts if len(part.union(scope)) <= most), None)
        if fitting is None:
            parts.append(set(scope))
        else:
            fitting.update(scope)
    return [tuple(sorted(part)) for part in parts]


def _mini_bucket(scope: _Scope, weight: float) -> _MiniBucket:
    separator = 2 ** (len(scope) - 1)
    none = np.zeros(0, dtype=np.int64)
    empty = np.zeros((2, separator))
    return _MiniBucket(scope, weight, empty, [], none, none, empty.copy(), np.zeros(separator), np.zeros(separator))


def _holder(bucket: _Bucket, scope: _Scope) -> _MiniBucket:
    return next(part for part in bucket if set(scope) <= set(part.scope))


def _link(child: _MiniBucket, parent: _MiniBucket) -> None:
    parent.children.append(child)
    child.separator_cell = _cells_within(parent.scope, child.scope[1:])
    grouped = np.argsort(child.separator_cell, kind="stable")
    child.parent_cells = grouped.reshape(len(child.forward), -1)


def _cells_within(scope: _Scope, part: _Scope) -> _Integers:
    """For each cell of `scope`, (2 ** len(scope),), the number of the cell of `part`, a subset of it, that it lies in."""
    cells = np.arange(2 ** len(scope))
    within = np.zeros_like(cells)
    for variable in part:
        within = within << 1 | cells >> (len(scope) - 1 - scope.index(variable)) & 1
    return within


def _forward(buckets: list[_Bucket], step: float) -> float:
    """Sums every variable out in order; returns the bound on log Z.

    The message of c is the weighted sum (sum over the variable of incoming ** (1 / w_c)) ** w_c: by Hölder's inequality the
    product of these sums over the mini-buckets of a variable is at least the sum of their product.
    """
    log_z = 0.0
    for bucket in buckets:
        for part in bucket:
            part.incoming = part.log_table.copy()
            for child in part.children:
                part.incoming += child.forward[child.separator_cell].reshape(part.incoming.shape)
        if len(bucket) > 1:
            _shift_costs(bucket, step)
        for part in bucket:
            powers = part.incoming / part.weight
            part.forward = part.weight * np.logaddexp(powers[0], powers[1])
            if len(part.scope) == 1:
                log_z += float(part.forward[0])
    return log_z


def _shift_costs(bucket: _Bucket, step: float) -> None:
    """Moves each mini-bucket's marginal of the variable towards their weighted geometric mean.

    The moves of all mini-buckets add up to 0 because the weights add up to 1. A value that any of them excludes has no mean.
    """
    marginals = np.stack([np.logaddexp.reduce(part.log_belief(), axis=1) for part in bucket])
    possible = np.isfinite(marginals).all(axis=0)
    weights = np.array([part.weight for part in bucket])
    mean = weights @ np.where(possible, marginals, 0.0)
    for part, marginal in zip(bucket, marginals, strict=True):
        move = np.where(possible, step * part.weight * (mean - np.where(possible, marginal, 0.0)), 0.0)
        part.log_table += move[:, None]
        part.incoming += move[:, None]


def _backward(buckets: list[_Bucket]) -> None:
    """Passes messages from parents to children, the last variable's first.

    The message from parent p to child c is (sum over the rest of p of b_p / m_c ** (1 / w_c)) ** w_c, m_c being c's to p.
    The scale of these messages does not matter, and is removed: dividing by weights would let it grow without bound.
    """
    for bucket in reversed(buckets):
        for part in bucket:
            belief = part.log_belief().reshape(-1)
            belief -= belief.max()
            for child in part.children:
                # Where the child's message is -inf so is the belief: the separator cell is impossible and stays so.
                sent = np.where(np.isneginf(child.forward), 0.0, child.forward) / child.weight
                backward = child.weight * (np.logaddexp.reduce(belief[child.parent_cells], axis=1) - sent)
                child.backward = backward - backward.max()


def _marginal(bucket: _Bucket) -> float:
    """P(true): the weighted geometric mean of the marginals in the variable's mini-buckets."""
    log_mean = sum(part.weight * np.logaddexp.reduce(part.log_belief(), axis=1) for part in bucket)
    return float(np.exp(log_mean[1] - np.logaddexp(log_mean[0], log_mean[1])))
