"""Fits the map of a language model's relations outside a run: on the pairs that ship, or on a user's own."""

from collections.abc import Sequence
from contextlib import AsyncExitStack

from localfact.errors import EngineError
from localfact.methods.engine import engine_facts
from localfact.methods.options import Options
from localfact.methods.relation_maps import calibrated_model
from localfact.methods.relations import LLM, find_relation_model
from localfact.records import Distribution, Failure, Pair
from localfact.relations.calibration import SEARCHED, LabelledPair
from localfact.relations.labels import label_of
from localfact.relations.map_quality import RelationCalibration, measure_map
from localfact.relations.reference import reference_name, reference_pairs
from localfact.runtime.interrupts import interruptible

__all__ = ["LabelledPair", "RelationCalibration", "calibrate_on", "labelled_pair"]


def labelled_pair(pair: Pair, label: str) -> LabelledPair | None:
    """A pair with its true relation, in any of the usual spellings; None where the label is none of them."""
    relation = label_of(label)
    return None if relation is None else LabelledPair(pair, relation)


async def calibrate_on(options: Options, labelled: Sequence[LabelledPair] | None, name: str = "") -> RelationCalibration:
    """Asks the language model of the options about labelled pairs, fits its map, and measures it.

    Args:
        labelled: None for the pairs that ship. name: of others.

    Raises:
        InputError: too few pairs of a relation. EngineError: the model failed at a pair.
    """
    if labelled is None:
        labelled, name = reference_pairs(), reference_name()
    found = find_relation_model(options.model_copy(update={"relations": LLM}))
    async with AsyncExitStack() as opened:
        with interruptible():
            model = found.open(opened)
        said = await model.relate([one.pair for one in labelled])
    for number, one in enumerate(said, start=1):
        if isinstance(one, Failure):
            raise EngineError(f"Pair {number} could not be related: {one.reason}")
    known = [one for one in said if isinstance(one, Distribution)]
    found_quality = measure_map(known, labelled, name, calibrated_model(engine_facts(options)))
    if name != reference_name():
        return found_quality
    relation_map = found_quality.relation_map.model_copy(update=SEARCHED)
    return found_quality.model_copy(update={"relation_map": relation_map})
