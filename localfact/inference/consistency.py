"""What the zeros of a graph say by themselves: whether any assignment has positive weight, and which variables move together.

With two values and two variables a factor every zero forbids one pair of values, so this is 2-satisfiability: exact, and
linear in the size of the graph, however wide it is (Aspvall, Plass and Tarjan, 1979).
"""

import numpy as np
from numpy.typing import NDArray

from localfact.inference.components import Component


def literal_classes(component: Component) -> NDArray[np.int64] | None:
    """The class of each literal, shape (2n,): literals of one class are true together or false together in every assignment.

    Literal 2 i + x says "variable i has value x". None where no assignment weighs more than 0. The graph need not be connected.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    # A forbidden pair of literals makes each imply the other's opposite, and the opposite of a literal is itself with the last
    # bit flipped. Literals that imply one another are equivalent; one that is equivalent to its opposite cannot be.
    pair, first, second = np.nonzero(np.isneginf(component.log_tables))
    forbidden_first = 2 * component.pairs[pair, 0] + first
    forbidden_second = 2 * component.pairs[pair, 1] + second
    variable, value = np.nonzero(np.isneginf(component.log_priors))
    alone = 2 * variable + value
    premises = np.concatenate([forbidden_first, forbidden_second, alone])
    conclusions = np.concatenate([forbidden_second, forbidden_first, alone]) ^ 1
    literals = 2 * len(component.variables)
    implications = coo_array((np.ones(len(premises)), (premises, conclusions)), shape=(literals, literals))
    _, classes = connected_components(implications, connection="strong")
    return None if np.any(classes[0::2] == classes[1::2]) else classes.astype(np.int64)
