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


@dataclass
class _Bucket:
    """What is summed out together with one variable. Scopes are in elimination order, the bucket's own variable first.

    Attributes:
        scope: positions (in the order) of the variables its table is over; scope[1:] is the separator.
        tables: (scope, log table) of what mentions the variable and nothing eliminated before it.
        conditional: P(variable true | separator, all evidence eliminated so far), shape (2,) * (len(scope) - 1).
        children: the buckets that sent their message here.
        separator_marginal: P(separator), the same shape.
    """

    scope: tuple[int, ...]
    tables: list[tuple[tuple[int, ...], NDArray[np.float64]]] = field(default_factory=list)
    conditional: NDArray[np.float64] = field(default_factory=lambda: np.zeros(()))
    children: list["_Bucket"] = field(default_factory=list)
    separator_marginal: NDArray[np.float64] = field(default_factory=lambda: np.ones(()))


def eliminate(component: Component, order: EliminationOrder) -> tuple[NDArray[np.float64], float]:
    """Returns P(true) of each variable, shape (n,), and the natural log of the sum of all weights.

    Exact up to rounding. The component must be consistent: at least one assignment weighs more than 0.
    """
    buckets = _buckets(component, order)
    log_z = _sum_upwards(buckets)
    marginals = np.empty(len(buckets))
    marginals[list(order.variables)] = _marginals_downwards(buckets)
    return marginals, log_z


def _buckets(component: Component, order: EliminationOrder) -> list[_Bucket]:
    """One bucket a variable, in elimination order, each holding the variable's prior and the factors it is the first of."""
    rank = np.empty(len(order.variables), dtype=np.int64)
    rank[list(order.variables)] = np.arange(len(order.variables))
    buckets = [
        _Bucket(scope=(own, *sorted(int(rank[other]) for other in separator))) for own, separator in enumerate(order.separators)
    ]
    for variable, log_prior in zip(rank.tolist(), component.log_priors, strict=True):
        buckets[variable].tables.append(((variable,), log_prior))
    for (first, second), table in zip(rank[component.pairs].tolist(), component.log_tables, strict=True):
        if first < second:
            buckets[first].tables.append(((first, second), table))
        else:
            buckets[second].tables.append(((second, first), table.T))
    return buckets


def _sum_upwards(buckets: list[_Bucket]) -> float:
    log_z = 0.0
    for bucket in buckets:
        joint = np.zeros((2,) * len(bucket.scope))
        for scope, table in bucket.tables:
            joint += table.reshape([2 if variable in scope else 1 for variable in bucket.scope])
        message = np.logaddexp(joint[0], joint[1])
        # Where the message is -inf the separator has probability 0, and any conditional serves: 0 instead of a NaN.
        bucket.conditional = np.exp(joint[1] - np.where(np.isneginf(message), 0.0, message))
        bucket.tables.clear()
        if len(bucket.scope) > 1:
            parent = buckets[bucket.scope[1]]
            parent.tables.append((bucket.scope[1:], message))
            parent.children.append(bucket)
        else:
            log_z += float(message)
    return log_z


def _marginals_downwards(buckets: list[_Bucket]) -> NDArray[np.float64]:
    """P(true) by elimination position. A bucket's joint marginal lives only until its children have taken theirs from it."""
    marginals = np.empty(len(buckets))
    for bucket in reversed(buckets):
        true = bucket.separator_marginal * bucket.conditional
        joint = np.stack([bucket.separator_marginal - true, true])
        marginals[bucket.scope[0]] = true.sum()
        for child in bucket.children:
            others = tuple(axis for axis, variable in enumerate(bucket.scope) if variable not in child.scope)
            child.separator_marginal = joint.sum(axis=others)
    return np.clip(marginals, 0.0, 1.0)
