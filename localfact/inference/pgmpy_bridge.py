"""Computes marginals by pgmpy's variable elimination, for comparison.

pgmpy drops one of two equal factors over the same variables: a component has one factor a pair. It does not normalise its
answers about Markov networks: they are divided by their sums here.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from localfact.errors import InputError
from localfact.inference.components import Component
from localfact.inference.elimination import min_fill_order

#: Most table entries that all eliminations of a component may need together; at some 200 ns each, half a minute.
WORK_LIMIT = 2**27
#: What an elimination in pgmpy costs besides its table, in entries.
ENTRIES_PER_STEP = 512


def eliminate_with_pgmpy(component: Component) -> tuple[NDArray[np.float64], float]:
    """P(true) of each variable, shape (n,), and the natural log of the sum of all weights, by pgmpy's variable elimination.

    pgmpy is asked for one variable at a time, in a min-fill order; its own greedy order does not end on wide graphs. Exact, but
    in plain numbers: each factor is divided by its largest weight, which is put back into log Z.

    Raises:
        InputError: the work, counted in table entries and not in seconds, passes WORK_LIMIT, or the weights underflow.
    """
    from pgmpy.factors.discrete import DiscreteFactor
    from pgmpy.inference import VariableElimination
    from pgmpy.models import DiscreteMarkovNetwork

    order = min_fill_order(component)
    roots = _roots(component, order)
    priors, prior_scales = _scale(component.log_priors)
    tables, table_scales = _scale(component.log_tables)
    factors = dict(zip(map(tuple, component.pairs.tolist()), tables, strict=True))
    # pgmpy loses the sum of a part that the queried variable is not connected with, so the parts are tied together by ones.
    factors.update((ends, np.ones((2, 2))) for ends in pairwise(roots))
    network = DiscreteMarkovNetwork()
    network.add_nodes_from(order)
    network.add_edges_from(factors)
    network.add_factors(*(DiscreteFactor([variable], [2], priors[variable]) for variable in order))
    network.add_factors(*(DiscreteFactor(list(ends), [2, 2], table) for ends, table in factors.items()))
    elimination = VariableElimination(network)
    weights = np.empty((len(order), 2))
    for variable in order:
        others = [other for other in order if other != variable]
        weights[variable] = elimination.query([variable], elimination_order=others, show_progress=False).values
    totals = weights.sum(axis=1)
    if not np.all(totals > 0):
        raise InputError(
            "The graph's weights are too small for pgmpy, which computes in plain numbers: take the solver 'auto'."
        )
    return weights[:, 1] / totals, float(np.log(totals[0]) + prior_scales + table_scales)


def _scale(log_weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Each factor, (k, ...), divided by its largest weight, and the sum of the logs of what was divided by."""
    largest = log_weights.max(axis=tuple(range(1, log_weights.ndim)), keepdims=True)
    return np.exp(log_weights - largest), float(largest.sum())


def _roots(component: Component, order: list[int]) -> list[int]:
    """The last variable of each connected part in this order; an InputError if n eliminations in it pass WORK_LIMIT."""
    neighbours: list[set[int]] = [set() for _ in order]
    for first, second in component.pairs.tolist():
        neighbours[first].add(second)
        neighbours[second].add(first)
    width, entries = 0, 0
    roots = []
    for variable in order:
        separator = neighbours[variable]
        for other in separator:
            neighbours[other] |= separator
            neighbours[other] -= {variable, other}
        width = max(width, len(separator))
        entries += 2 ** (len(separator) + 1) + ENTRIES_PER_STEP
        if not separator:
            roots.append(variable)
    work = entries * len(order)
    if work > WORK_LIMIT:
        raise InputError(
            f"pgmpy would need too long for this graph: {len(order)} variables of width {width} make {work:.1e} table entries, "
            f"and the limit is {WORK_LIMIT:.1e}. Take the solver 'auto'."
        )
    return roots
