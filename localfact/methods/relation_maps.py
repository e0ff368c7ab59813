"""Which map calibrates a language model's relations: one that the options name, the one that ships, or one yet to be fitted."""

from pathlib import Path

from localfact.errors import InputError
from localfact.methods.engine import EngineFacts
from localfact.methods.factreasoner import FactReasonerMethod
from localfact.methods.method import Method
from localfact.methods.options import Options
from localfact.methods.registry import relation_names
from localfact.methods.relations import LLM
from localfact.relations.calibration import RelationMap
from localfact.relations.llm import llm_identity
from localfact.relations.reference import reference_name
from localfact.runtime.fitted_files import read_fitted
from localfact.runtime.locations import data_folder

#: The folder of the maps that ship, beside the model cards.
FOLDER = "relation-maps"
MAKE = "`localfact calibrate --relations reference --model NAME --relation-map FILE` makes one."


def relation_map_of(method: Method, options: Options, facts: EngineFacts | None) -> RelationMap | str | None:
    """The map of a run, or the name of the pairs to fit one on; None if relations are not calibrated.

    Raises:
        InputError: an option about maps that would change nothing, or a map that is none, or another model's.
    """
    asks = LLM in relation_names(method, options)
    wanted = method.calibrates if isinstance(method, FactReasonerMethod) else False
    if options.calibrated is not None:
        wanted = options.calibrated
    if options.relation_map is not None and options.calibrated is None:
        wanted = True
    if not asks or facts is None:
        return None
    if not wanted:
        if options.relation_map is not None:
            raise InputError("--uncalibrated takes relations as they come, so --relation-map would change nothing.")
        return None
    if options.probability == "raw":
        raise InputError("A map calibrates normalised probabilities: add --uncalibrated to --probability raw.")
    model = calibrated_model(facts)
    if options.relation_map is not None:
        return check_model(read_relation_map(options.relation_map), model, options.relation_map)
    return next((known for known in shipped_maps() if known.model == model), reference_name())


def calibrated_model(facts: EngineFacts) -> str:
    """The identity that maps name a language model by: weights, prompt, and how it is asked."""
    return llm_identity(facts.identity, policy=facts.policy, own=facts.own_prompts)


def shipped_maps() -> list[RelationMap]:
    """The maps that come with localfact, of models that were run."""
    folder = data_folder("models") / FOLDER
    return [read_relation_map(file) for file in sorted(folder.glob("*.json"))]


def read_relation_map(file: Path) -> RelationMap:
    """Reads a map from a file that `localfact calibrate --relation-map` wrote.

    Raises:
        InputError: it cannot be read, or is no such map.
    """
    return read_fitted(RelationMap, file, "map of relations", MAKE)


def check_model(found: RelationMap, model: str, file: Path) -> RelationMap:
    """The map; raises InputError where it is another model's, or another prompt's."""
    if found.model != model:
        raise InputError(f"The map in {file} is of another model, or of another prompt: {found.model}. {MAKE}")
    return found
