"""The tokenizer of a model by itself: all that is needed here of a model that a server runs.

`localfact models pull NAME --tokenizer-only` fetches it into the folder that the weights would have.
"""

from pathlib import Path

from localfact.errors import MissingError
from localfact.models.cards import find_card, weights_folder
from localfact.models.files import TOKENIZER_FILES, content_hash, weight_files
from localfact.models.model_card import HUB_ID, ModelCard
from localfact.models.weights import COMMIT, places, read_pulled

#: What such a download has, in words: from Phi's to Gemma's.
SIZE = "2 to 40 MB of tokenizer, no weights"


def find_tokenizer_card(name_or_path: str) -> ModelCard:
    """`find_card` that also accepts a folder with only a tokenizer.

    Raises:
        MissingError, InputError: as `find_card`.
    """
    folder = Path(name_or_path)
    if folder.is_dir() and not weight_files(folder) and _has_tokenizer(folder):
        return ModelCard(name="tokenizer", revision=content_hash(folder), roles=("llm",), folder=folder)
    return find_card(name_or_path)


def tokenizer_folder(card: ModelCard) -> tuple[Path, str]:
    """The folder on this machine with the tokenizer of `card`, its weights there or not, and the revision that it is of.

    Raises:
        MissingError: it is not on this machine; the message says how to get it, and how large it is.
    """
    try:
        return weights_folder(card), card.revision
    except MissingError as missing:
        if card.source is None or card.wheel is not None:
            raise
        for place in places(card.name, card.source, card.revision):
            if place.folder is None or not _has_tokenizer(place.folder):
                continue
            pulled = read_pulled(place.folder)
            if pulled is None or pulled.hub not in ("", card.source):
                continue
            if pulled.revision == card.revision or not COMMIT.fullmatch(card.revision):
                return place.folder, pulled.revision
        named = str(missing).split("'")[1]
        raise MissingError(
            f"The tokenizer of '{named}' is not on this machine; get it ({SIZE}) with: localfact models pull {named} "
            "--tokenizer-only"
        ) from None


def is_hub_id(name: str) -> bool:
    """Whether a name is of the form of an id on the hub."""
    return HUB_ID.fullmatch(name) is not None


def _has_tokenizer(folder: Path) -> bool:
    return any((folder / name).is_file() for name in TOKENIZER_FILES)
