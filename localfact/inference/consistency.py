"""What weights of 0 imply: whether any assignment has positive weight, which variables are tied together, which are fixed.

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

    # Literals that imply one another are equivalent; one that is equivalent to its opposite cannot be.
    premises, conclusions = _implications(component)
    literals = 2 * len(component.variables)
    implications = coo_array((np.ones(len(premises)), (premises, conclusions)), shape=(literals, literals))
    _, classes = connected_components(implications, connection="strong")
    return None if np.any(classes[0::2] == classes[1::2]) else classes.astype(np.int64)


def impossible_values(component: Component) -> NDArray[np.bool_]:
    """Whether each value of each variable, shape (n, 2), false before true, weighs 0 whatever the others are.

    These are all such values if no two variables are tied (contraction.py); tied ones, and what implies them, may be missed.
    A literal is impossible when it implies its own opposite, over however many steps.
    """
    impossible = np.isneginf(component.log_priors)
    if not np.isneginf(component.log_tables).any():
        return impossible
    premises, conclusions = _implications(component)
    # Without ties no implication runs in a ring, so there is an order from last conclusions to first premises.
    waiting = np.bincount(premises, minlength=impossible.size).tolist()
    premises_of: list[list[int]] = [[] for _ in waiting]
    for premise, conclusion in zip(premises.tolist(), conclusions.tolist(), strict=True):
        premises_of[conclusion].append(premise)
    # The literals that each implies, as the bits of one integer; dropped once they were passed on, to save memory.
    implied = [0] * len(waiting)
    ready = [literal for literal, number in enumerate(waiting) if number == 0]
    for literal in ready:
        impossible[literal // 2, literal % 2] |= implied[literal] >> (literal ^ 1) & 1
        for premise in premises_of[literal]:
            implied[premise] |= implied[literal] | 1 << literal
            waiting[premise] -= 1
            if waiting[premise] == 0:
                ready.append(premise)
        implied[literal] = 0
    return impossible


def _implications(component: Component) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Premises and conclusions, literals both, of what the zeros say: no variable's value of weight 0, no pair of weight 0."""
    # A forbidden pair of literals makes each imply the other's opposite, and the opposite of a literal is itself with the last
    # bit flipped.
    pair, first, second = np.nonzero(np.isneginf(component.log_tables))
    forbidden_first = 2 * component.pairs[pair, 0] + first
    forbidden_second = 2 * component.pairs[pair, 1] + second
    variable, value = np.nonzero(np.isneginf(component.log_priors))
    alone = 2 * variable + value
    premises = np.concatenate([forbidden_first, forbidden_second, alone])
    return premises, np.concatenate([forbidden_second, forbidden_first, alone]) ^ 1
