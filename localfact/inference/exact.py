"""Exact marginals of one component by bucket-tree elimination: numpy tables, two passes, no assumption but a narrow graph.

Upwards, each variable is summed out of the product of what mentions it, in the log domain, so nothing underflows. Downwards,
each bucket turns the marginal of its separator into its own by the conditional kept from the first pass: nothing is divided,
so zeros are safe.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from localfact.inference.components import Component
from localfact.inference.elimination import EliminationOrder
from localfact.inference.solution import Solution

Table = NDArray[np.float64]


@dataclass
class _Bucket:
    """What is summed out together with one variable. Scopes are in elimination order, the bucket's own variable first.

    Attributes:
        scope: positions (in the order) of the variables its table is over; scope[1:] is the separator.
        log_prior: (2,) of its own variable.
        pairs: other variable -> (number of the pair, its log table with the own variable first).
        messages: (scope, log table) from the buckets eliminated before it.
        conditional: P(own variable | separator, what was eliminated so far), shape (2,) * len(scope).
        children: the buckets that sent their message here.
        separator_marginal: P(separator), shape (2,) * (len(scope) - 1).
    """

    scope: tuple[int, ...]
    log_prior: Table
    pairs: dict[int, tuple[int, Table]] = field(default_factory=dict)
    messages: list[tuple[tuple[int, ...], Table]] = field(default_factory=list)
    conditional: Table = field(default_factory=lambda: np.zeros(2))
    children: list["_Bucket"] = field(default_factory=list)
    separator_marginal: Table = field(default_factory=lambda: np.ones(()))


def eliminate(component: Component, order: EliminationOrder) -> Solution:
    """Marginals, pair marginals and log Z, exact up to rounding.

    The component must be consistent: at least one assignment weighs more than 0.
    """
    buckets = _buckets(component, order)
    log_z = _sum_upwards(buckets)
    marginals = np.empty(len(buckets))
    pair_marginals = np.empty((len(component.pairs), 2, 2))
    marginals[list(order.variables)] = _marginals_downwards(buckets, pair_marginals)
    # A bucket's own variable comes first in its tables; in a pair, the smaller position does.
    rank = np.argsort(order.variables)
    turned = rank[component.pairs[:, 0]] > rank[component.pairs[:, 1]]
    pair_marginals[turned] = pair_marginals[turned].transpose(0, 2, 1)
    return Solution("exact", marginals, exact=True, pair_marginals=pair_marginals, log_z=log_z, width=order.width)


def _buckets(component: Component, order: EliminationOrder) -> list[_Bucket]:
    """One bucket a variable, in elimination order, each holding the variable's prior and the factors it is the first of."""
    rank = np.argsort(order.variables)
    buckets = [
        _Bucket((own, *sorted(int(rank[other]) for other in separator)), component.log_priors[variable])
        for own, (variable, separator) in enumerate(zip(order.variables, order.separators, strict=True))
    ]
    for pair, ((first, second), table) in enumerate(zip(rank[component.pairs].tolist(), component.log_tables, strict=True)):
        if first < second:
            buckets[first].pairs[second] = (pair, table)
        else:
            buckets[second].pairs[first] = (pair, table.T)
    return buckets


def _sum_upwards(buckets: list[_Bucket]) -> float:
    """Sums every bucket's variable out and hands the rest on; returns log Z."""
    log_z = 0.0
    for bucket in buckets:
        message, bucket.conditional = _sum_out(_joint(bucket))
        bucket.messages.clear()
        if len(bucket.scope) > 1:
            parent = buckets[bucket.scope[1]]
            parent.messages.append((bucket.scope[1:], message))
            parent.children.append(bucket)
        else:
            log_z += float(message)
    return log_z


def _joint(bucket: _Bucket) -> Table:
    """The log of the product of all that a bucket holds, shape (2,) * len(scope).

    Pairs are put together axis by axis, so that all of them cost two additions an entry, not one each; the last axis first,
    so that what is added is added to long runs.
    """
    joint = bucket.log_prior[:, None]
    for other in reversed(bucket.scope[1:]):
        table = bucket.pairs[other][1] if other in bucket.pairs else np.zeros((2, 2))
        joint = (joint[:, None, :] + table[:, :, None]).reshape(2, -1)
    joint = joint.reshape((2,) * len(bucket.scope)).copy()
    for scope, message in bucket.messages:
        joint += message.reshape([2 if variable in scope else 1 for variable in bucket.scope])
    return joint


def _sum_out(joint: Table) -> tuple[Table, Table]:
    """log(e^false + e^true) over the first axis, and the shares of the two; 0 each where both weigh 0."""
    larger = np.maximum(joint[0], joint[1])
    impossible = np.isneginf(larger)
    shares: Table = np.exp(joint - np.where(impossible, 0.0, larger))
    total = np.where(impossible, 1.0, shares[0] + shares[1])
    shares /= total
    return larger + np.log(total), shares


def _marginals_downwards(buckets: list[_Bucket], pair_marginals: Table) -> Table:
    """P(true) by elimination position; fills in `pair_marginals`, each with the variable eliminated first in front.

    A bucket's joint marginal lives only until its children have taken theirs from it.
    """
    marginals = np.empty(len(buckets))
    for bucket in reversed(buckets):
        joint = bucket.conditional * bucket.separator_marginal
        bucket.conditional = bucket.separator_marginal = np.ones(())
        marginals[bucket.scope[0]] = joint[1].sum()
        for child in bucket.children:
            child.separator_marginal = _sum_to(joint, bucket.scope, child.scope[1:])
        for other, table in zip(bucket.scope[1:], _with_first(joint), strict=True):
            if other in bucket.pairs:
                pair_marginals[bucket.pairs[other][0]] = table
    return np.clip(marginals, 0.0, 1.0)


def _sum_to(table: Table, scope: tuple[int, ...], kept: tuple[int, ...]) -> Table:
    """Sums out the variables of the scope that are not kept, one axis at a time, the first ones first: over long runs."""
    for axis, variable in enumerate(scope):
        if variable not in kept:
            halves = table.reshape(-1, 2, 2 ** (len(scope) - axis - 1))
            table = halves[:, 0] + halves[:, 1]
    return table.reshape((2,) * len(kept))


def _with_first(joint: Table) -> list[Table]:
    """P(first variable, other variable) for each other axis: read off one axis, sum it out, go on with half the table."""
    rest = joint.reshape(2, -1)
    tables = []
    for _ in range(joint.ndim - 1):
        halves = rest.reshape(2, 2, -1)
        tables.append(halves.sum(axis=2))
        rest = halves[:, 0] + halves[:, 1]
    return tables
