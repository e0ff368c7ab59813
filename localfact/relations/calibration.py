"""A map that takes a language model's bias out of its relation probabilities, fitted on labelled pairs.

A model has its own idea of how often each label is right: one that calls nearly everything neutral may still order pairs well
by its odds of entailment against contradiction. The map is a logistic regression on the three log-probabilities with one slope
for all labels and a bias for each (vector scaling with a shared slope; Guo et al. 2017).
"""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from localfact.errors import InputError
from localfact.records import Distribution, Pair, Record, RelationProbabilities
from localfact.vocabulary import RelationLabel

#: The labels in the order of the arrays here.
LABELS = (RelationLabel.ENTAILMENT.value, RelationLabel.CONTRADICTION.value, RelationLabel.NEUTRAL.value)
#: A probability of zero has no logarithm; no model's is meant to be smaller.
LEAST = 1e-9
#: The weight of (slope - 1) squared beside the summed log loss: few pairs move it little, and biases are free.
SLOPE_PENALTY = 1.0
#: Slopes are searched in these bounds.
SLOPES = (0.05, 10.0)
FOLDS = 10
DECIMALS = 4
#: The fewest pairs of each label that a map is fitted to.
FEWEST_PAIRS = 10

Slope = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Bias = Annotated[float, Field(allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0, le=1)]
#: Of entailment, contradiction and neutral.
Shares = tuple[Share, Share, Share]
#: The shares of the labels among balanced pairs, as the reference pairs are.
BALANCED = (1 / 3, 1 / 3, 1 / 3)
#: The shares among claims of language models and the snippets that a search found for them, estimated without any label on half
#: of OpenFactCheck's topics (`python -m scripts.measure_calibration`).
FOUND_SHARES = (0.528, 0.215, 0.257)
#: The same among claims and snippets that were found for other claims of the response, estimated on the same half
#: (`python -m scripts.measure_other_pairs`).
OTHER_SHARES = (0.07, 0.138, 0.792)
#: The shares of a map for claims beside what a search found.
SEARCHED = {"shares": FOUND_SHARES, "other_shares": OTHER_SHARES}


class LabelledPair(NamedTuple):
    """A pair and the relation that it truly has."""

    pair: Pair
    label: RelationLabel


class RelationMap(Record):
    """From a relation model's probabilities to calibrated ones.

    The softmax of slope x log-probability + bias, label by label, times the label's share, normalised.

    Attributes:
        slopes, biases: of entailment, contradiction and neutral, in this order. The biases sum to zero.
        shares: how often each label is right where the map is used, in the same order; a third each for balanced pairs.
        other_shares: the same of passages that were found for other claims alone; None where they are not told apart.
        pairs: on which pairs it was fitted: the name of the reference pairs, or the hash of a user's own.
        model: whose predictions it calibrates: the identity of a relation model, without the seed of its prompts' markers.
    """

    slopes: tuple[Slope, Slope, Slope] = (1.0, 1.0, 1.0)
    biases: tuple[Bias, Bias, Bias] = (0.0, 0.0, 0.0)
    shares: Shares = BALANCED
    other_shares: Shares | None = Field(default=None, exclude_if=lambda value: value is None)
    pairs: str = ""
    model: str = ""

    def __call__(self, said: Distribution) -> Distribution:
        """The calibrated prediction, with what the model said as `raw`; what was read stays as it is."""
        (probabilities,) = self.calibrate(probabilities_of([said])).tolist()
        raw = RelationProbabilities(entailment=said.entailment, contradiction=said.contradiction, neutral=said.neutral)
        return said.model_copy(update={**dict(zip(LABELS, probabilities, strict=True)), "raw": raw})

    def calibrate(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """The calibrated probabilities of n pairs, (n, 3) to (n, 3); rows sum to one."""
        logits = np.array(self.slopes) * log_shares(probabilities) + np.array(self.biases) + np.log(self.shares)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        calibrated: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
        return calibrated


def fit_relation_map(said: Sequence[Distribution], labelled: Sequence[LabelledPair], name: str) -> RelationMap:
    """The map with the least log loss on labelled pairs, a slope of 1 preferred.

    The labels share one slope unless three do better on pairs held out.

    Args:
        said: what the model says of n pairs.
        labelled: the pairs. Where each label is as frequent as the others, so is it, in the mean, after the map.
        name: of the pairs, for the map.

    Raises:
        InputError: fewer than FEWEST_PAIRS pairs of a label.
    """
    truth, groups = places_of(labelled), [one.pair.premise for one in labelled]
    for place, label in enumerate(LABELS):
        if (count := int((truth == place).sum())) < FEWEST_PAIRS:
            raise InputError(f"{count} pairs of {label} are too few to calibrate by; it takes {FEWEST_PAIRS} of each relation.")
    probabilities = probabilities_of(said)
    one, three = (
        log_losses(calibrate_held_out(probabilities, truth, groups, shared=shared), truth).sum() for shared in (True, False)
    )
    slopes, biases = _fit(probabilities, truth, shared=bool(one <= three))
    return RelationMap(slopes=slopes, biases=biases, pairs=name)


def calibrate_held_out(
    probabilities: NDArray[np.float64], truth: NDArray[np.int64], groups: Sequence[str], *, shared: bool
) -> NDArray[np.float64]:
    """The probabilities of each pair under a map that was fitted without its fold, (n, 3) to (n, 3).

    Args:
        truth: (n,) places in LABELS.
        groups: n names, the premises say; the folds are made of whole groups, in the order of their names.
        shared: whether the labels share one slope.
    """
    places = {group: place % FOLDS for place, group in enumerate(sorted(set(groups)))}
    fold = np.array([places[group] for group in groups])
    calibrated = np.empty_like(probabilities)
    for number in sorted(set(places.values())):
        learned, left = fold != number, fold == number
        slopes, biases = _fit(probabilities[learned], truth[learned], shared=shared)
        calibrated[left] = RelationMap(slopes=slopes, biases=biases).calibrate(probabilities[left])
    return calibrated


def places_of(labelled: Sequence[LabelledPair]) -> NDArray[np.int64]:
    """(n,) the places of the true relations in LABELS."""
    return np.array([LABELS.index(one.label) for one in labelled], dtype=np.int64)


def log_losses(probabilities: NDArray[np.float64], truth: NDArray[np.int64]) -> NDArray[np.float64]:
    """(n,) minus the logarithm of the true label's probability, in nats."""
    losses: NDArray[np.float64] = -log_shares(probabilities)[np.arange(len(truth)), truth]
    return losses


def log_shares(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, 3) logarithms of the probabilities, normalised over the labels."""
    floored = np.maximum(probabilities, LEAST)
    logarithms: NDArray[np.float64] = np.log(floored / floored.sum(axis=1, keepdims=True))
    return logarithms


def probabilities_of(said: Sequence[Distribution]) -> NDArray[np.float64]:
    """(n, 3) the predictions as an array."""
    return np.array([[getattr(one, label) for label in LABELS] for one in said], dtype=np.float64).reshape(-1, len(LABELS))


Triple = tuple[float, float, float]


def _fit(probabilities: NDArray[np.float64], truth: NDArray[np.int64], *, shared: bool) -> tuple[Triple, Triple]:
    """Slopes and biases with the least penalised log loss, rounded; the problem is convex."""
    from scipy.optimize import minimize

    logs, count = log_shares(probabilities), 1 if shared else len(LABELS)
    onehot = np.eye(len(LABELS))[truth]

    def loss(parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        slopes, biases = parameters[:count], parameters[count:]
        logits = slopes * logs + biases
        highest = logits.max(axis=1, keepdims=True)
        normaliser = highest + np.log(np.exp(logits - highest).sum(axis=1, keepdims=True))
        excess = np.exp(logits - normaliser) - onehot  # the gradient by the logits
        by_slope = (excess * logs).sum(axis=0)
        gradient = [by_slope.sum()] if shared else by_slope
        value = float((normaliser[:, 0] - logits[np.arange(len(truth)), truth]).sum())
        value += SLOPE_PENALTY * float(((slopes - 1) ** 2).sum())
        return value, np.concatenate([gradient + 2 * SLOPE_PENALTY * (slopes - 1), excess.sum(axis=0)])

    start = np.concatenate([np.ones(count), np.zeros(len(LABELS))])
    bounds = [SLOPES] * count + [(None, None)] * len(LABELS)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 1000, "ftol": 1e-12}).x
    slopes = np.broadcast_to(found[:count], (len(LABELS),))
    biases = found[count:] - found[count:].mean()
    return _round_three(slopes), _round_three(biases)


def _round_three(values: NDArray[np.float64]) -> Triple:
    first, second, third = (round(float(value), DECIMALS) + 0.0 for value in values)
    return first, second, third
