"""Model cards: what a model is for, which revision of it, and where its weights lie. Beside the road; stages are given cards.

A card is a YAML file in `models/`; a user's own card, or a folder of weights, is named by its path.
"""

import hashlib
import importlib.util
from pathlib import Path
from typing import Annotated, Literal, get_args

import yaml
from pydantic import Field, ValidationError

from localfact.errors import InputError, MissingError
from localfact.locations import data_folder
from localfact.records import Record

Role = Literal["embedder", "relations", "llm"]

#: Digits of a revision that are enough to tell two apart in an identity.
REVISION_DIGITS = 12
WEIGHT_PATTERNS = ("*.safetensors", "*.bin")


class ModelCard(Record):
    """What is known of a model before it is loaded.

    Attributes:
        name: what the user types. roles: what it can be used for.
        hub: its id on the Hugging Face hub. revision: a commit there, or "sha256:..." of its weights.
        package: an installed Python package that carries the weights in its folder `package_folder`.
        folder: where the weights lie, for a card made from a folder of weights.
        dimension: length of an embedder's vectors. window: how many tokens it reads at once.
    """

    name: str
    revision: str
    roles: tuple[Role, ...]
    description: str = ""
    hub: str | None = None
    package: str | None = None
    package_folder: str = "."
    folder: Path | None = None
    dimension: Annotated[int, Field(gt=0)] | None = None
    window: Annotated[int, Field(gt=0)] | None = None
    dtype: Literal["float32", "float16", "bfloat16"] = "float32"
    licence: str = "unknown"

    @property
    def identity(self) -> str:
        """Name and shortened revision: what a corpus or a run keeps to know the model again."""
        return f"{self.name}@{self.revision.removeprefix('sha256:')[:REVISION_DIGITS]}"


def list_cards() -> list[ModelCard]:
    """All cards that come with localfact, by name."""
    return [read_card(file) for file in sorted(data_folder("models").glob("*.yaml"))]


def load_card(name_or_path: str) -> ModelCard:
    """The card of that name; or the card in that YAML file; or a card made for that folder of weights.

    Raises:
        MissingError: there is neither a card of that name nor such a file or folder.
        InputError: the YAML is not a card, or the folder holds no weights.
    """
    path = Path(name_or_path)
    shipped = data_folder("models") / f"{name_or_path}.yaml"
    if path.name == name_or_path and shipped.is_file():
        return read_card(shipped)
    if path.is_dir():
        return card_of_folder(path)
    if path.suffix in {".yaml", ".yml"} and path.is_file():
        return read_card(path)
    known = ", ".join(card.name for card in list_cards())
    raise MissingError(f"There is no model '{name_or_path}'. Known: {known}. Or give the path of a card or of a model folder.")


def read_card(file: Path) -> ModelCard:
    """The card in a YAML file.

    Raises:
        InputError: it is not YAML, or a field is missing, unknown or of the wrong kind.
    """
    try:
        return ModelCard.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"The model card {file} is not YAML: {' '.join(str(error).split())}") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "the whole file"
        raise InputError(f"The model card {file} cannot be used: {field}: {first['msg']}") from error


def card_of_folder(folder: Path) -> ModelCard:
    """A card for a folder of weights; its revision is the hash of those weights, so that changed weights are another model.

    Raises:
        InputError: the folder holds no weights.
    """
    weights = sorted(file for pattern in WEIGHT_PATTERNS for file in folder.glob(pattern))
    if not weights:
        raise InputError(f"The folder {folder} holds no model weights ({' or '.join(WEIGHT_PATTERNS)}).")
    digest = hashlib.sha256()
    for file in weights:
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    name = folder.resolve().name
    return ModelCard(name=name, revision=f"sha256:{digest.hexdigest()}", roles=get_args(Role), folder=folder)


def weights_folder(card: ModelCard) -> Path:
    """Where the weights of `card` lie on this machine. Nothing is downloaded.

    Raises:
        MissingError: they are not on this machine; the message says how to get them.
    """
    if card.folder is not None:
        return card.folder
    if card.package is None:
        raise MissingError(f"The weights of '{card.name}' are not on this machine. Give the path of a folder that holds them.")
    package = importlib.util.find_spec(card.package)
    if package is None or package.origin is None:
        raise MissingError(
            f"The weights of '{card.name}' come in the package {card.package}, which is not installed: make setup"
        )
    return Path(package.origin).parent / card.package_folder
