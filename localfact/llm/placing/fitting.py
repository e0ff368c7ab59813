"""Whether a model would run on this machine, from the sizes on its card: nothing is there yet, or loaded."""

from localfact.errors import MissingError
from localfact.llm.placing.hardware import Hardware
from localfact.llm.placing.model_shape import shape_of_card
from localfact.llm.placing.settings import placement_of
from localfact.models.model_card import ModelCard

#: The share of the memory that a model beside a language model, or beside none, may take.
BESIDE_SHARE = 0.5


def fits_here(card: ModelCard, hardware: Hardware) -> bool | None:
    """Whether the model has room on this machine; None where its card does not say how large it is."""
    if "llm" not in card.roles or card.kv_bytes is None:
        return None if card.weights_gib is None else card.weights_gib.stored <= BESIDE_SHARE * hardware.memory_gib
    shape = shape_of_card(card)
    if shape is None:
        return None
    try:
        placement_of(card, shape, hardware, {}, 0.0)
    except MissingError:
        return False
    return True
