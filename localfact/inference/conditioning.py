"""Approximate marginals of a component too wide for exact inference: belief propagation with conditioning on variables.

Belief propagation errs where correlations run in loops, and most where a graph has several opposite states. Fixing a variable
to false and to true, and adding the two cases by their weights, cuts all loops through it. So cases are split again and again,
always the case and the variable with the largest expected gain, into a tree: a state in which the passages are believed can be
split by another variable, and further, than one in which they are not. The weight of a case is the Bethe approximation of its
log Z; its distinct fixed points are added like cases (Pearl, 1988, section 4.4, on conditioning; Eaton and Ghahramani, 2009, on
choosing variables to clamp).
"""

import heapq
import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from localfact.inference import message_passing
from localfact.inference.components import Component
from localfact.inference.message_passing import Network
from localfact.inference.network import FixedPoint, find_fixed_points, fix_variable, lay_out, starts
from localfact.inference.solution import Solution

#: The most cases.
CASES = 512
#: The least number of cases, so that there is an error to report.
FEWEST_CASES = 8
#: No case is split any more after so many message updates, or so many sweeps over a network with more messages than their
#: quotient: 0.05 s of work, in proportion to the graph beyond. Counted, not timed: one answer on every machine.
UPDATES_LIMIT = 4_000_000
SWEEPS_LIMIT = 2_000
#: The limit of message updates while doubling the cases twice has moved some marginal by more than COARSE.
COARSE_UPDATES_LIMIT = 10_000_000
COARSE = 0.02
#: The number of cases is doubled to c for the last time if that and the doubling before moved no marginal by more than this
#: times c cubed: 2e-6 at 16 cases, 1e-4 at 64, 1e-3 at 128. The next doubling costs twice as much, so it has to promise more.
PATIENCE = 5e-10


@dataclass(frozen=True, eq=False)
class _Case:
    """The assignments that agree with `fixed` (n,), where -1 leaves a variable open.

    Attributes:
        points: the fixed points of belief propagation in this case.
        shares: their shares of the case's weight.
        marginals: (n,) P(true) in this case.
        log_weight: log Z of the case.
        variable: the one to split it by, with the largest influence in it.
        influence: that influence, see FixedPoint.
        moved: how far any marginal of the case that was split into this one and another moved by that; 1 for the first case.
    """

    fixed: NDArray[np.int8]
    points: list[FixedPoint]
    shares: NDArray[np.float64]
    marginals: NDArray[np.float64]
    log_weight: float
    variable: int
    influence: float
    moved: float = 1.0

    @property
    def log_priority(self) -> float:
        """Log of the expected gain of splitting this case: its weight times the variance that the split would explain."""
        return self.log_weight + math.log(self.influence) if self.influence > 0 else -math.inf


def propagate(component: Component) -> Solution:
    """Approximates marginals, pair marginals and log Z of a consistent component of any width.

    `error` is the largest of three: how far any marginal moved while the number of cases was last doubled twice; how far, on
    average over the cases by weight, the marginals within a case moved when it was last split; and the weight of the cases in
    which belief propagation did not settle. It is an indication, no bound: it says how fast the answer still changes. An error
    that all cases share does not show, and in a large grid, whose loops are too many to be cut, it is several times too small.
    """
    network = lay_out(component)
    whole = _case(network, starts(network), np.full(len(component.variables), -1, dtype=np.int8))
    cases, moved, sweeps = _refine(network, whole)
    log_z, shares = _weigh([case.log_weight for case in cases])
    not_converged = sum(share for share, case in zip(shares, cases, strict=True) if not case.points[0].converged)
    return Solution(
        "bp",
        np.clip(_mean(shares, [case.marginals for case in cases]), 0.0, 1.0),
        exact=False,
        pair_marginals=_pair_marginals(network, cases, shares),
        log_z=log_z,
        error=float(min(1.0, max(moved, shares @ np.array([case.moved for case in cases]), not_converged))),
        sweeps=sweeps,
    )


def _case(network: Network, beginnings: list[NDArray[np.float64]], fixed: NDArray[np.int8]) -> _Case:
    points = find_fixed_points(network, beginnings, fixed)
    log_weight, shares = _weigh([point.log_weight for point in points])
    influence = _mean(shares, [point.influence for point in points])
    variable = int(np.argmax(influence))
    return _Case(
        fixed,
        points,
        shares,
        _mean(shares, [point.marginals for point in points]),
        log_weight,
        variable,
        float(influence[variable]),
    )


def _split(network: Network, case: _Case) -> list[_Case]:
    """The two cases in which the case's variable is false and true, from the messages of its fixed points."""
    halves = []
    for value in (0, 1):
        fixed = case.fixed.copy()
        fixed[case.variable] = value
        beginnings = [fix_variable(network, point.messages, case.variable, value) for point in case.points]
        halves.append(_case(network, beginnings, fixed))
    moved = float(np.max(np.abs(_mix_marginals(halves) - case.marginals)))
    return [replace(half, moved=moved) for half in halves]


def _refine(network: Network, whole: _Case) -> tuple[list[_Case], float, int]:
    """Splits the most promising case until a limit is reached.

    Returns the cases, how far any marginal moved while their number was last doubled twice, and the sweeps of all runs.
    """
    # The number of the case breaks ties, so that the order is the same everywhere.
    queue = [(-whole.log_priority, 0, whole)]
    sweeps, number = _sweeps(whole), 0
    mixed, moved = [whole.marginals], 1.0
    while len(queue) < CASES and queue[0][0] < math.inf:
        if sweeps > _most_sweeps(network, moved) and len(queue) >= FEWEST_CASES:
            break
        for half in _split(network, heapq.heappop(queue)[2]):
            number += 1
            sweeps += _sweeps(half)
            heapq.heappush(queue, (-half.log_priority, number, half))
        if len(queue).bit_count() == 1:
            mixed.append(_mix_marginals([case for _, _, case in queue]))
            moved = float(max(np.max(np.abs(mixed[-1] - before)) for before in mixed[-3:-1]))
            if moved <= PATIENCE * len(queue) ** 3 and len(queue) >= FEWEST_CASES:
                break
    return [case for _, _, case in queue], moved, sweeps


def _most_sweeps(network: Network, moved: float) -> float:
    updates = COARSE_UPDATES_LIMIT if moved > COARSE else UPDATES_LIMIT
    return max(SWEEPS_LIMIT, updates / len(network.receiver))


def _sweeps(case: _Case) -> int:
    return sum(point.sweeps for point in case.points)


def _weigh(log_weights: list[float]) -> tuple[float, NDArray[np.float64]]:
    """The log of the sum of some weights, and their shares of it."""
    if len(log_weights) == 1:
        return log_weights[0], np.ones(1)
    total = float(np.logaddexp.reduce(log_weights))
    return total, np.exp(np.array(log_weights) - total)


def _mix_marginals(cases: list[_Case]) -> NDArray[np.float64]:
    _, shares = _weigh([case.log_weight for case in cases])
    return _mean(shares, [case.marginals for case in cases])


def _mean(shares: NDArray[np.float64], rows: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    mean: NDArray[np.float64] = rows[0] if len(rows) == 1 else shares @ np.stack(rows)
    return mean


def _pair_marginals(network: Network, cases: list[_Case], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    joint = np.zeros_like(network.tables)
    for case, share in zip(cases, shares.tolist(), strict=True):
        for point, share_in_case in zip(case.points, case.shares.tolist(), strict=True):
            message_passing.add_pair_marginals(point.messages, network, case.fixed, share * share_in_case, joint)
    return joint[network.of_pair].reshape(-1, 2, 2)
