"""Lists the models that there are: what they are for, how large, under which licence, whether they fit here, and are here."""

from pathlib import Path

from localfact.errors import MissingError
from localfact.llm.placing.fitting import fits_here
from localfact.llm.placing.hardware import Hardware, detect
from localfact.models.cards import list_cards, weights_folder
from localfact.models.model_card import ModelCard
from localfact.records import Record


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


def folder_size(folder: Path) -> int:
    """Bytes of the files in a folder of weights, those that links lead to included."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
