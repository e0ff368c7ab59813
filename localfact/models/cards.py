"""Model cards: what a model is for, which revision of it, and where its weights lie.

A card is a YAML file in `models/`; a user's own card, or a folder of weights, is named by its path; any other model of the
Hugging Face hub by its id there.
"""

import importlib.machinery
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from localfact.errors import InputError, MissingError
from localfact.models.files import WEIGHT_PATTERNS, weight_files
from localfact.models.model_card import HUB_ID, ModelCard, Role
from localfact.models.weights import find_weights, places, revision_of, state_of
from localfact.runtime.cures import install_all
from localfact.runtime.locations import data_folder
from localfact.runtime.path_names import check_folder
from localfact.runtime.plain_yaml import read_yaml_file
from localfact.runtime.suggesting import suggest

BRANCH = "main"
#: What weights of which nothing else is known may be; a model that writes claims is a difference, and has a card.
ANY_ROLES: tuple[Role, ...] = ("embedder", "reranker", "relations", "llm")
CARD_SUFFIXES = (".yaml", ".yml")
#: Models that no longer come with localfact, and what is said to whoever names one, also by a run that was made with it.
WITHDRAWN: Mapping[str, str] = {
    "builtin-nli": "builtin-nli no longer comes with localfact, as on other people's claims it was worth no more than word "
    "overlap. Take --relations lexical, which is word overlap, or a language model: --model with --relations llm.",
}


def list_cards() -> list[ModelCard]:
    """All cards that come with localfact, by name."""
    return [read_card(file) for file in sorted(data_folder("models").glob("*.yaml"))]


def everywhere(name_or_path: str) -> str:
    """The name or path of a card that holds in any working directory: paths become absolute."""
    path = Path(name_or_path)
    is_name = path.name == name_or_path and (data_folder("models") / f"{name_or_path}.yaml").is_file()
    return name_or_path if is_name or not path.exists() else str(path.absolute())


def load_card(name_or_path: str) -> ModelCard:
    """The card of that name, file, folder or hub id, with the revision of the weights if they are on this machine.

    Raises:
        MissingError, InputError: as `find_card`.
    """
    return resolve_card(find_card(name_or_path))


def find_card(name_or_path: str) -> ModelCard:
    """The card of that name; or the card in that YAML file; or a card made for that folder of weights, or for that hub id.

    Raises:
        MissingError: there is neither a card of that name nor such a file or folder, and it is no hub id.
        InputError: the YAML is not a card, the folder holds no weights, or the model is one of WITHDRAWN.
    """
    path = Path(name_or_path)
    shipped = data_folder("models") / f"{name_or_path}.yaml"
    if path.name == name_or_path and shipped.is_file():
        return read_card(shipped)
    if path.is_dir():
        return card_of_folder(path)
    if path.suffix in CARD_SUFFIXES:
        if path.is_file():
            return read_card(path)
    elif HUB_ID.fullmatch(name_or_path):
        return card_of_hub(name_or_path)
    if name_or_path in WITHDRAWN:
        raise InputError(WITHDRAWN[name_or_path])
    if len(path.parts) > 2 or path.is_absolute():
        raise MissingError(
            f"There is no folder and no card {name_or_path}. Give the path of a folder of weights, or of a card."
        )
    meant = suggest(name_or_path, (card.name for card in list_cards()))
    raise MissingError(
        f"There is no model '{name_or_path}'. {meant}`localfact models list` has all; or give a hub id (owner/name), or the "
        "path of a card or a folder."
    )


def read_card(file: Path) -> ModelCard:
    """The card in a YAML file.

    Raises:
        InputError: it is not YAML, or a field is missing, unknown or of the wrong kind.
    """
    try:
        return ModelCard.model_validate(read_yaml_file(file))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "the whole file"
        why = first["msg"].removeprefix("Value error, ")
        raise InputError(f"The model card {file} cannot be used: {field}: {why}") from error
    except OSError as error:
        raise InputError(f"The model card {file} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise InputError(f"The model card {file} is not YAML: {error}") from error


def card_of_folder(folder: Path) -> ModelCard:
    """A card for a folder of weights; its revision is that of its files (`weights.revision_of`), its name is only shown.

    Raises:
        InputError: the folder holds no weights.
    """
    if not weight_files(folder):
        raise InputError(f"The folder {folder} holds no model weights ({' or '.join(WEIGHT_PATTERNS)}).")
    return ModelCard(name=_name_of(folder.resolve().name), revision=revision_of(folder), roles=ANY_ROLES, folder=folder)


def _name_of(name: str) -> str:
    """A folder's name as that of a card, which no path is made of."""
    try:
        return check_folder(name)
    except ValueError:
        return "weights"


def card_of_hub(hub: str) -> ModelCard:
    """The card that comes with localfact for a model of the hub; else one with nothing but its id."""
    for card in list_cards():
        if card.hub == hub:
            return card
    return ModelCard(name=hub.split("/")[1], hub=hub, revision=BRANCH, roles=ANY_ROLES)


def resolve_card(card: ModelCard) -> ModelCard:
    """The card with the folder of its weights and their true revision, where they are on this machine; else the card itself."""
    if card.source is None or card.folder is not None:
        return card
    found = find_weights(card.name, card.source, card.revision)
    if found is None:
        return card
    return card.model_copy(update={"folder": found, "revision": revision_of(found)})


def weights_folder(card: ModelCard) -> Path:
    """The folder on this machine with the weights of `card`. Nothing is downloaded.

    Raises:
        MissingError: they are not on this machine; the message says how to get them.
    """
    if card.folder is not None:
        return card.folder
    if card.package is not None:
        package = find_package(card.package)
        if package is None:
            raise MissingError(
                f"The weights of '{card.name}' come in the package {card.package}, which is not installed: {install_all()}"
            )
        return package / card.package_folder
    if card.shipped is not None:
        shipped = data_folder("models") / card.shipped
        if not weight_files(shipped):
            raise MissingError(
                f"The weights of '{card.name}' come with localfact, and {shipped} holds none. Install it again: {install_all()}"
            )
        return shipped
    if card.source is None:
        raise MissingError(f"The card of '{card.name}' names no hub and no folder. Give the path of a folder of weights.")
    found = find_weights(card.name, card.source, card.revision)
    if found is None:
        raise MissingError(missing_message(card, card.source))
    return found


def find_package(name: str) -> Path | None:
    """The folder of an installed package, without importing it or its parents; the current folder installs nothing."""
    here = Path.cwd()
    path: Sequence[str] = [entry for entry in sys.path if entry and Path(entry).resolve() != here]
    for part in name.split("."):
        found = importlib.machinery.PathFinder.find_spec(part, path)
        if found is None or not found.submodule_search_locations:
            return None
        path = list(found.submodule_search_locations)
    return Path(path[0])


def missing_message(card: ModelCard, source: str) -> str:
    """One sentence: what is missing, where it was looked for, how to get it."""
    looked = []
    for place in places(card.name, source, card.revision):
        state = "" if place.folder is None else state_of(place, source, card.revision)
        looked.append(place.shown if state in ("", "nothing there", "unfinished, no weights") else f"{place.shown} ({state})")
    ships = (data_folder("models") / f"{card.name}.yaml").is_file()
    what = card.name if ships else card.hub or card.name
    return (
        f"The weights of '{what}' are not on this machine (looked in {'; '.join(looked)}); "
        f"get them with: localfact models pull {what if ships or card.hub else 'PATH_OF_ITS_CARD'}"
    )
