"""Takes a factor graph apart into its connected components, in the log form that the solvers work on.

Factors on the same pair of variables are multiplied into one here, so a solver sees each pair once.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from localfact.inference.factor_graph import FactorGraph


@dataclass(frozen=True, eq=False)
class Component:
    """A connected part of a graph: n variables, k pairs of them that share a factor. A weight of 0 is -inf here.

    Attributes:
        variables: (n,) positions of its variables in the graph, ascending.
        log_priors: (n, 2) log weights of false and true.
        pairs: (k, 2) positions within the component, the smaller first, each pair once.
        log_tables: (k, 2, 2) log weights, log_tables[e, first, second], false before true.
    """

    variables: NDArray[np.int64]
    log_priors: NDArray[np.float64]
    pairs: NDArray[np.int64]
    log_tables: NDArray[np.float64]


def components(graph: FactorGraph) -> list[Component]:
    """Returns the connected components, ordered by their first variable; an isolated variable is a component of its own."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = len(graph.ids)
    if count == 0:
        return []
    pairs, log_tables = _merged(graph)
    with np.errstate(divide="ignore"):
        log_priors = np.log(np.stack([1 - graph.priors, graph.priors], axis=1))
    adjacency = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    number, member_of = connected_components(adjacency, directed=False)

    local = np.empty(count, dtype=np.int64)
    parts = []
    variables_of = _grouped(member_of, number)
    pairs_of = _grouped(member_of[pairs[:, 0]], number)
    for variables, own_pairs in zip(variables_of, pairs_of, strict=True):
        local[variables] = np.arange(len(variables))
        parts.append(Component(variables, log_priors[variables], local[pairs[own_pairs]], log_tables[own_pairs]))
    return sorted(parts, key=lambda part: int(part.variables[0]))


def _merged(graph: FactorGraph) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The distinct unordered pairs (k, 2) and the sums of their log tables (k, 2, 2), turned to smaller position first."""
    turned = graph.edges[:, 0] > graph.edges[:, 1]
    with np.errstate(divide="ignore"):
        logs = np.log(graph.tables)
    logs = np.where(turned[:, None, None], logs.transpose(0, 2, 1), logs)
    pairs, which = np.unique(np.sort(graph.edges, axis=1), axis=0, return_inverse=True)
    merged = np.zeros((len(pairs), 2, 2))
    np.add.at(merged, which.reshape(-1), logs)
    return pairs, merged


def _grouped(member_of: NDArray[np.int32], number: int) -> list[NDArray[np.int64]]:
    """Positions by group, ascending within each of the `number` groups."""
    order = np.argsort(member_of, kind="stable")
    return np.split(order, np.searchsorted(member_of[order], np.arange(1, number)))
