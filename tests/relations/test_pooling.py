"""A relation model pooled with word overlap: the arithmetic, and that it is done on passages where a card says so."""

import asyncio
from pathlib import Path

import pytest
from tiny_models import tiny_onnx

from localfact.models.card_parts import OpinionPool
from localfact.models.cards import load_card
from localfact.models.model_card import ModelCard
from localfact.records import Distribution, Failure, Pair
from localfact.relations.crossencoder import CrossEncoderRelationModel, cross_encoder_identity
from localfact.relations.lexical.model import LexicalRelationModel
from localfact.relations.pooling import SENTENCE_WORDS, drop_stray_contradiction, holds_details, is_passage, pool_distributions

SURE = Distribution(entailment=0.8, contradiction=0.1, neutral=0.1, windows=2)
UNSURE = Distribution(entailment=0.2, contradiction=0.4, neutral=0.4)
POOL = OpinionPool(model=0.8, overlap=0.4)
POOL_OF_EQUALS = OpinionPool(model=1, overlap=1)
PAIR = Pair("Ada Holm built the lighthouse of Skagen in 1862; it has four lamps.", "Ada Holm lit four lamps.")
SENTENCE = "The lighthouse was built of granite."
CLAIMS = (SENTENCE, "The lighthouse was built of brick.")
#: In short words, each a token of the tiny model.
PASSAGE = " ".join(["the sea is deep ."] * (SENTENCE_WORDS // 5 + 1))


def test_odds_are_multiplied_to_their_powers() -> None:
    found = pool_distributions(PAIR, SURE, UNSURE, OpinionPool(model=1, overlap=0.5))
    # 8 to 1 against either other label, times the root of 1 to 2
    assert found.entailment / found.neutral == pytest.approx(8 * 0.5**0.5)
    assert found.contradiction == pytest.approx(found.neutral)
    assert found.entailment + found.contradiction + found.neutral == pytest.approx(1)
    assert found.windows == 2


def test_two_that_agree_are_surer_together_and_none_rules_anything_out_alone() -> None:
    assert pool_distributions(PAIR, SURE, SURE, OpinionPool(model=1, overlap=1)).entailment > SURE.entailment
    never = Distribution(entailment=0.0, contradiction=0.0, neutral=1.0)
    assert pool_distributions(PAIR, SURE, never, OpinionPool(model=1, overlap=0.1)).entailment > 0.5
    # 0 is read as one in ten thousand
    together = pool_distributions(PAIR, never, never, OpinionPool(model=0.5, overlap=0.5))
    assert together.neutral / together.entailment == pytest.approx(10_000)


def test_word_overlap_turns_the_model_round_only_where_every_number_and_name_of_the_claim_is_there() -> None:
    against = Distribution(entailment=0.05, contradiction=0.85, neutral=0.1)
    overlap = Distribution(entailment=0.98, contradiction=0.01, neutral=0.01)
    assert pool_distributions(PAIR, against, overlap, POOL_OF_EQUALS).label == "entailment"
    for claim in ("Ada Holm lit three lamps.", "Ada Holm lit the lamps in 1863.", "Eva Holm lit four lamps."):
        held = pool_distributions(Pair(PAIR.premise, claim), against, overlap, POOL_OF_EQUALS)
        assert held.label == "contradiction"
        assert held.contradiction < 0.6  # less sure, as far as it goes


def test_where_word_overlap_would_not_turn_it_round_the_pool_is_the_plain_one_whatever_is_missing() -> None:
    mild = Distribution(entailment=0.5, contradiction=0.2, neutral=0.3)
    pairs = (PAIR, Pair(PAIR.premise, "Eva Holm lit three lamps."))
    assert len({pool_distributions(pair, SURE, mild, POOL_OF_EQUALS) for pair in pairs}) == 1


def test_details_are_numbers_dates_and_names_and_may_stand_anywhere() -> None:
    assert holds_details(PAIR.premise, "Four lamps were lit by Ada Holm in 1862.")
    assert holds_details(PAIR.premise, "The lighthouse is tall.")
    assert not holds_details(PAIR.premise, "The lighthouse of Lindesnes has lamps.")
    assert not holds_details(PAIR.premise, "The lighthouse was built in May.")


def test_a_passage_has_more_than_forty_words() -> None:
    assert not is_passage("word " * 40)
    assert is_passage("word " * 41)


@pytest.fixture
def card(tmp_path: Path) -> ModelCard:
    return load_card(str(tiny_onnx(tmp_path, window=128))).model_copy(update={"pool": POOL})


@pytest.mark.slow
def test_sentence_pairs_are_the_models_own_and_passages_are_pooled_with_what_all_of_them_says(card: ModelCard) -> None:
    long = f"{PASSAGE} {PASSAGE} {SENTENCE} {PASSAGE} {PASSAGE}"
    pairs = [Pair(premise, claim) for premise in (SENTENCE, PASSAGE, long) for claim in CLAIMS]
    model, alone = CrossEncoderRelationModel(card), CrossEncoderRelationModel(card.model_copy(update={"pool": None}))
    try:
        said, single = (asyncio.run(each.relate(pairs)) for each in (model, alone))
    finally:
        model.close()
        alone.close()
    assert list(said[:2]) == list(single[:2])
    assert (
        list(said[2:])
        == [both(*each) for each in zip(pairs, single, LexicalRelationModel().predictions(pairs), strict=True)][2:]
    )
    assert isinstance(single[-1], Distribution)
    assert single[-1].windows > 1


def both(pair: Pair, said: Distribution | Failure, overlap: Distribution) -> Distribution:
    assert isinstance(said, Distribution)
    return pool_distributions(pair, said, overlap, POOL)


def test_the_identity_says_how_it_is_pooled_and_with_what(card: ModelCard) -> None:
    identity = cross_encoder_identity(card)
    assert LexicalRelationModel().identity in identity
    other = OpinionPool(model=0.8, overlap=0.5)
    assert len({identity, *(cross_encoder_identity(card.model_copy(update={"pool": pool})) for pool in (other, None))}) == 3


def test_a_text_that_does_not_speak_of_a_claim_contradicts_it_in_nothing() -> None:
    against = Distribution(entailment=0.1, contradiction=0.7, neutral=0.2)
    claim = "The lighthouse was built by Ada Holm in 1862."
    stray = drop_stray_contradiction(Pair("Opening hours: daily", claim), against)
    assert (stray.contradiction, stray.neutral) == (0.0, pytest.approx(0.9))
    assert drop_stray_contradiction(Pair("Bo Fox built the lighthouse in 1870.", claim), against) == against
