"""The inner loop of gibbs.py: two ladders of replicas, swept in turn, neighbours on a ladder swapped.

Compiled by numba where it is installed (compiling.py): gibbs.py imports this file only when a graph is sampled.
"""

import numpy as np
from numpy.typing import NDArray

from localfact.inference.compiling import compiled

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]


def _sweep(
    random: np.random.Generator,
    state: NDArray[np.int8],
    odds: _Floats,
    hard_odds: _Integers,
    levels: _Floats,
    first_pull: _Integers,
    receiver: _Integers,
    pulls: _Floats,
    hard_pulls: _Integers,
    beta: float,
    hardness: float,
    record: _Floats,
) -> None:
    """Draws every variable of one replica in order from its distribution given the others, in place.

    Args:
        random: draws one uniform number a variable.
        state: (n,) 0 or 1, changed.
        odds: (n,) log P(true) - log P(false) of each variable given the others, from the weights above 0, at beta = 1; changed.
        hard_odds: (n,) the same for zeros: how many more zeros "false" meets than "true"; changed.
        levels: (2,) the state's log weight from the weights above 0 and the zeros it meets, counted negatively; changed.
        first_pull: (n + 1,) the pulls e of variable i are those with first_pull[i] <= e < first_pull[i + 1].
        receiver: (k,) the variable each pull acts on.
        pulls: (k, 2) what the puller adds to the receiver's odds when it is false, and when true. hard_pulls: to hard_odds.
        beta: inverse temperature. hardness: minus the log weight of a zero at this temperature.
        record: (n,) each variable's probability of being true, added at its turn.
    """
    for i in range(len(state)):
        log_odds = beta * odds[i] + hardness * hard_odds[i]
        # Below -700 exp overflows; no number drawn would ever be that small.
        probability = 1.0 / (1.0 + np.exp(-log_odds)) if log_odds > -700.0 else 0.0
        record[i] += probability
        value = 1 if random.random() < probability else 0
        if value == state[i]:
            continue
        sign = 2 * value - 1
        levels[0] += sign * odds[i]
        levels[1] += sign * hard_odds[i]
        state[i] = value
        for e in range(first_pull[i], first_pull[i + 1]):
            odds[receiver[e]] += pulls[e, value] - pulls[e, 1 - value]
            hard_odds[receiver[e]] += hard_pulls[e, value] - hard_pulls[e, 1 - value]


def _swap(
    random: np.random.Generator, at_rung: _Integers, levels: _Floats, betas: _Floats, hardness: _Floats, parity: int
) -> int:
    """Offers neighbours on one ladder, every other pair of them, to change places; returns how many did."""
    swapped = 0
    for rung in range(parity, len(betas) - 1, 2):
        colder, hotter = at_rung[rung], at_rung[rung + 1]
        gain = (betas[rung] - betas[rung + 1]) * (levels[hotter, 0] - levels[colder, 0])
        gain += (hardness[rung] - hardness[rung + 1]) * (levels[hotter, 1] - levels[colder, 1])
        if np.log(1.0 - random.random()) < gain:
            at_rung[rung], at_rung[rung + 1] = hotter, colder
            swapped += 1
    return swapped


def _temper(
    random: np.random.Generator,
    states: NDArray[np.int8],
    odds: _Floats,
    hard_odds: _Integers,
    levels: _Floats,
    first_pull: _Integers,
    receiver: _Integers,
    pulls: _Floats,
    hard_pulls: _Integers,
    betas: _Floats,
    hardness: _Floats,
    burn_in: int,
    sums: _Floats,
    sweeps_per_batch: int,
) -> int:
    """Samples; the replicas' arrays are (ladders, rungs, ...), rung 0 the coldest, which alone is recorded.

    Args:
        sums: (ladders, batches, n) probabilities of true, added over the sweeps of each batch; changed.

    Returns the number of swaps; see `_sweep` for the others.
    """
    ladders, rungs = states.shape[0], states.shape[1]
    at_rung = np.empty((ladders, rungs), dtype=np.int64)
    for ladder in range(ladders):
        for rung in range(rungs):
            at_rung[ladder, rung] = rung
    unused = np.zeros(states.shape[2])
    swapped = 0
    for sweep in range(burn_in + sums.shape[1] * sweeps_per_batch):
        batch = (sweep - burn_in) // sweeps_per_batch
        for ladder in range(ladders):
            for rung in range(rungs):
                own = at_rung[ladder, rung]
                record = sums[ladder, batch] if rung == 0 and batch >= 0 else unused
                sweep_replica(
                    random,
                    states[ladder, own],
                    odds[ladder, own],
                    hard_odds[ladder, own],
                    levels[ladder, own],
                    first_pull,
                    receiver,
                    pulls,
                    hard_pulls,
                    betas[rung],
                    hardness[rung],
                    record,
                )
            swapped += swap_neighbours(random, at_rung[ladder], levels[ladder], betas, hardness, sweep % 2)
    return swapped


sweep_replica = compiled(_sweep)
swap_neighbours = compiled(_swap)
temper = compiled(_temper)
