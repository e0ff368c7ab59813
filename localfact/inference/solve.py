"""Computes the marginals of a factor graph: checks it, takes it apart, and sends each component to a solver.

A new solver is one function here and one line in SOLVERS.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from localfact.errors import InputError
from localfact.inference.components import Component, components
from localfact.inference.consistency import is_consistent
from localfact.inference.elimination import EliminationOrder, TooWide, min_fill_order
from localfact.inference.exact import eliminate
from localfact.inference.factor_graph import FactorGraph
from localfact.inference.loopy import propagate


@dataclass(frozen=True)
class Marginals:
    """What is known about a graph's variables, each by itself.

    Attributes:
        marginals: id -> P(true), in the graph's order; None when the graph is inconsistent.
        consistent: whether any assignment weighs more than 0. Always exact, whatever the solver.
        exact: whether the marginals and log_z are exact up to rounding.
        error: an indication of the largest error of any marginal, from 0 to 1: 0 when exact, and no bound otherwise (the
            solver says what it measures).
        log_z: the natural log of the sum of all assignments' weights; None when unknown, or when that sum is 0.
        solver: who did it: "exact", "loopy", or "exact+loopy" when `auto` needed both; "none" when there was nothing to solve.
        width: the induced width of the elimination order used; None when some component was not eliminated.
        sweeps: how often message passing went over all variables; 0 when exact.
    """

    marginals: Mapping[str, float] | None
    consistent: bool
    exact: bool
    error: float
    log_z: float | None
    solver: str
    width: int | None
    sweeps: int = 0


@dataclass(frozen=True)
class _Solution:
    """A solver's answer for one component: P(true) of its n variables, and what the fields of Marginals say of it."""

    solver: str
    marginals: NDArray[np.float64]
    error: float
    log_z: float | None
    width: int | None
    sweeps: int = 0


#: A solver takes a consistent component and a seed; the same two always give the same answer.
Solver = Callable[[Component, int], _Solution]


def marginals(graph: FactorGraph, *, solver: str = "auto", seed: int = 0) -> Marginals:
    """Returns P(true) of every variable of the graph.

    Args:
        graph: any graph; parts that are not connected are solved one by one.
        solver: a name in SOLVERS. `auto` is exact for every component that is narrow enough and approximate for the others.
        seed: for solvers that draw random numbers; none of the present ones does.

    Raises:
        InputError: the solver is unknown, or it is `exact` and the graph too wide for it.
    """
    if solver not in SOLVERS:
        raise InputError(f"There is no solver '{solver}'. Choose one of: {', '.join(SOLVERS)}.")
    if not is_consistent(graph):
        return Marginals(None, consistent=False, exact=True, error=0.0, log_z=None, solver="none", width=None)
    parts = components(graph)
    solutions = [SOLVERS[solver](part, seed) for part in parts]

    values = np.empty(len(graph.ids))
    for part, solution in zip(parts, solutions, strict=True):
        values[part.variables] = solution.marginals
    logs_z = [solution.log_z for solution in solutions if solution.log_z is not None]
    widths = [solution.width for solution in solutions if solution.width is not None]
    exact = len(logs_z) == len(parts)
    return Marginals(
        marginals=dict(zip(graph.ids, values.tolist(), strict=True)),
        consistent=True,
        exact=exact,
        error=max((solution.error for solution in solutions), default=0.0),
        log_z=sum(logs_z) if exact else None,
        solver="+".join(sorted({solution.solver for solution in solutions})) or "none",
        width=max(widths, default=0) if exact else None,
        sweeps=sum(solution.sweeps for solution in solutions),
    )


def _exact(component: Component, seed: int) -> _Solution:
    order = min_fill_order(component)
    if isinstance(order, TooWide):
        raise InputError(
            f"The graph is too wide for the exact solver: {order.reason}. Use the solver 'auto' or 'loopy' instead."
        )
    return _eliminated(component, order)


def _loopy(component: Component, seed: int) -> _Solution:
    found = propagate(component)
    return _Solution("loopy", found.marginals, found.error, log_z=None, width=None, sweeps=found.sweeps)


def _auto(component: Component, seed: int) -> _Solution:
    order = min_fill_order(component)
    return _loopy(component, seed) if isinstance(order, TooWide) else _eliminated(component, order)


def _eliminated(component: Component, order: EliminationOrder) -> _Solution:
    values, log_z = eliminate(component, order)
    return _Solution("exact", values, 0.0, log_z, order.width)


SOLVERS: Mapping[str, Solver] = {"auto": _auto, "exact": _exact, "loopy": _loopy}
