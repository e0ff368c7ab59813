"""Approximate marginals of a component too wide for exact inference: loopy belief propagation from two starts.

The graphs of FactReasoner tend to have two opposite states, passages believed and passages disbelieved. Each start finds the
nearer one; where they differ they are mixed by the weight that the Bethe approximation gives to each (Yedidia, Freeman and
Weiss, 2005).
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from localfact.inference.components import Component

#: Log of the weight that stands for 0 here, so that all messages are finite.
LOG_ZERO = -1e4
#: Log-odds of every message at the second start: everything is false.
FALSE_START = -10.0
#: Share of the old message that is kept in each step; the next is tried only where the one before does not settle.
DAMPINGS = (0.3, 0.8)
#: Sweeps over all variables for one start and one damping.
MAX_SWEEPS = 1_000
#: Messages have settled when none calls for a larger change than this, in log-odds.
SETTLED = 1e-9
#: Two fixed points are one when no marginal differs by more than this.
SAME_FIXED_POINT = 1e-5
#: How many variables are fixed, one at a time, to see how far the answer can be trusted.
PROBES = 8


@dataclass(frozen=True)
class Approximation:
    """What belief propagation found.

    Attributes:
        marginals: (n,) P(true) of each variable.
        error: see `propagate`.
        sweeps: over all variables, in all runs together.
    """

    marginals: NDArray[np.float64]
    error: float
    sweeps: int


@dataclass(frozen=True, eq=False)
class _Network:
    """A component laid out for message passing: two messages a pair, sorted by sender (see message_passing.iterate)."""

    log_priors: NDArray[np.float64]
    first_message: NDArray[np.int64]
    sender: NDArray[np.int64]
    reverse: NDArray[np.int64]
    log_tables: NDArray[np.float64]

    @property
    def prior_odds(self) -> NDArray[np.float64]:
        return self.log_priors[:, 1] - self.log_priors[:, 0]

    def fixed(self, variable: int, value: int) -> "_Network":
        """The same network without the assignments in which the variable has the other value."""
        log_priors = self.log_priors.copy()
        log_priors[variable, 1 - value] = log_priors[variable, value] + LOG_ZERO
        return replace(self, log_priors=log_priors)


@dataclass(frozen=True, eq=False)
class _FixedPoint:
    """Where one start led: marginals (n,), the Bethe approximation of log Z, whether the messages settled."""

    marginals: NDArray[np.float64]
    log_weight: float
    settled: bool
    sweeps: int


def propagate(component: Component) -> Approximation:
    """Approximates the marginals of a consistent component of any width.

    `error` is how far any marginal moves when one of PROBES variables, uncertain ones with many neighbours, is fixed to false
    and to true and the two answers are mixed by their Bethe weights: an exact method would not move at all. It is an
    indication, no bound: where belief propagation errs in the same way with and without that variable, it shows less than the
    true error. It is 1 when neither start settled: then nothing is known.
    """
    network = _network(component)
    whole = _mixture(network)
    if not whole.settled:
        return Approximation(whole.marginals, 1.0, whole.sweeps)
    influence = whole.marginals * (1 - whole.marginals) * np.diff(network.first_message)
    probes = np.argsort(-influence, kind="stable")[:PROBES]
    error, sweeps = 0.0, whole.sweeps
    for variable in probes.tolist():
        false, true = (_mixture(network.fixed(variable, value)) for value in (0, 1))
        sweeps += false.sweeps + true.sweeps
        error = max(error, float(np.max(np.abs(_mixed([false, true]) - whole.marginals))))
    return Approximation(whole.marginals, error, sweeps)


def _network(component: Component) -> _Network:
    count, pairs = len(component.variables), component.pairs
    sender = np.concatenate([pairs[:, 0], pairs[:, 1]])
    tables = np.concatenate([component.log_tables, component.log_tables.transpose(0, 2, 1)])
    order = np.argsort(sender, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return _Network(
        log_priors=np.maximum(component.log_priors, LOG_ZERO),
        first_message=np.searchsorted(sender[order], np.arange(count + 1)),
        sender=sender[order],
        reverse=np.roll(place, len(pairs))[order],
        log_tables=np.maximum(tables[order], LOG_ZERO),
    )


def _mixture(network: _Network) -> _FixedPoint:
    """Both starts, mixed; one that did not settle counts only when neither did."""
    found = [_run(network, start) for start in (0.0, FALSE_START)]
    usable = [point for point in found if point.settled] or found
    if len(usable) == 2 and np.max(np.abs(usable[0].marginals - usable[1].marginals)) <= SAME_FIXED_POINT:
        usable = usable[:1]
    log_weight = float(np.logaddexp.reduce([point.log_weight for point in usable]))
    sweeps = sum(point.sweeps for point in found)
    return _FixedPoint(_mixed(usable), log_weight, usable[0].settled, sweeps)


def _mixed(points: list[_FixedPoint]) -> NDArray[np.float64]:
    log_weights = np.array([point.log_weight for point in points])
    weights = np.exp(log_weights - np.logaddexp.reduce(log_weights))
    mixed: NDArray[np.float64] = weights @ np.stack([point.marginals for point in points])
    return mixed


def _run(network: _Network, start: float) -> _FixedPoint:
    from localfact.inference.message_passing import iterate

    sweeps = 0
    for damping in DAMPINGS:
        messages = np.full(len(network.sender), start)
        done, change = iterate(
            messages,
            network.prior_odds,
            network.first_message,
            network.reverse,
            network.log_tables,
            damping,
            SETTLED,
            MAX_SWEEPS,
        )
        sweeps += done
        if change <= SETTLED:
            break
    return _fixed_point(network, messages, change <= SETTLED, sweeps)


def _fixed_point(network: _Network, messages: NDArray[np.float64], settled: bool, sweeps: int) -> _FixedPoint:
    received = messages[network.reverse]
    belief = network.prior_odds + np.bincount(network.sender, weights=received, minlength=len(network.log_priors))
    degree = np.diff(network.first_message)
    # log Z = sum_i (1 - d_i) log Z_i + sum_ij log Z_ij, each pair appearing here twice, once from either side. The weight of
    # "false" is taken out of every prior as a constant; it counts once a variable.
    of_variables = np.sum(network.log_priors[:, 0]) + np.sum((1 - degree) * np.logaddexp(0.0, belief))
    without = belief[network.sender] - received
    other = without[network.reverse]
    tables = network.log_tables
    of_pairs = np.logaddexp(
        np.logaddexp(tables[:, 0, 0], tables[:, 0, 1] + other),
        np.logaddexp(tables[:, 1, 0] + without, tables[:, 1, 1] + without + other),
    )
    log_weight = float(of_variables + np.sum(of_pairs) / 2)
    marginals = np.exp(-np.logaddexp(0.0, -belief))
    return _FixedPoint(marginals, log_weight, settled, sweeps)
