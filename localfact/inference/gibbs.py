"""Marginals by sampling: seeded replica exchange; slow, but shares no approximation with the other solvers.

Gibbs sampling alone stays in one of the two opposite states that graphs of relations tend to have. Replicas at higher
temperatures cross between them and pass their states down (Geyer, 1991; Hukushima and Nemoto, 1996). tempering.py has the inner
loop.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localfact.errors import InputError
from localfact.inference.components import Component

#: Sweeps over all variables of each replica, burn-in included.
SWEEPS = 20_000
#: Share of the sweeps that is not counted.
BURN_IN = 0.2
#: The counted sweeps of each ladder are split into this many batches, taken as independent.
BATCHES = 20
#: The highest temperature's inverse: a weight w counts as w ** BETA_MINIMUM there.
BETA_MINIMUM = 0.25
#: Rungs of a ladder: RUNGS_BASE + RUNGS_PER_ROOT * sqrt(n), as the spread of log weights grows with sqrt(n).
RUNGS_BASE, RUNGS_PER_ROOT = 4, 0.5
#: A zero weighs exp(-HARDNESS * beta / (1 - beta)) at inverse temperature beta: hot replicas may pass through it.
HARDNESS = 10.0
#: The same at beta = 1, where it stands for infinity: no zero is ever chosen that can be avoided.
HARDEST = 1e12
#: How many standard errors `error` spans: the largest of some hundred deviations is about 3.
STANDARD_ERRORS = 3.0


@dataclass(frozen=True, eq=False)
class Samples:
    """The result of sampling.

    Attributes:
        marginals: (n,) P(true) of each variable.
        error: see `sample`.
        sweeps: over all variables, of each replica, burn-in included.
    """

    marginals: NDArray[np.float64]
    error: float
    sweeps: int


@dataclass(frozen=True, eq=False)
class _Pulls:
    """A component as the sampler needs it; (k, 2) arrays are by puller false, true (see tempering.py)."""

    prior_odds: NDArray[np.float64]
    hard_prior_odds: NDArray[np.int64]
    puller: NDArray[np.int64]
    receiver: NDArray[np.int64]
    pulls: NDArray[np.float64]
    hard_pulls: NDArray[np.int64]


def sample(component: Component, seed: int, *, sweeps: int = SWEEPS) -> Samples:
    """Samples the marginals of a consistent component.

    Two ladders of replicas at inverse temperatures from 1 to BETA_MINIMUM, one started all false and one all true, are swept in
    turn, and neighbours on a ladder exchange their states. The marginals are averages of the conditional probability of each
    variable at its turn in the coldest replica of either ladder (Rao-Blackwell). Random numbers come from numpy's PCG64
    started with the seed, in a fixed order: the same component, seed and sweeps give the same numbers.

    `error` is the larger, over all variables, of STANDARD_ERRORS standard errors, from the spread of the batch means of both
    ladders, and half the difference between the two ladders. It tells of sampling noise and of ladders that have not met; it
    is no bound, and it knows nothing of states that neither ladder ever saw.

    Zeros: the start states are moved to the nearest assignments without any (`_consistent_start`), and only hot replicas pass
    through zeros. Where a zero separates assignments, moves between them depend on swaps alone: right in the limit, slow where
    many zeros must be crossed at once, and then not always visible in `error`.

    Raises:
        InputError: fewer sweeps than leave one for each batch, or a seed below 0.
    """
    counted = int(sweeps * (1 - BURN_IN)) // BATCHES
    if counted < 1:
        raise InputError(f"Sampling needs at least {int(BATCHES / (1 - BURN_IN))} sweeps, not {sweeps}.")
    if seed < 0:
        raise InputError(f"The seed must be a number from 0, not {seed}.")
    from localfact.inference.tempering import temper

    network = _pulls(component)
    count = len(component.variables)
    betas = _betas(count)
    sums = np.zeros((2, BATCHES, count))
    states, odds, hard_odds, levels = _ladders(component, network, len(betas))
    temper(
        np.random.Generator(np.random.PCG64(seed)),
        states,
        odds,
        hard_odds,
        levels,
        np.searchsorted(network.puller, np.arange(count + 1)),
        network.receiver,
        network.pulls,
        network.hard_pulls,
        betas,
        np.append(HARDEST, HARDNESS * betas[1:] / (1 - betas[1:])),
        sweeps - counted * BATCHES,
        sums,
        counted,
    )
    return _summary(sums / counted, sweeps)


def _ladders(component: Component, network: _Pulls, rungs: int) -> tuple[NDArray[Any], ...]:
    """The states, odds, hard_odds and levels of all replicas at the start, each (2 ladders, rungs, ...), rungs all alike."""
    starts = [_consistent_start(component, value) for value in (0, 1)]
    replicas = [(start, *_levels(component, network, start)) for start in starts]
    return tuple(np.repeat(np.stack(arrays)[:, None], rungs, axis=1) for arrays in zip(*replicas, strict=True))


def _betas(count: int) -> NDArray[np.float64]:
    """The inverse temperatures, 1 first, in equal ratios."""
    return np.geomspace(1.0, BETA_MINIMUM, RUNGS_BASE + int(RUNGS_PER_ROOT * np.sqrt(count)))


def _pulls(component: Component) -> _Pulls:
    first, second = component.pairs.T
    puller = np.concatenate([first, second])
    order = np.argsort(puller, kind="stable")
    tables = np.concatenate([component.log_tables, component.log_tables.transpose(0, 2, 1)])[order]
    weights, zeros = _split_zeros(tables)
    priors, prior_zeros = _split_zeros(component.log_priors)
    return _Pulls(
        prior_odds=priors[:, 1] - priors[:, 0],
        hard_prior_odds=prior_zeros[:, 0] - prior_zeros[:, 1],
        puller=puller[order],
        receiver=np.concatenate([second, first])[order],
        pulls=np.ascontiguousarray(weights[:, :, 1] - weights[:, :, 0]),
        hard_pulls=np.ascontiguousarray(zeros[:, :, 0] - zeros[:, :, 1]),
    )


def _split_zeros(log_weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Log weights as their finite part, 0 for a weight of 0, and a 1 where there is such a zero."""
    zeros = np.isneginf(log_weights)
    return np.where(zeros, 0.0, log_weights), zeros.astype(np.int64)


def _levels(
    component: Component, network: _Pulls, state: NDArray[np.int8]
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """The odds (n,), hard_odds (n,) and levels (2,) of a state, as tempering.py keeps them up to date."""
    values = state.astype(np.int64)
    count = len(values)
    pull = (np.arange(len(network.puller)), values[network.puller])
    odds = network.prior_odds + np.bincount(network.receiver, network.pulls[pull], minlength=count)
    hard_odds = network.hard_prior_odds + np.bincount(network.receiver, network.hard_pulls[pull], minlength=count).astype(
        np.int64
    )

    first, second = component.pairs.T
    of_variables = component.log_priors[np.arange(count), values]
    of_pairs = component.log_tables[np.arange(len(first)), values[first], values[second]]
    weights, zeros = _split_zeros(np.concatenate([of_variables, of_pairs]))
    return odds, hard_odds, np.array([weights.sum(), -zeros.sum()])


def _consistent_start(component: Component, value: int) -> NDArray[np.int8]:
    """An assignment of positive weight, each variable at `value` unless those before it leave it no choice.

    Zeros over pairs forbid pairs of values, which is 2-satisfiability: a value whose consequences do not contradict one
    another can be kept for good (Even, Itai and Shamir, 1976).
    """
    forbidden: list[list[tuple[int, int, int]]] = [[] for _ in component.log_priors]
    for pair, own, other in zip(*np.nonzero(np.isneginf(component.log_tables)), strict=True):
        first, second = component.pairs[pair].tolist()
        forbidden[first].append((int(own), second, int(other)))
        forbidden[second].append((int(other), first, int(own)))
    state = np.full(len(forbidden), -1, dtype=np.int8)
    wanted = np.full(len(forbidden), value)
    given = np.isneginf(component.log_priors)
    wanted[given[:, 0]], wanted[given[:, 1]] = 1, 0
    for variable in np.argsort(~given.any(axis=1), kind="stable").tolist():
        choices = (int(wanted[variable]),) if given[variable].any() else (value, 1 - value)
        if state[variable] < 0 and not any(_assign(forbidden, state, variable, choice) for choice in choices):
            raise ValueError("the component has no assignment of positive weight")
    if given[np.arange(len(state)), state].any():
        raise ValueError("the component has no assignment of positive weight")
    return state


def _assign(forbidden: list[list[tuple[int, int, int]]], state: NDArray[np.int8], variable: int, value: int) -> bool:
    """Sets a variable and all that follows from it; where that contradicts itself, nothing is set and the answer is False."""
    consequences = {variable: value}
    to_follow = [variable]
    for current in to_follow:
        for own, other, excluded in forbidden[current]:
            if own != consequences[current] or state[other] == 1 - excluded:
                continue
            if state[other] == excluded or consequences.get(other) == excluded:
                return False
            if other not in consequences:
                consequences[other] = 1 - excluded
                to_follow.append(other)
    state[list(consequences)] = list(consequences.values())
    return True


def _summary(means: NDArray[np.float64], sweeps: int) -> Samples:
    """Marginals and error from the (ladders, batches, n) batch means."""
    ladders, batches, _ = means.shape
    of_ladders = means.mean(axis=1)
    within = means.var(axis=1, ddof=1).mean(axis=0)
    standard_error = np.sqrt(within / (ladders * batches))
    half_gap = np.ptp(of_ladders, axis=0) / 2
    error = float(np.max(np.maximum(STANDARD_ERRORS * standard_error, half_gap)))
    return Samples(np.clip(of_ladders.mean(axis=0), 0.0, 1.0), error, sweeps)
