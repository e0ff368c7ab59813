"""How far each neighbour moves a variable's posterior: leave-one-out, from the pair marginals, without solving again.

Without the factor f between x and y, P'(x, y) is proportional to P(x, y) / f(x, y): exact wherever the marginals are, whatever
the rest of the graph; belief propagation calls it the cavity where they are not.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from localfact.inference.factor_graph import FactorGraph
from localfact.inference.solve import Marginals, marginals


@dataclass(frozen=True)
class Influence:
    """The effect of the factors between a variable and one neighbour on the variable.

    Attributes:
        neighbour: the neighbour's id.
        without: P(variable true) without these factors; None if the rest of the graph is inconsistent.
        shift: how far they move it, in [-1, 1]: the posterior minus `without`; 0 where that is None.
    """

    neighbour: str
    without: float | None
    shift: float


def leave_one_out(graph: FactorGraph, found: Marginals, variables: Iterable[str]) -> dict[str, tuple[Influence, ...]]:
    """For each of the variables, the influence of each neighbour by itself; the largest first, ties in the graph's order.

    All factors between the two are left out together, in both directions. The neighbour stays, with its other factors: this is
    its direct influence, not that through other variables.

    Args:
        graph: a graph.
        found: its marginals, by any solver. Where that gave no pair marginals, `auto` computes them.
        variables: ids of the graph, usually claims.

    Returns:
        The variables in the order given; nothing where the graph is inconsistent.
    """
    if found.marginals is None:
        return {}
    joint = found.factor_marginals
    if joint is None:
        joint = marginals(graph).factor_marginals
        assert joint is not None
    position = {identity: index for index, identity in enumerate(graph.ids)}
    factors: dict[int, dict[int, list[int]]] = {position[identity]: {} for identity in variables}
    for factor, (source, target) in enumerate(graph.edges.tolist()):
        for own, other in ((source, target), (target, source)):
            if own in factors:
                factors[own].setdefault(other, []).append(factor)
    ranked = {}
    for own, meeting in factors.items():
        identity = graph.ids[own]
        posterior = found.marginals[identity]
        influences = [_influence(graph, posterior, joint, own, other, meeting[other]) for other in sorted(meeting)]
        ranked[identity] = tuple(sorted(influences, key=lambda influence: -abs(influence.shift)))
    return ranked


def _influence(
    graph: FactorGraph, posterior: float, joint: NDArray[np.float64], own: int, other: int, factors: list[int]
) -> Influence:
    def own_first(factor: int, table: NDArray[np.float64]) -> NDArray[np.float64]:
        return table if graph.edges[factor, 0] == own else table.T

    weight = np.prod([own_first(factor, graph.tables[factor]) for factor in factors], axis=0)
    together = own_first(factors[0], joint[factors[0]])
    without = _without(weight, together) if np.all(weight > 0) else _solve_without(graph, own, factors)
    if without is None:
        return Influence(graph.ids[other], None, 0.0)
    # Both sides from the same pair marginal, so that a factor that says nothing moves nothing, in an approximation too.
    reference = posterior if np.any(weight <= 0) else float(together[1].sum() / together.sum())
    return Influence(graph.ids[other], without, reference - without)


def _without(weight: NDArray[np.float64], together: NDArray[np.float64]) -> float:
    """P(own true) from P(own, other) divided by their factor."""
    rest = together / (weight / weight.max())
    return float(rest[1].sum() / rest.sum())


def _solve_without(graph: FactorGraph, own: int, factors: list[int]) -> float | None:
    """As `_without`, by solving the graph without these factors: needed where a weight of 0 has removed the information."""
    kept = np.setdiff1d(np.arange(len(graph.edges)), factors)
    rest = marginals(FactorGraph(graph.ids, graph.priors, graph.edges[kept], graph.tables[kept])).marginals
    return None if rest is None else rest[graph.ids[own]]
