"""The maps of relations that ship: each is of a card here, of the prompt as it is, and of the reference pairs as they are."""

import pytest

from localfact.methods.relation_maps import FOLDER, read_relation_map
from localfact.models.cards import load_card
from localfact.prompts import prompt_hashes
from localfact.relations.calibration import FOUND_SHARES
from localfact.relations.reference import reference_name
from localfact.relations.windows import READING_VERSION
from localfact.runtime.locations import data_folder

FILES = sorted((data_folder("models") / FOLDER).glob("*.json"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_map_that_ships_is_of_what_is_asked_now(file) -> None:
    """After a change of prompt or pairs: `localfact calibrate --relations reference --model NAME --relation-map FILE`."""
    found, card = read_relation_map(file), load_card(file.stem)
    for known in (
        f"revision={card.revision}",
        f"dtype={card.dtype}",
        f"prompt={prompt_hashes()['relation']}",
        f"reading={READING_VERSION}",
    ):
        assert f"{known}," in found.model, known
    assert (found.pairs, found.shares) == (reference_name(), FOUND_SHARES)


def test_maps_ship() -> None:
    assert FILES
