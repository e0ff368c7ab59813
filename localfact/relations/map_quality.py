"""What a map of relations does to labelled pairs: how well probabilities fit them before, and after."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from localfact.records import Distribution, Record
from localfact.relations.calibration import (
    LABELS,
    LabelledPair,
    RelationMap,
    calibrate_held_out,
    fit_relation_map,
    log_losses,
    places_of,
    probabilities_of,
)


class Fit(Record):
    """How well probabilities fit labelled pairs.

    Attributes:
        log_loss: the mean, in nats; 1.0986 for a third each.
        accuracy: the share whose most probable relation is the true one.
        called: relation -> the share that is called so.
    """

    log_loss: float
    accuracy: float
    called: dict[str, float]


class RelationCalibration(Record):
    """A map, and what it does to the pairs that it was fitted on.

    Attributes:
        raw: as the model gives them. calibrated: each pair by a map that was fitted without it and its fold.
    """

    relation_map: RelationMap
    pairs: int
    raw: Fit
    calibrated: Fit


def measure_map(said: Sequence[Distribution], labelled: Sequence[LabelledPair], name: str, model: str) -> RelationCalibration:
    """Fits a map on labelled pairs and measures it on those that each fold leaves out; see `fit_relation_map`.

    Args:
        name: of the pairs. model: whose predictions they are; both are kept in the map.
    """
    fitted = fit_relation_map(said, labelled, name).model_copy(update={"model": model})
    truth, probabilities = places_of(labelled), probabilities_of(said)
    groups = [one.pair.premise for one in labelled]
    held_out = calibrate_held_out(probabilities, truth, groups, shared=len(set(fitted.slopes)) == 1)
    return RelationCalibration(
        relation_map=fitted, pairs=len(labelled), raw=_fit_of(probabilities, truth), calibrated=_fit_of(held_out, truth)
    )


def _fit_of(probabilities: NDArray[np.float64], truth: NDArray[np.int64]) -> Fit:
    called = probabilities.argmax(axis=1)
    return Fit(
        log_loss=float(log_losses(probabilities, truth).mean()),
        accuracy=float((called == truth).mean()),
        called={label: float(np.mean(called == place)) for place, label in enumerate(LABELS)},
    )
