"""Lists the models that there are: what they are for, how large, under which licence, whether they fit here, and are here."""

from pathlib import Path

from localfact.errors import MissingError
from localfact.llm.placing.hardware import Hardware, detect
from localfact.llm.placing.model_shape import shape_of_card
from localfact.llm.placing.planner import PlacementPlanner
from localfact.llm.placing.settings import precision
from localfact.models.cards import list_cards, weights_folder
from localfact.models.model_card import ModelCard
from localfact.records import Record

#: The share of the memory that a model beside a language model, or beside none, may take.
BESIDE_SHARE = 0.5


class ListedModel(Record):
    """A model by its card.

    Attributes:
        weights_gib: by the card; None where it says nothing.
        fits: whether this machine has room for it; None where that is not known.
        tried: where figures of it stand, if it was ever run by those who make localfact; "" if it never was.
        weights: their folder; None where they are not on this machine.
        bytes: of the files in that folder.
    """

    name: str
    roles: tuple[str, ...]
    window: int | None
    weights_gib: float | None
    licence: str
    gated: bool
    fits: bool | None
    tried: str
    weights: str | None
    bytes: int


def list_models(hardware: Hardware | None = None) -> list[ListedModel]:
    """All models with a card, by name, for a machine; this one when None."""
    machine = hardware or detect()
    return [_describe(card, machine) for card in list_cards()]


def _describe(card: ModelCard, hardware: Hardware) -> ListedModel:
    try:
        folder = weights_folder(card)
    except MissingError:
        folder = None
    return ListedModel(
        name=card.name,
        roles=card.roles,
        window=card.window,
        weights_gib=card.weights_gib.stored if card.weights_gib else None,
        licence=card.licence,
        gated=card.gated,
        fits=True if folder is not None and card.weights_gib is None else fits_here(card, hardware),
        tried=card.tried,
        weights=None if folder is None else str(folder),
        bytes=0 if folder is None else folder_size(folder),
    )


def fits_here(card: ModelCard, hardware: Hardware) -> bool | None:
    """Whether the model has room on this machine; None where its card does not say how large it is."""
    if "llm" not in card.roles or card.kv_bytes is None:
        return None if card.weights_gib is None else card.weights_gib.stored <= BESIDE_SHARE * hardware.memory_gib
    shape = shape_of_card(card)
    if shape is None:
        return None
    try:
        PlacementPlanner(card, shape, hardware, {}, precision(card, shape, hardware), reserved_gib=0.0).best()
    except MissingError:
        return False
    return True


def folder_size(folder: Path) -> int:
    """Bytes of the files in a folder of weights, those that links lead to included."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
