"""The cross-encoder of a card that says how much of a premise is read: only picked windows, and a model of its own by name."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from tiny_albert import SENTENCES, WINDOW, tiny_albert

from localfact.models.cards import load_card
from localfact.models.model_card import ModelCard
from localfact.records import Distribution, Failure, Pair
from localfact.relations.crossencoder import CrossEncoderRelationModel, cross_encoder_identity
from localfact.relations.window_selection import TokenStarts, WindowSelection

CLAIM = "Granite was cut."
LONG = Pair(" ".join(SENTENCES * 3), CLAIM)


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> ModelCard:
    return load_card(str(tiny_albert(tmp_path_factory.mktemp("albert"))))


def reading(card: ModelCard, **said: Any) -> ModelCard:
    return card.model_copy(update=said)


def related(card: ModelCard, *pairs: Pair) -> Sequence[Distribution | Failure]:
    model = CrossEncoderRelationModel(card, device="cpu")
    try:
        return asyncio.run(model.relate(pairs))
    finally:
        model.close()


def fits(card: ModelCard, *pairs: Pair) -> list[bool]:
    model = CrossEncoderRelationModel(card, device="cpu")
    try:
        return [asyncio.run(model.fits(pair)) for pair in pairs]
    finally:
        model.close()


def plain_starts(card: ModelCard) -> TokenStarts:
    """The tokenizer, called plainly."""
    from transformers import AutoTokenizer

    assert card.folder is not None
    tokenizer: Any = AutoTokenizer.from_pretrained(card.folder)

    def starts(text: str) -> list[int]:
        offsets = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        return [start for start, _ in offsets]

    return starts


def windows_of(card: ModelCard, pair: Pair, size: int, most: int) -> list[Pair]:
    """What is to be read."""
    return WindowSelection(plain_starts(card), WINDOW - 3, size=size, most=most).windows(pair)


@pytest.mark.parametrize("most", [1, 2])
def test_a_long_premise_is_judged_by_the_most_decided_of_its_picked_windows(card: ModelCard, most: int) -> None:
    picked = windows_of(card, LONG, 40, most)
    assert len(picked) == most
    (said,) = related(reading(card, premise_window=40, windows_read=most), LONG)
    alone = [one for one in related(card, *picked) if isinstance(one, Distribution)]
    assert [one.windows for one in alone] == [1] * most
    decided = max(alone, key=lambda one: max(one.entailment, one.contradiction))
    assert isinstance(said, Distribution)
    assert said.window is not None
    assert LONG.premise[said.window.start : said.window.end] == picked[alone.index(decided)].premise
    assert said.share == sum(map(len, {window.premise for window in picked})) / len(LONG.premise) < 1
    assert said == decided.model_copy(update={"windows": most, "window": said.window, "share": said.share})


def test_the_windows_counted_are_those_read_not_those_there(card: ModelCard) -> None:
    counts = [
        one.windows
        for most in (1, 2, None)
        for one in related(reading(card, premise_window=40, windows_read=most), LONG)
        if isinstance(one, Distribution)
    ]
    assert counts[:2] == [1, 2]
    assert counts[2] > 4


def test_a_short_premise_is_read_as_without_picking(card: ModelCard) -> None:
    short = Pair(SENTENCES[0][:30], CLAIM)
    assert related(reading(card, premise_window=40, windows_read=1), short) == related(card, short)


def test_a_passage_as_hypothesis_is_read_in_pieces_each_with_its_own_windows(card: ModelCard) -> None:
    passages = Pair(" ".join(SENTENCES), " ".join(reversed(SENTENCES)))
    picked = windows_of(card, passages, 30, 1)
    assert len({pair.hypothesis for pair in picked}) == len(picked) > 3
    (said,) = related(reading(card, premise_window=30, windows_read=1), passages)
    assert isinstance(said, Distribution)
    assert said.windows == len(picked)


def test_a_pair_fits_if_its_premise_is_no_longer_than_one_window_or_only_one_is_read(card: ModelCard) -> None:
    claim, short = "A claim.", Pair("Granite was cut in the quarries.", "A claim.")
    longer = Pair("Granite was cut in the quarries of the island.", claim)
    assert fits(card, short, longer) == [True, True]
    size = len(plain_starts(card)(short.premise))
    for most in (None, 2):
        assert fits(reading(card, premise_window=size, windows_read=most), short, longer) == [True, False]
    assert fits(reading(card, premise_window=size, windows_read=1), short, longer) == [True, True]


def test_how_a_premise_is_read_is_part_of_the_identity_and_cards_that_do_not_say_keep_theirs(
    card: ModelCard,
) -> None:
    cards = [card, *(reading(card, premise_window=size, windows_read=most) for size in (96, 128) for most in (None, 1, 2))]
    identities = [cross_encoder_identity(one) for one in [*cards, reading(card, windows_read=2)]]
    assert len(set(identities)) == len(identities)
    assert identities[0] == f"{card.identity}+float32+reading=1"
    assert reading(card, premise_window=None, windows_read=None) == card
    model = CrossEncoderRelationModel(cards[-1], device="cpu")
    model.close()
    assert model.identity == identities[-2]
