"""Decides whether a factor graph with zeros has any assignment of positive weight, before a solver starts on it.

With two values and two variables a factor every zero forbids one pair of values, so this is 2-satisfiability: exact, and
linear in the size of the graph, however wide it is (Aspvall, Plass and Tarjan, 1979).
"""

import numpy as np

from localfact.inference.factor_graph import FactorGraph


def is_consistent(graph: FactorGraph) -> bool:
    """Whether some assignment weighs more than 0."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    # Literal 2 i + x says "variable i has value x". A forbidden pair of literals makes each imply the other's opposite,
    # and the opposite of a literal is itself with the last bit flipped.
    edge, source, target = np.nonzero(graph.tables == 0)
    forbidden_first = 2 * graph.edges[edge, 0] + source
    forbidden_second = 2 * graph.edges[edge, 1] + target
    never_true = 2 * np.flatnonzero(graph.priors == 0) + 1
    never_false = 2 * np.flatnonzero(graph.priors == 1)
    alone = np.concatenate([never_true, never_false])
    premises = np.concatenate([forbidden_first, forbidden_second, alone])
    conclusions = np.concatenate([forbidden_second, forbidden_first, alone]) ^ 1
    if len(premises) == 0:
        return True
    literals = 2 * len(graph.ids)
    implications = coo_array((np.ones(len(premises)), (premises, conclusions)), shape=(literals, literals))
    _, strong = connected_components(implications, connection="strong")
    return bool(np.all(strong[0::2] != strong[1::2]))
