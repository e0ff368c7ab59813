"""Belief propagation's inner loops, compiled by numba where it is installed (compiling.py).

A message is what a variable, its sender, says of another, its receiver: the factor by which it multiplies the receiver's odds
true : false. Odds and messages are plain positive numbers, so that an update is two divisions and no logarithm; only a
variable's product of messages is taken as a logarithm. fixed[i] is 0 or 1 for a variable that has that value, else -1.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from localfact.inference.compiling import compile_inline, compile_lazily

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]
_Values = NDArray[np.int8]

#: A message, or a variable's odds without one, counts as no larger than this, and no smaller than its inverse: evidence beyond
#: 299 nats is a certainty. The product of two such numbers and a weight is still a float.
LARGEST = 1e130
#: The same for a variable's odds with all messages: two certainties and what else there is can still be told apart.
LARGEST_ODDS = 1e300
#: Products of messages are brought back towards 1 by this factor when they pass it, before they overflow.
STEP = 1e100
LOG_LARGEST_ODDS = math.log(LARGEST_ODDS)
LOG_STEP = math.log(STEP)
#: A variable of smaller variance is certain, and explains nothing.
CERTAIN_VARIANCE = 1e-20
#: Smallest quotient of weights whose logarithm is taken.
SMALLEST = 1e-300


class Network(NamedTuple):
    """A component of n variables and k pairs laid out for message passing: two messages a pair, sorted by sender.

    Attributes:
        log_odds: (n,) of the priors.
        first_message: (n + 1,) variable i sends the messages from first_message[i] to first_message[i + 1].
        receiver: (2k,) the variable that each goes to.
        reverse: (2k,) the message that comes back.
        tables: (2k, 4) weighs the values 0 0, 0 1, 1 0, 1 1 of sender and receiver; the largest is 1, and a weight below 1 /
            LARGEST, 0 as well, counts as that.
        of_pair: (k,) the message of each of the component's pairs that its smaller variable sends.
        log_scale: what the weights were divided by altogether.
    """

    log_odds: _Floats
    first_message: _Integers
    receiver: _Integers
    reverse: _Integers
    tables: _Floats
    of_pair: _Integers
    log_scale: float


@compile_inline
def log_odds_of(variable: int, messages: _Floats, network: Network) -> float:
    """Log-odds of a variable: its prior's and those of all messages to it."""
    product, total = 1.0, network.log_odds[variable]
    for e in range(network.first_message[variable], network.first_message[variable + 1]):
        product *= messages[network.reverse[e]]
        if product > STEP:
            product /= STEP
            total += LOG_STEP
        elif product < 1 / STEP:
            product *= STEP
            total -= LOG_STEP
    return float(total + math.log(product))


@compile_inline
def odds_of(total: float) -> float:
    """Odds from log-odds, limited to [1 / LARGEST_ODDS, LARGEST_ODDS]."""
    return math.exp(min(max(total, -LOG_LARGEST_ODDS), LOG_LARGEST_ODDS))


@compile_inline
def without(odds: float, message: float) -> float:
    """A variable's odds without one of the messages to it: the cavity."""
    return min(max(odds / message, 1 / LARGEST), LARGEST)


@compile_lazily
def iterate(
    messages: _Floats, network: Network, fixed: _Values, damping: float, tolerance: float, sweeps: int
) -> tuple[int, bool]:
    """Sweeps over all variables in order, changing `messages` in place, until none changes by more than `tolerance` of itself.

    A variable uses what it received in the same sweep; a fixed one goes on saying what it says. A new message is the old one to
    the power of `damping`, times the rest of what the other messages call for.

    Returns the number of sweeps done, and whether the messages converged.
    """
    for sweep in range(sweeps):
        converged = True
        for sender in range(len(network.log_odds)):
            if fixed[sender] >= 0:
                continue
            odds = odds_of(log_odds_of(sender, messages, network))
            for e in range(network.first_message[sender], network.first_message[sender + 1]):
                cavity = without(odds, messages[network.reverse[e]])
                table = network.tables[e]
                new = (table[1] + table[3] * cavity) / (table[0] + table[2] * cavity)
                old = messages[e]
                if abs(new - old) > tolerance * min(new, old):
                    converged = False
                if damping > 0.0:
                    new = math.exp(damping * math.log(old) + (1.0 - damping) * math.log(new))
                messages[e] = new
        if converged:
            return sweep + 1, True
    return sweeps, False


@compile_inline
def cell_weights(
    e: int, sender: int, messages: _Floats, network: Network, fixed: _Values, odds: _Floats
) -> tuple[float, float, float, float]:
    """The weights of the four values of a pair: its table and both cavities, relative to false where a variable is free."""
    receiver, tables = network.receiver[e], network.tables
    a0, a1 = 1.0, without(odds[sender], messages[network.reverse[e]])
    if fixed[sender] >= 0:
        a0, a1 = 1.0 - fixed[sender], 1.0 * fixed[sender]
    b0, b1 = 1.0, without(odds[receiver], messages[e])
    if fixed[receiver] >= 0:
        b0, b1 = 1.0 - fixed[receiver], 1.0 * fixed[receiver]
    return tables[e, 0] * a0 * b0, tables[e, 1] * a0 * b1, tables[e, 2] * a1 * b0, tables[e, 3] * a1 * b1


@compile_lazily
def believe(messages: _Floats, network: Network, fixed: _Values, odds: _Floats, marginals: _Floats) -> float:
    """Fills in the odds, 1 for a fixed variable, and P(true) of each variable; returns the sum of their log Z_i."""
    log_z = 0.0
    for i in range(len(network.log_odds)):
        if fixed[i] >= 0:
            odds[i], marginals[i] = 1.0, fixed[i]
            log_z += fixed[i] * network.log_odds[i]
        else:
            total = log_odds_of(i, messages, network)
            odds[i] = odds_of(total)
            marginals[i] = 1.0 / (1.0 + 1.0 / odds[i])
            log_z += max(total, 0.0) + math.log1p(math.exp(-abs(total)))
    return log_z


@compile_lazily
def describe(messages: _Floats, network: Network, fixed: _Values, marginals: _Floats, explained: _Floats) -> float:
    """Fills in P(true) of each variable, and how much of its neighbours' variance it explains: see below.

    Returns the Bethe approximation of log Z (Yedidia, Freeman and Weiss, 2005), where "false" weighs 1 in every prior: the
    sum of log Z_i over variables and of log Z_ij - log Z_i - log Z_j over pairs. A fixed variable's Z_i is 1.
    Knowing x_i takes cov(x_i, x_j)^2 / var(x_i) off the variance of x_j; explained[i] is the sum of that over its neighbours.
    """
    count = len(network.log_odds)
    odds = np.empty(count)
    log_z = believe(messages, network, fixed, odds, marginals)
    explained[:] = 0.0
    for i in range(count):
        for e in range(network.first_message[i], network.first_message[i + 1]):
            j = network.receiver[e]
            if i < j:
                w00, w01, w10, w11 = cell_weights(e, i, messages, network, fixed, odds)
                weight = w00 + w01 + w10 + w11
                # Z_i and Z_j from the same cavities, so that the limits on them cancel.
                quotient = weight
                if fixed[i] < 0:
                    quotient /= 1.0 + without(odds[i], messages[network.reverse[e]]) * messages[network.reverse[e]]
                if fixed[j] < 0:
                    quotient /= 1.0 + without(odds[j], messages[e]) * messages[e]
                log_z += math.log(max(quotient, SMALLEST))
                squared = ((w00 / weight) * (w11 / weight) - (w01 / weight) * (w10 / weight)) ** 2
                explained[i] += squared
                explained[j] += squared
    for i in range(count):
        variance = (1.0 / (1.0 + odds[i])) * (1.0 / (1.0 + 1.0 / odds[i]))
        explained[i] = explained[i] / variance if fixed[i] < 0 and variance > CERTAIN_VARIANCE else 0.0
    return log_z


@compile_lazily
def add_pair_marginals(messages: _Floats, network: Network, fixed: _Values, share: float, joint: _Floats) -> None:
    """Adds `share` of P(sender, receiver) to joint[e], shape (2k, 4), for each message from the smaller variable."""
    count = len(network.log_odds)
    odds, marginals = np.empty(count), np.empty(count)
    believe(messages, network, fixed, odds, marginals)
    for i in range(count):
        for e in range(network.first_message[i], network.first_message[i + 1]):
            if i < network.receiver[e]:
                cells = cell_weights(e, i, messages, network, fixed, odds)
                weight = cells[0] + cells[1] + cells[2] + cells[3]
                for cell in range(4):
                    joint[e, cell] += share * cells[cell] / weight
