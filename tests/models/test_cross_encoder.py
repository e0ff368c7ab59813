"""What relation models and rerankers share: how much a model reads, and how pairs are put together."""

from pathlib import Path
from typing import Any

import pytest
from tiny_albert import WINDOW, tiny_albert

from localfact.errors import InputError
from localfact.models.cards import load_card
from localfact.models.cross_encoder import ALONE, BATCHED, BatchShape, CrossEncoder, batches_of, window_of
from localfact.models.model_card import ModelCard


def own_card(folder: Path, **stated: Any) -> ModelCard:
    return load_card(str(folder)).model_copy(update=stated)


def test_batches_go_by_length_and_by_a_budget_of_tokens() -> None:
    lengths = [5, 60, 64, 65, 130, 3, 128]
    batches = list(batches_of(lengths, BatchShape(step=64, tokens=256)))
    assert batches == [[4], [6, 3], [2, 1, 0, 5]]
    assert list(batches_of(lengths, BatchShape(step=64, tokens=128))) == [[4], [6], [3], [2, 1], [0, 5]]
    assert list(batches_of([4, 9, 4], ALONE)) == [[1], [0], [2]]
    assert [BATCHED.rows(BATCHED.length(tokens)) for tokens in (1, 64, 65, 512, 5_000)] == [64, 64, 32, 8, 1]


def test_the_window_is_the_least_of_what_is_stated(tmp_path: Path) -> None:
    from transformers import AutoConfig, AutoTokenizer

    folder = tiny_albert(tmp_path)
    config, tokenizer = AutoConfig.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    card = own_card(folder)
    assert window_of(card, config, tokenizer) == WINDOW
    assert window_of(own_card(folder, window=20), config, tokenizer) == 20
    assert window_of(own_card(folder, window=2_000), config, tokenizer) == WINDOW

    class Unlimited:
        model_max_length = int(1e30)

    class Roberta:
        model_type, max_position_embeddings, pad_token_id = "roberta", 514, 1

    class Silent:
        model_type = "own"

    class Damaged:
        model_max_length = "64"

    assert window_of(card, Roberta(), Unlimited()) == 512
    with pytest.raises(InputError, match="`window` in its card"):
        window_of(card, Silent(), Unlimited())
    with pytest.raises(InputError, match="gives '64' as the most tokens"):
        window_of(card, config, Damaged())


def test_either_text_can_be_the_one_that_is_cut(tmp_path: Path) -> None:
    encoder = CrossEncoder(load_card(str(tiny_albert(tmp_path))), "relations", device="cpu")
    short, long = "Granite.", "stone " * WINDOW
    first = encoder.tokens(long, short, cut="only_first")
    second = encoder.tokens(short, long, cut="only_second")
    assert first.length == second.length == WINDOW
    assert sum(first.fields["token_type_ids"]) == encoder.length(short) + 1
    assert WINDOW - sum(second.fields["token_type_ids"]) == encoder.length(short) + 2


def test_what_a_model_is_no_good_for_is_said_in_the_words_of_its_use(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"these are not weights")
    card = load_card(str(tmp_path))
    with pytest.raises(InputError, match="could not be loaded as the reranker"):
        CrossEncoder(card, "reranker", device="cpu")
    with pytest.raises(InputError, match="no relation model; its roles are: reranker"):
        CrossEncoder(card.model_copy(update={"roles": ("reranker",)}), "relations", device="cpu")
