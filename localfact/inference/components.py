"""The log form of a factor graph, which the solvers use, and its connected components.

Factors on the same pair of variables are multiplied into one here, so a solver sees each pair once.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from localfact.inference.factor_graph import FactorGraph


@dataclass(frozen=True, eq=False)
class Component:
    """A graph or a part of one: n variables, k pairs of them that share a factor. A weight of 0 is -inf here.

    Attributes:
        variables: (n,) positions of its variables in the graph that it was taken from, ascending.
        log_priors: (n, 2) log weights of false and true.
        pairs: (k, 2) positions within the component, the smaller first, each pair once.
        log_tables: (k, 2, 2) log weights, log_tables[e, first, second], false before true.
    """

    variables: NDArray[np.int64]
    log_priors: NDArray[np.float64]
    pairs: NDArray[np.int64]
    log_tables: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Part:
    """A connected component, and its place in the whole: `variables` (n,) and `pairs` (k,) are positions there."""

    component: Component
    variables: NDArray[np.int64]
    pairs: NDArray[np.int64]


def log_form(graph: FactorGraph) -> tuple[Component, NDArray[np.int64]]:
    """The whole graph with one factor a pair, and, shape (m,), which of these pairs each of the graph's factors became."""
    turned = graph.edges[:, 0] > graph.edges[:, 1]
    with np.errstate(divide="ignore"):
        logs = np.log(graph.tables)
        log_priors = np.log(np.stack([1 - graph.priors, graph.priors], axis=1))
    logs = np.where(turned[:, None, None], logs.transpose(0, 2, 1), logs)
    count = len(graph.ids)
    low, high = graph.edges.min(axis=1, initial=count), graph.edges.max(axis=1, initial=0)
    keys, pair_of = np.unique(low * count + high, return_inverse=True)
    merged = np.zeros((len(keys), 2, 2))
    np.add.at(merged, pair_of, logs)
    pairs = np.stack([keys // max(count, 1), keys % max(count, 1)], axis=1)
    return Component(np.arange(count), log_priors, pairs, merged), pair_of


def split(whole: Component) -> list[Part]:
    """The connected components, ordered by their first variable; an isolated variable is a component of its own."""
    member_of = _labels(len(whole.variables), whole.pairs)
    number = int(member_of.max(initial=-1)) + 1
    local = np.empty(len(member_of), dtype=np.int64)
    parts = []
    variables_of, pairs_of = _group_positions(member_of, number), _group_positions(member_of[whole.pairs[:, 0]], number)
    for variables, pairs in zip(variables_of, pairs_of, strict=True):
        local[variables] = np.arange(len(variables))
        component = Component(
            whole.variables[variables], whole.log_priors[variables], local[whole.pairs[pairs]], whole.log_tables[pairs]
        )
        parts.append(Part(component, variables, pairs))
    return parts


def _labels(count: int, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of each variable's component; components are numbered by their first variable."""
    neighbours: list[list[int]] = [[] for _ in range(count)]
    for first, second in pairs.tolist():
        neighbours[first].append(second)
        neighbours[second].append(first)
    labels = [-1] * count
    number = 0
    for seed in range(count):
        if labels[seed] >= 0:
            continue
        labels[seed] = number
        reached = [seed]
        for variable in reached:
            for neighbour in neighbours[variable]:
                if labels[neighbour] < 0:
                    labels[neighbour] = number
                    reached.append(neighbour)
        number += 1
    return np.array(labels, dtype=np.int64)


def _group_positions(member_of: NDArray[np.int64], number: int) -> list[NDArray[np.int64]]:
    """Positions by group, ascending within each of the `number` groups."""
    if number == 0:
        return []
    order = np.argsort(member_of, kind="stable")
    return np.split(order, np.searchsorted(member_of[order], np.arange(1, number)))
