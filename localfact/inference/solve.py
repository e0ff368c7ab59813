"""Computes the marginals of a factor graph: merges tied variables, fixes, reduces, splits, and calls a solver for the rest.

A new solver is one function here and one line in SOLVERS.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from localfact.errors import InputError
from localfact.inference.components import Component, log_form, split
from localfact.inference.contraction import contract
from localfact.inference.elimination import CELLS_CEILING, TooWide, elimination_order
from localfact.inference.exact import eliminate
from localfact.inference.factor_graph import FactorGraph
from localfact.inference.forced import condition
from localfact.inference.reduction import reduce
from localfact.inference.solution import Solution


@dataclass(frozen=True)
class Marginals:
    """The marginals of a graph's variables.

    Attributes:
        marginals: id -> P(true), in the graph's order; None when the graph is inconsistent.
        consistent: whether any assignment weighs more than 0. Always exact, whatever the solver.
        exact: whether the marginals and log_z are exact up to rounding.
        error: an indication of the largest error of any marginal, from 0 to 1: 0 when exact, and no bound otherwise (the solver
            says what it measures). `wmb` gives none; its 0 has no meaning.
        log_z: the natural log of the sum of all assignments' weights: an estimate (`bp`) or an upper bound (`wmb`) where not
            exact; None when that sum is 0.
        solver: which one was used: "exact", "bp", or "exact+bp" when `auto` needed both; "none" when there was nothing to
            solve.
        width: the induced width of the elimination order used; None when some component was not eliminated.
        sweeps: how often message passing went over all variables; 0 when exact.
        factor_marginals: (m, 2, 2) P(source, target) of each of the graph's factors, false before true: exact where the
            marginals are. None when the graph is inconsistent, or from a solver that does not give them (wmb, pgmpy).
    """

    marginals: Mapping[str, float] | None
    consistent: bool
    exact: bool
    error: float
    log_z: float | None
    solver: str
    width: int | None
    sweeps: int = 0
    factor_marginals: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Solver:
    """Solves a consistent connected component; the same component always gives the same result.

    Attributes:
        solve: the function.
        reduced: whether variables with at most two neighbours are summed out first; the solver must give pair marginals then.
    """

    solve: Callable[[Component], Solution]
    reduced: bool


def marginals(graph: FactorGraph, *, solver: str = "auto") -> Marginals:
    """Returns P(true) of every variable of the graph.

    Args:
        graph: any graph; parts that are not connected are solved one by one.
        solver: a name in SOLVERS. `auto` is exact for every component that is narrow enough and takes `bp` for the others.

    Raises:
        InputError: the solver is unknown, or the graph is too wide for `exact`, `wmb` or `pgmpy`.
    """
    if solver not in SOLVERS:
        raise InputError(f"There is no solver '{solver}'. Choose one of: {', '.join(SOLVERS)}.")
    whole, pair_of = log_form(graph)
    contraction = contract(whole)
    conditioned = None if contraction is None else condition(contraction.tied)
    if contraction is None or conditioned is None:
        return Marginals(None, consistent=False, exact=True, error=0.0, log_z=None, solver="none", width=None)
    found = (_solve_reduced if SOLVERS[solver].reduced else _by_component)(conditioned.free, SOLVERS[solver])
    pairs = found.pair_marginals
    if pairs is None:
        pairs = np.full((len(conditioned.free.pairs), 2, 2), np.nan)
    true, joint = conditioned.expand(contraction.tied, found.marginals, pairs)
    true, joint = contraction.expand(whole, true, joint)
    return Marginals(
        marginals=dict(zip(graph.ids, true.tolist(), strict=True)),
        consistent=True,
        exact=found.exact,
        error=found.error,
        log_z=conditioned.log_z + found.log_z,
        solver=found.solver if graph.ids else "none",
        width=found.width,
        sweeps=found.sweeps,
        factor_marginals=None if found.pair_marginals is None else _of_factors(graph, joint[pair_of]),
    )


def _of_factors(graph: FactorGraph, joint: NDArray[np.float64]) -> NDArray[np.float64]:
    turned = graph.edges[:, 0] > graph.edges[:, 1]
    return np.where(turned[:, None, None], joint.transpose(0, 2, 1), joint)


def _solve_reduced(whole: Component, solver: Solver) -> Solution:
    """Solves the core of a graph and puts back what was summed out before."""
    reduction = reduce(whole)
    core = _by_component(reduction.core, solver)
    assert core.pair_marginals is not None
    true, joint = reduction.expand(whole, core.marginals, core.pair_marginals)
    return Solution(
        core.solver,
        true,
        exact=core.exact,
        pair_marginals=joint,
        log_z=reduction.log_z + core.log_z,
        error=core.error,
        width=None if core.width is None else max(core.width, reduction.width),
        sweeps=core.sweeps,
    )


def _by_component(whole: Component, solver: Solver) -> Solution:
    """Solves each connected component by itself; without any, the answer is exact."""
    parts = split(whole)
    solutions = [solver.solve(part.component) for part in parts]
    true, joint = np.empty(len(whole.variables)), np.empty((len(whole.pairs), 2, 2))
    pairs_known = True
    for part, solution in zip(parts, solutions, strict=True):
        true[part.variables] = solution.marginals
        if solution.pair_marginals is None:
            pairs_known = False
        else:
            joint[part.pairs] = solution.pair_marginals
    return Solution(
        "+".join(sorted({solution.solver for solution in solutions}, key=list(SOLVERS).index)) or "exact",
        true,
        exact=all(solution.exact for solution in solutions),
        pair_marginals=joint if pairs_known else None,
        log_z=sum(solution.log_z for solution in solutions),
        error=max((solution.error for solution in solutions), default=0.0),
        width=_largest([solution.width for solution in solutions]),
        sweeps=sum(solution.sweeps for solution in solutions),
    )


def _largest(values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return max(known, default=0) if len(known) == len(values) else None


def _auto(component: Component) -> Solution:
    order = elimination_order(component)
    return _bp(component) if isinstance(order, TooWide) else eliminate(component, order)


def _exact(component: Component) -> Solution:
    order = elimination_order(component, cells_limit=CELLS_CEILING)
    if isinstance(order, TooWide):
        raise InputError(f"The graph is too wide for the exact solver: {order.reason}. Use the solver 'auto' or 'bp' instead.")
    return eliminate(component, order)


def _bp(component: Component) -> Solution:
    from localfact.inference.conditioning import propagate

    return propagate(component)


def _wmb(component: Component) -> Solution:
    from localfact.inference.wmb import mini_buckets

    found = mini_buckets(component)
    return Solution("wmb", found.marginals, exact=found.exact, log_z=found.log_z)


def _pgmpy(component: Component) -> Solution:
    from localfact.inference.pgmpy_bridge import eliminate_with_pgmpy

    values, log_z = eliminate_with_pgmpy(component)
    return Solution("pgmpy", values, exact=True, log_z=log_z)


SOLVERS: Mapping[str, Solver] = {
    "auto": Solver(_auto, reduced=True),
    "exact": Solver(_exact, reduced=True),
    "bp": Solver(_bp, reduced=True),
    "wmb": Solver(_wmb, reduced=False),
    "pgmpy": Solver(_pgmpy, reduced=False),
}
