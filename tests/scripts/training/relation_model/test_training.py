"""The trainer learns, goes on where it was stopped as if it had not been, and leaves out what it is told to leave out."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification

from scripts.training.relation_model import training
from scripts.training.relation_model.dropout import with_fast_dropout
from scripts.training.relation_model.training import (
    Item,
    Stage,
    Trainer,
    best_temperature,
    disagreement,
    micro_batches,
    schedule,
)

#: Which of the first words stands in an item is its label.
ITEMS = [Item((1, 4 + number % 3, 10 + number % 7, 2), (0, 0, 1, 1), number % 3) for number in range(60)]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """More threads cost such a small model more than they bring."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def model() -> Any:
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=32,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        num_labels=3,
        attention_probs_dropout_prob=0.0,
        hidden_dropout_prob=0.1,
    )
    made = BertForSequenceClassification(config)
    with_fast_dropout(made, 0.1)
    return made


def trainer(folder: Path, say: Callable[[str], None] = lambda _: None) -> Trainer:
    return Trainer(model(), {"known": ITEMS, "few": ITEMS[:5]}, folder, seed=3, say=say)


def stages(epochs: int = 8) -> list[Stage]:
    return [
        Stage("first", [ITEMS] * 2, rate=1e-3, rows=8, agreement=1.0, keep_best=False),
        Stage("second", [ITEMS] * epochs, rate=1e-2, rows=8, average=0.5),
    ]


def test_what_can_be_learned_is_learned(tmp_path: Path) -> None:
    one = trainer(tmp_path)
    before = one.measure({"known": ITEMS}).accuracy
    one.train(stages(40))
    assert one.measure({"known": ITEMS}).accuracy == 1.0 > before


def test_a_stopped_training_ends_with_the_weights_of_one_that_was_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "STEPS_BETWEEN_STATES", 5)
    whole = trainer(tmp_path / "whole")
    whole.train(stages(2))
    for stop_at in (7, 19, 27):
        steps = 0

        def stopped(self: Trainer, *given: Any, step: Any = Trainer._step, last: int = stop_at) -> float:
            nonlocal steps
            steps += 1
            if steps > last:
                raise KeyboardInterrupt
            return float(step(self, *given))

        folder = tmp_path / str(stop_at)
        with monkeypatch.context() as patch:
            patch.setattr(Trainer, "_step", stopped)
            with pytest.raises(KeyboardInterrupt):
                trainer(folder).train(stages(2))
        told: list[str] = []
        again = trainer(folder, told.append)
        again.train(stages(2))
        assert told[0].startswith("Goes on at ")
        ended, expected = again.model.state_dict(), whole.model.state_dict()
        assert all(torch.equal(ended[name], expected[name]) for name in expected)


def test_a_stage_that_makes_the_model_worse_leaves_it_as_it_was(tmp_path: Path) -> None:
    wrong = [item._replace(label=(item.label + 1) % 3) for item in ITEMS]
    after = [Stage("second", [wrong] * 3, rate=1e-2, rows=8, average=0.5)]
    one, other = trainer(tmp_path / "one"), trainer(tmp_path / "other")
    one.train([*stages(20), *after])
    other.train([*stages(20), after[0]._replace(keep_best=False)])
    assert one.measure({"known": ITEMS}).accuracy == 1.0
    assert other.measure({"known": ITEMS}).accuracy < 0.5


def test_the_table_of_words_is_not_learned(tmp_path: Path) -> None:
    one = trainer(tmp_path)
    before = one.model.get_input_embeddings().weight.clone()
    one.train(stages(1))
    assert torch.equal(one.model.get_input_embeddings().weight, before)


def test_a_set_of_few_pairs_is_not_watched(tmp_path: Path) -> None:
    assert [len(labels) for _, labels in trainer(tmp_path).outputs()] == [len(ITEMS)]


def test_outputs_are_the_items_own_however_many_are_read_together(tmp_path: Path) -> None:
    one = trainer(tmp_path)
    together = one.logits(ITEMS[:5])  # no multiple of the rows that a batch is filled up to
    alone = torch.cat([one.logits([item]) for item in ITEMS[:5]])
    assert together.shape == (5, 3)
    assert torch.allclose(together, alone, atol=0.02)  # bfloat16


def test_micro_batches_hold_every_item_once_and_little_padding() -> None:
    items = [Item((1,) * length, (0,) * length, 0) for length in (3, 90, 100, 7, 8, 180, 9, 100)]
    batches = list(micro_batches(items, 640))
    assert sorted(len(item.ids) for batch in batches for item in batch) == sorted(len(item.ids) for item in items)
    for batch in batches:
        lengths = [len(item.ids) for item in batch]
        assert min(lengths) >= training.SHORTEST_SHARE * max(lengths)
        assert max(lengths) * len(lengths) <= 640


def test_the_rate_rises_to_its_height_and_falls_to_a_tenth() -> None:
    rates = [schedule(step, 100, 0.1) for step in range(100)]
    assert rates[:10] == pytest.approx([step / 10 for step in range(1, 11)])
    assert rates[10:] == sorted(rates[10:], reverse=True)
    assert rates[-1] == pytest.approx(0.1, abs=1e-3)


def test_readings_that_agree_do_not_differ_and_others_do_whichever_is_first() -> None:
    first, second = torch.tensor([[2.0, 0.0, 0.0]]), torch.tensor([[0.0, 2.0, 0.0]])
    assert float(disagreement(first, first + 1)) == pytest.approx(0, abs=1e-6)
    chances = torch.softmax(first, -1)[0]
    assert float(disagreement(first, second)) == pytest.approx(float((chances[0] - chances[1]) * 2))
    assert float(disagreement(first, second)) == pytest.approx(float(disagreement(second, first)))


def test_the_temperature_undoes_what_outputs_were_multiplied_by() -> None:
    generator = torch.Generator().manual_seed(0)
    true = torch.randn(20_000, 3, generator=generator)
    labels = torch.multinomial(torch.softmax(true, -1), 1, generator=generator)[:, 0]
    assert best_temperature([(true * 2.5, labels)]) == pytest.approx(2.5, rel=0.05)
    assert math.isfinite(best_temperature([(true[:3], labels[:3])]))
