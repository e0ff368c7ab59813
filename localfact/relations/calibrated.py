"""A relation model whose predictions are calibrated by a map; what is cached below it stays as the model said it."""

import asyncio
from collections.abc import Sequence

from localfact.errors import EngineError
from localfact.records import Distribution, Failure, Pair
from localfact.relations.calibration import SEARCHED, RelationMap, fit_relation_map
from localfact.relations.reference import reference_name, reference_pairs
from localfact.stages import RelationModel

#: The largest share of the reference pairs that a model may fail at and still get a map.
MOST_FAILED = 0.1


class CalibratedRelations:
    """A RelationModel over another one. Its identity is that model's: caches hold raw predictions.

    Attributes:
        model: the model below.
    """

    def __init__(self, model: RelationModel, relation_map: RelationMap | None) -> None:
        """`relation_map`: None has it fitted on the reference pairs, before the first prediction."""
        self.model = model
        self._map = relation_map
        self._fitting = asyncio.Lock()

    @property
    def identity(self) -> str:
        """The identity of the wrapped model."""
        return self.model.identity

    def over(self, model: RelationModel) -> "CalibratedRelations":
        """The same map over another model: a cache of the one below."""
        return CalibratedRelations(model, self._map)

    async def fit(self) -> RelationMap:
        """The map; the first call asks the model about the reference pairs where none was given.

        Raises:
            EngineError: the model fails at too many of them.
        """
        async with self._fitting:
            if self._map is None:
                self._map = await fit_on_reference_pairs(self.model)
        return self._map

    async def relate(self, pairs: Sequence[Pair]) -> Sequence[Distribution | Failure]:
        """The model's predictions, in order, each calibrated; a failure stays one."""
        calibrate = await self.fit()
        said = await self.model.relate(pairs)
        return [calibrate(one) if isinstance(one, Distribution) else one for one in said]


async def fit_on_reference_pairs(model: RelationModel) -> RelationMap:
    """Asks the model about the reference pairs, 120 of them, and fits its map on those that it relates.

    Among these every label is as frequent; the map has the shares of claims beside what a search found.

    Raises:
        EngineError: it fails at more than MOST_FAILED of them.
    """
    labelled = reference_pairs()
    said = await model.relate([one.pair for one in labelled])
    failures = [one for one in said if isinstance(one, Failure)]
    if len(failures) > MOST_FAILED * len(labelled):
        raise EngineError(
            f"The relations cannot be calibrated: {len(failures)} of {len(labelled)} reference pairs failed "
            f"({failures[0].reason.rstrip('.')}). Take --uncalibrated to use them as they come."
        )
    known = [(one, pair) for one, pair in zip(said, labelled, strict=True) if isinstance(one, Distribution)]
    fitted = fit_relation_map([one for one, _ in known], [pair for _, pair in known], reference_name())
    return fitted.model_copy(update=SEARCHED)
