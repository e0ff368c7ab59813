"""Sums variables with at most two neighbours out of a graph, exactly, and puts their marginals back afterwards.

Summing a variable out leaves a table over its neighbours: a number, a prior, or a factor on the pair of them, which is merged
with the one they may share already. What remains, the core, has at least three neighbours a variable. On the way back the
order is reversed, and P(variable, neighbours) = P(variable | neighbours) P(neighbours): the conditional was kept when the
variable went, and the neighbours' joint is the pair marginal that the core's solver, or a later step, has given by then. The
marginals are therefore exact where the core's are, and consistent with its pair marginals where they are not.

Plain numbers and dictionaries: the tables have two or four entries, far too few for array operations to pay.
"""

from dataclasses import dataclass
from math import exp, inf, log1p

import numpy as np
from numpy.typing import NDArray

from localfact.inference.components import Component

#: (first false and second false, false and true, true and false, true and true), in logs or as probabilities.
_Quad = tuple[float, float, float, float]
#: The pairs that each variable is in: neighbour -> log table, the variable's own value first.
_Tables = list[dict[int, _Quad]]


@dataclass(frozen=True)
class _Step:
    """One variable summed out: P(true) and P(false) of it for each value, or each two values, of its neighbours."""

    variable: int
    neighbours: tuple[int, ...]
    true: tuple[float, ...]
    false: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Reduction:
    """A graph of n variables and its core.

    Attributes:
        core: what is left; core.variables are positions in the graph that was reduced.
        log_z: the log weight that was taken out: log Z of the whole is this and the core's.
        width: the most neighbours that a variable had when it went; 0 to 2.
        steps: what was summed out, in order.
    """

    core: Component
    log_z: float
    width: int
    steps: tuple[_Step, ...]

    def expand(
        self, whole: Component, marginals: NDArray[np.float64], pair_marginals: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """From the core's marginals and pair marginals, (c,) and (its pairs, 2, 2), to those of the whole: (n,), (k, 2, 2)."""
        values = [(0.0, 0.0)] * len(whole.variables)
        for variable, true in zip(self.core.variables.tolist(), marginals.tolist(), strict=True):
            values[variable] = (1 - true, true)
        pairs, quads = self.core.variables[self.core.pairs].tolist(), pair_marginals.reshape(-1, 4).tolist()
        joint: dict[tuple[int, int], _Quad] = {
            (first, second): (e00, e01, e10, e11) for (first, second), (e00, e01, e10, e11) in zip(pairs, quads, strict=True)
        }
        for step in reversed(self.steps):
            _put_back(step, values, joint)
        of_pairs = [joint[first, second] for first, second in whole.pairs.tolist()]
        return np.array([true for _, true in values]), np.array(of_pairs, dtype=np.float64).reshape(-1, 2, 2)


def reduce(whole: Component) -> Reduction:
    """Sums out variables with at most two neighbours until there are none. The graph must be consistent."""
    log_priors: list[list[float]] = whole.log_priors.tolist()
    tables: _Tables = [{} for _ in log_priors]
    for (first, second), (f00, f01, f10, f11) in zip(
        whole.pairs.tolist(), whole.log_tables.reshape(-1, 4).tolist(), strict=True
    ):
        tables[first][second] = (f00, f01, f10, f11)
        tables[second][first] = (f00, f10, f01, f11)
    gone = [False] * len(log_priors)
    log_z = 0.0
    steps = []
    # Leaves first: they join nothing, so that a tree has width 1.
    leaves = [variable for variable, own in enumerate(tables) if len(own) < 2]
    links = [variable for variable, own in enumerate(tables) if len(own) == 2]
    while leaves or links:
        variable = (leaves or links).pop()
        if gone[variable]:
            continue
        gone[variable] = True
        step, message = _sum_out(variable, log_priors[variable], tables)
        steps.append(step)
        log_z += _hand_on(step, message, log_priors, tables)
        for other in step.neighbours:
            if len(tables[other]) <= 2:
                (leaves if len(tables[other]) < 2 else links).append(other)
    width = max((len(step.neighbours) for step in steps), default=0)
    return Reduction(_core(whole, log_priors, tables, gone), log_z, width, tuple(steps))


def _sum_out(variable: int, own: list[float], tables: _Tables) -> tuple[_Step, tuple[float, ...]]:
    """The conditional of a variable given its at most two neighbours; the log of what it sums to for each of their values."""
    neighbours = tuple(sorted(tables[variable]))
    if not neighbours:
        log_sum, of_false, of_true = _sum_weights(*own)
        return _Step(variable, (), (of_true,), (of_false,)), (log_sum,)
    false, true = [own[0]], [own[1]]
    for other in neighbours:
        f00, f01, f10, f11 = tables[variable][other]
        false = [weight + entry for weight in false for entry in (f00, f01)]
        true = [weight + entry for weight in true for entry in (f10, f11)]
    summed = [_sum_weights(none, all_) for none, all_ in zip(false, true, strict=True)]
    step = _Step(variable, neighbours, tuple(s[2] for s in summed), tuple(s[1] for s in summed))
    return step, tuple(s[0] for s in summed)


def _sum_weights(false: float, true: float) -> tuple[float, float, float]:
    """log(e^false + e^true), and the shares of the two; where both weigh 0 no share matters."""
    if false == true:
        return (false + log1p(1.0) if false > -inf else -inf), 0.5, 0.5
    ratio = exp(-abs(false - true))
    larger = 1 / (1 + ratio)
    if true > false:
        return true + log1p(ratio), ratio * larger, larger
    return false + log1p(ratio), larger, ratio * larger


def _hand_on(step: _Step, message: tuple[float, ...], log_priors: list[list[float]], tables: _Tables) -> float:
    """Removes the variable and multiplies its message into its neighbours' prior or pair; returns it if it has none."""
    for other in step.neighbours:
        del tables[other][step.variable]
    if not step.neighbours:
        return message[0]
    if len(step.neighbours) == 1:
        own = log_priors[step.neighbours[0]]
        own[0] += message[0]
        own[1] += message[1]
        return 0.0
    first, second = step.neighbours
    m00, m01, m10, m11 = message
    f00, f01, f10, f11 = tables[first].get(second, (0.0, 0.0, 0.0, 0.0))
    tables[first][second] = (f00 + m00, f01 + m01, f10 + m10, f11 + m11)
    tables[second][first] = (f00 + m00, f10 + m10, f01 + m01, f11 + m11)
    return 0.0


def _core(whole: Component, log_priors: list[list[float]], tables: _Tables, gone: list[bool]) -> Component:
    left = np.flatnonzero(~np.array(gone, dtype=bool))
    position = np.cumsum(~np.array(gone, dtype=bool)) - 1
    rows = [
        (first, second, quad) for first in left.tolist() for second, quad in sorted(tables[first].items()) if first < second
    ]
    pairs = np.array([row[:2] for row in rows], dtype=np.int64).reshape(-1, 2)
    logs = np.array([row[2] for row in rows], dtype=np.float64).reshape(-1, 2, 2)
    return Component(left, np.array(log_priors)[left].reshape(-1, 2), position[pairs], logs)


def _put_back(step: _Step, values: list[tuple[float, float]], joint: dict[tuple[int, int], _Quad]) -> None:
    """Adds the marginal of a step's variable, and the pair marginals with its neighbours."""
    if not step.neighbours:
        values[step.variable] = step.false[0], step.true[0]
        return
    of_neighbours: tuple[float, ...]
    if len(step.neighbours) == 1:
        of_neighbours = values[step.neighbours[0]]
        _add_pair(step, step.neighbours[0], of_neighbours, ((0,), (1,)), joint)
    else:
        first, second = step.neighbours
        of_neighbours = joint[first, second]
        _add_pair(step, first, of_neighbours, ((0, 1), (2, 3)), joint)
        _add_pair(step, second, of_neighbours, ((0, 2), (1, 3)), joint)
    false, true = (
        sum(share * weight for share, weight in zip(shares, of_neighbours, strict=True)) for shares in (step.false, step.true)
    )
    values[step.variable] = (false, true)


def _add_pair(
    step: _Step,
    other: int,
    of_neighbours: tuple[float, ...],
    entries: tuple[tuple[int, ...], tuple[int, ...]],
    joint: dict[tuple[int, int], _Quad],
) -> None:
    """The pair marginal with one neighbour; entries[x] are those of `of_neighbours` in which the neighbour has the value x."""
    (j00, j01), (j10, j11) = (
        [sum(shares[entry] * of_neighbours[entry] for entry in places) for places in entries]
        for shares in (step.false, step.true)
    )
    if step.variable < other:
        joint[step.variable, other] = (j00, j01, j10, j11)
    else:
        joint[other, step.variable] = (j00, j10, j01, j11)
