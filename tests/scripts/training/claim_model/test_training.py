"""The training of the small language model, with a tiny Llama: it learns, goes on, and its difference is what is loaded."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_models import tiny_llama
from transformers import AutoModelForCausalLM, AutoTokenizer

from localfact.claims.small_lm.frame import Frame
from localfact.models.adapters import add_adapter
from scripts.training import train_claims
from scripts.training.claim_model.low_rank import LowRank, save, with_low_rank
from scripts.training.claim_model.sets import Row
from scripts.training.measure_claims import matches, repeated, word_f1
from scripts.training.train_claims import Item, item_of, learn, loss_of


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_llama(tmp_path_factory.mktemp("base"))


def loaded(base: Path) -> tuple[Any, dict[str, LowRank]]:
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    return model, with_low_rank(model, rank=4)


@pytest.fixture(scope="module")
def items(base: Path) -> list[Item]:
    tokenizer = AutoTokenizer.from_pretrained(base)
    rows = [Row("s", Frame("T", "", f"S{number}."), (f"C{number % 3}.",), (), "t") for number in range(24)]
    return [item_of(row, tokenizer) for row in rows]


def total(model: Any, items: list[Item]) -> float:
    with torch.no_grad():
        return float(loss_of(model, items)) / sum(len(item.ids) - item.begin for item in items)


def test_a_row_is_its_prompt_its_claims_and_the_end(base: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(base)
    row = Row("s", Frame("T", "", "S."), ("A.", "B."), (), "t")
    item = item_of(row, tokenizer)
    assert tokenizer.decode(item.ids[: item.begin]) == row.frame.prompt
    assert tokenizer.decode(item.ids[item.begin : -1]) == "A.\nB."
    assert item.ids[-1] == tokenizer.eos_token_id


def test_only_the_claims_count_and_padding_changes_nothing(base: Path, items: list[Item]) -> None:
    model, _ = loaded(base)
    longer = Item((*items[0].ids, *items[0].ids), len(items[0].ids))
    with torch.no_grad():
        first, second, both = (float(loss_of(model, some)) for some in ([items[0]], [longer], [items[0], longer]))
        last = float(loss_of(model, [items[0]._replace(begin=len(items[0].ids) - 1)]))
    assert both == pytest.approx(first + second, rel=0.02)  # bfloat16
    assert last < first


@pytest.mark.slow
def test_it_learns_and_what_is_saved_is_what_was_learned(
    tmp_path: Path, base: Path, items: list[Item], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train_claims, "RATE", 1e-2)
    model, learned = loaded(base)
    before = total(model, items)
    learn(model, learned, items, tmp_path / "work", epochs=12, seed=1)
    assert total(model, items) < before / 2
    save(learned, tmp_path / "adapter")
    again = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    add_adapter(again, tmp_path / "adapter")
    assert total(again, items) == pytest.approx(total(model, items), rel=0.1)  # the difference is kept in 16 bits


@pytest.mark.slow
def test_a_stopped_training_ends_with_the_weights_of_one_that_was_not(
    tmp_path: Path, base: Path, items: list[Item], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train_claims, "STEPS_BETWEEN_STATES", 2)
    model, whole = loaded(base)
    learn(model, whole, items, tmp_path / "whole", epochs=2, seed=1)
    steps = 0

    def stopped(*given: Any, step: Any = train_claims.one_step) -> float:
        nonlocal steps
        steps += 1
        if steps > 3:
            raise KeyboardInterrupt
        return float(step(*given))

    model, cut = loaded(base)
    with monkeypatch.context() as patch:
        patch.setattr(train_claims, "one_step", stopped)
        with pytest.raises(KeyboardInterrupt):
            learn(model, cut, items, tmp_path / "cut", epochs=2, seed=1)
    model, cut = loaded(base)
    learn(model, cut, items, tmp_path / "cut", epochs=2, seed=1)
    assert all(torch.equal(one.up, cut[name].up) and torch.equal(one.down, cut[name].down) for name, one in whole.items())


def test_claims_match_one_to_one_by_their_words() -> None:
    assert word_f1("Ada was born.", "ada WAS born") == 1
    gold = ["Ada was born in Lyon.", "Ada is a chemist."]
    assert matches(["Ada was born in Lyon!", "Ada was born in Lyon."], gold) == 1
    assert matches(["Ada is a French chemist.", "In Lyon Ada was born."], gold) == 2
    assert matches([], gold) == matches(gold, []) == 0


def test_a_claim_that_stands_twice_is_counted() -> None:
    assert repeated([["A is B.", "a is b", "C is D."], ["A is B."]]) == 1
