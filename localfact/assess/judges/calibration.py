"""Takes a language model's bias out of the probability that FActScore's way gives True, by pairs whose truth is known.

A logistic regression on the log-odds of True against False, as the map of relations is one on three labels
(`relations/calibration.py`).
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from localfact.errors import EngineError, InputError
from localfact.records import Record
from localfact.runtime.tasks import together

#: A probability of zero or one has no finite log-odds.
LEAST = 1e-9
#: The weight of (slope - 1) squared beside the summed log loss: few pairs move it little, and the bias is free.
SLOPE_PENALTY = 1.0
SLOPES = (0.05, 10.0)
DECIMALS = 4


class TruthMap(Record):
    """From the probability of True as a model says it to a calibrated one: the logistic of slope x log-odds + bias.

    Attributes:
        pairs: on which pairs it was fitted.
    """

    slope: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    bias: Annotated[float, Field(allow_inf_nan=False)] = 0.0
    pairs: str = ""

    def __call__(self, true: float) -> float:
        """The calibrated probability, for one in [0, 1]."""
        return float(1 / (1 + np.exp(-(self.slope * _log_odds(true) + self.bias))))


class JudgedPair(NamedTuple):
    """A claim beside one passage, and whether the passage makes it true."""

    claim: str
    passage: str
    true: bool


#: Returns the probability of True for a claim beside one passage.
AskTruth = Callable[[str, str], Coroutine[Any, Any, float]]


class TruthCalibration:
    """The map of a run: given, or fitted before the first judgement.

    Args:
        fitted: the map; None has it fitted. labelled: on which pairs. name: of the pairs.
    """

    def __init__(self, fitted: TruthMap | None, labelled: Sequence[JudgedPair] = (), name: str = "") -> None:
        self._map = fitted
        self._labelled = labelled
        self._name = name
        self._fitting = asyncio.Lock()

    async def fit(self, ask: AskTruth) -> TruthMap:
        """The map; the first call asks about the pairs where none was given.

        Raises:
            EngineError: the model fails at one of them.
        """
        async with self._fitting:
            if self._map is None:
                try:
                    said = await together(ask(one.claim, one.passage) for one in self._labelled)
                except InputError as error:
                    raise EngineError(f"The judge cannot be calibrated: {error} Leave --calibrated out.") from error
                self._map = fit_truth_map(said, [one.true for one in self._labelled], self._name)
        return self._map


def fit_truth_map(said: ArrayLike, truth: ArrayLike, name: str = "") -> TruthMap:
    """The map with the least log loss, true and false pairs weighing the same in all; a slope of 1 is preferred.

    Args:
        said: (n,) the probability of True, in [0, 1].
        truth: (n,) whether each is true; some are, and some are not.
        name: of the pairs.
    """
    from scipy.optimize import minimize

    odds, true = _log_odds(np.asarray(said, dtype=np.float64)), np.asarray(truth, dtype=bool)
    weights = np.where(true, len(true) / (2 * true.sum()), len(true) / (2 * (~true).sum()))
    signs = np.where(true, 1.0, -1.0)

    def loss(parameters: NDArray[np.float64]) -> float:
        slope, bias = parameters
        return float((weights * np.logaddexp(0, -signs * (slope * odds + bias))).sum() + SLOPE_PENALTY * (slope - 1) ** 2)

    slope, bias = minimize(loss, np.array([1.0, 0.0]), method="L-BFGS-B", bounds=[SLOPES, (None, None)]).x
    return TruthMap(slope=round(float(slope), DECIMALS), bias=round(float(bias), DECIMALS) + 0.0, pairs=name)


def _log_odds(probability: ArrayLike) -> NDArray[np.float64]:
    """Logarithms of p / (1 - p), of the shape of the probabilities."""
    clipped = np.clip(np.asarray(probability, dtype=np.float64), LEAST, 1 - LEAST)
    return np.asarray(np.log(clipped) - np.log1p(-clipped))
