"""A calibration map of priors: how often claims are supported, given the extractor's confidence in them.

Fitted on labelled claims by `localfact calibrate --prior-map FILE`, used by the method localfact. It is isotonic: whatever the
model's scale means, higher confidence gives no lower prior (Zadrozny and Elkan, 2002).
"""

from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from localfact.errors import InputError
from localfact.records import Probability, Record
from localfact.runtime.fitted_files import read_fitted

#: The least number of supported claims, and of others, that a map is fitted to.
FEWEST_CLAIMS = 10


class PriorMap(Record):
    """A map from a claim's expected truth to its calibrated prior, linear between knots; calling it applies it.

    Attributes:
        knots: (expected truth, share supported), both in [0, 1] and never falling; before the first and after the last knot the
            map is constant.
        claims: how many labelled claims it was fitted to.
        model: whose pre-verification that was.
    """

    knots: Annotated[tuple[tuple[Probability, Probability], ...], Field(min_length=1)]
    claims: int = 0
    model: str = ""

    @model_validator(mode="after")
    def _rises(self) -> "PriorMap":
        for axis in range(2):
            values = [knot[axis] for knot in self.knots]
            if values != sorted(values):
                raise ValueError("the knots of a prior map never fall")
        return self

    def __call__(self, expected: float) -> float:
        """The calibrated prior for an expected truth, both in [0, 1]."""
        place = bisect_right(self.knots, expected, key=lambda knot: knot[0])
        if place == 0 or place == len(self.knots):
            return self.knots[max(0, place - 1)][1]
        (left, low), (right, high) = self.knots[place - 1], self.knots[place]
        return low + (high - low) * (expected - left) / (right - left)


#: The map of a model whose opinions say nothing.
UNINFORMED = PriorMap(knots=((0.0, 0.5),))


def fit_prior_map(expected: Sequence[float], supported: Sequence[bool], model: str) -> PriorMap:
    """The isotonic map with the least squared error on the labels.

    Args:
        expected: expected truth of each claim.
        supported: whether the annotator supports it.
        model: whose pre-verification it is.

    Raises:
        InputError: fewer than FEWEST_CLAIMS supported claims, or so few that are not.
    """
    from sklearn.isotonic import IsotonicRegression

    true = sum(supported)
    if min(true, len(supported) - true) < FEWEST_CLAIMS:
        raise InputError(
            f"{true} supported claims and {len(supported) - true} others are too few for a map of priors; it takes "
            f"{FEWEST_CLAIMS} of each at the least."
        )
    regression = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(expected, supported)
    places, shares = regression.X_thresholds_.tolist(), regression.y_thresholds_.tolist()
    return PriorMap(knots=tuple(zip(places, shares, strict=True)), claims=len(supported), model=model)


def read_prior_map(file: Path) -> PriorMap:
    """Reads a map from a file that `localfact calibrate --prior-map` wrote.

    Raises:
        InputError: it cannot be read, or is no such map.
    """
    return read_fitted(PriorMap, file, "map of priors", "`localfact calibrate --prior-map FILE` makes one.")
