"""Belief propagation on one component: its layout for message passing, and the fixed points to which messages converge.

conditioning.py runs it, with variables fixed; message_passing.py has the inner loops.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from localfact.inference import message_passing
from localfact.inference.components import Component
from localfact.inference.message_passing import LARGEST, Network

#: Share of the old message that is kept, and sweeps: the next pair is tried only where the one before does not settle.
DAMPINGS = ((0.0, 60), (0.5, 200), (0.8, 600))
#: Messages have converged when none calls for a larger change than this share of itself. The Bethe weight is stationary at a
#: fixed point, so it is wrong by about the square of this; 1e-5 takes half as many sweeps again and moves no marginal by 2e-5.
CONVERGED = 1e-3
#: Two fixed points are one when no marginal differs by more than this.
SAME_FIXED_POINT = 1e-2


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """A fixed point of belief propagation: the messages, shape (2k,), and what follows from them.

    Attributes:
        marginals: (n,) P(true).
        influence: (n,) how much of its neighbours' variance each variable explains, summed over them.
        log_weight: the Bethe approximation of log Z.
        converged: whether the messages converged; if not, they are the last ones.
        sweeps: how many it took.
    """

    messages: NDArray[np.float64]
    marginals: NDArray[np.float64]
    influence: NDArray[np.float64]
    log_weight: float
    converged: bool
    sweeps: int


def lay_out(component: Component) -> Network:
    """The network of a component without variables with a prior of 0 or 1 (forced.py fixes those)."""
    if not np.isfinite(component.log_priors).all():
        raise ValueError("a variable that has one possible value must be fixed before messages are passed")
    count, pairs = len(component.variables), component.pairs
    scale = component.log_tables.max(axis=(1, 2))
    weights = np.maximum(np.exp(component.log_tables - scale[:, None, None]), 1 / LARGEST)
    sender, receiver = np.concatenate([pairs, pairs[:, ::-1]]).T
    tables = np.concatenate([weights, weights.transpose(0, 2, 1)]).reshape(-1, 4)
    order = np.lexsort((receiver, sender))
    place = np.argsort(order)
    return Network(
        log_odds=component.log_priors[:, 1] - component.log_priors[:, 0],
        first_message=np.searchsorted(sender[order], np.arange(count + 1)),
        receiver=np.ascontiguousarray(receiver[order]),
        reverse=np.roll(place, len(pairs))[order],
        tables=np.ascontiguousarray(tables[order]),
        of_pair=place[: len(pairs)],
        log_scale=float(scale.sum() + component.log_priors[:, 0].sum()),
    )


def starts(network: Network) -> list[NDArray[np.float64]]:
    """Three sets of initial messages: uninformative, and as if every variable were false, or true, for certain.

    The graphs of FactReasoner tend to have two opposite states, passages believed and passages disbelieved; each start finds
    the nearer one. Both are needed, so that a symmetric question gets a symmetric answer.
    """
    return [np.ones(len(network.receiver)), _certain_messages(network.tables, 0), _certain_messages(network.tables, 1)]


def fix_variable(network: Network, messages: NDArray[np.float64], variable: int, value: int) -> NDArray[np.float64]:
    """The messages after a variable was fixed to a value."""
    changed = messages.copy()
    own = slice(network.first_message[variable], network.first_message[variable + 1])
    changed[own] = _certain_messages(network.tables[own], value)
    return changed


def _certain_messages(tables: NDArray[np.float64], value: int) -> NDArray[np.float64]:
    said: NDArray[np.float64] = tables[:, 2 * value + 1] / tables[:, 2 * value]
    return said


def run_to_fixed_point(network: Network, messages: NDArray[np.float64], fixed: NDArray[np.int8]) -> FixedPoint:
    """Runs belief propagation from the given messages, which are not changed."""
    sweeps = 0
    for damping, most in DAMPINGS:
        run = messages.copy()
        done, converged = message_passing.iterate(run, network, fixed, damping, CONVERGED, most)
        sweeps += done
        if converged:
            break
    marginals, influence = np.empty(len(fixed)), np.empty(len(fixed))
    log_weight = message_passing.describe(run, network, fixed, marginals, influence)
    return FixedPoint(run, marginals, influence, network.log_scale + log_weight, converged, sweeps)


def find_fixed_points(network: Network, beginnings: list[NDArray[np.float64]], fixed: NDArray[np.int8]) -> list[FixedPoint]:
    """The distinct fixed points to which the beginnings lead; one that did not settle counts only where none did."""
    distinct: list[FixedPoint] = []
    found = [run_to_fixed_point(network, messages, fixed) for messages in beginnings]
    if len(found) == 1:
        return found
    for point in sorted(found, key=lambda point: not point.converged):
        if not point.converged and distinct and distinct[0].converged:
            continue
        if all(np.max(np.abs(point.marginals - other.marginals)) > SAME_FIXED_POINT for other in distinct):
            distinct.append(point)
    return distinct
