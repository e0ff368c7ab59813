"""The pairs made by rule: which label, which twin, which topics, and that the same input gives the same pairs."""

import re
from collections import Counter

import pytest

from scripts.training.relation_model.examples import CONTRADICTION, ENTAILMENT, NEUTRAL, Example
from scripts.training.relation_model.hard_pairs import QUOTAS, RULE_OF_KIND, SET, hard_pairs
from scripts.training.relation_model.sentence_sets import KIND as SENTENCE_PAIR

LIGHTHOUSE = (
    "The lighthouse at Brinmouth was built in 1872 by Daniel Abbott. It was painted red and white in the following decade. "
    "The keeper had three daughters and lived in Lisbon after the war. Most visitors come on Saturday. "
    "The tower is older than the harbour. The museum opened on 4 May 1991 and it holds 3,400 letters."
)
ORCHARD = (
    "Margaret Oakley planted the orchard near Denver with the help of her neighbours. She sold 250 trees in 1903. "
    "The apples were not sold abroad. The river rose in spring and destroyed the old mill. "
    "Few farmers joined the new society because of its high fees."
)
SHORT = Example(
    "snli", SENTENCE_PAIR, "A boy runs over a bridge.", "A child is outdoors.", ENTAILMENT, ("A boy runs over a bridge.",)
)


def source(text: str, topic: str, claim: str = "Something is said.") -> Example:
    return Example("stance", "snippet", text, claim, ENTAILMENT, (topic,))


@pytest.fixture(scope="module")
def sources() -> list[Example]:
    shorts = [SHORT._replace(premise=f"A boy runs over bridge {place}.", topics=(f"short {place}",)) for place in range(20)]
    return [source(LIGHTHOUSE, "lighthouse", "The lighthouse was built in 1872."), source(ORCHARD, "orchard"), *shorts]


@pytest.fixture(scope="module")
def pairs(sources: list[Example]) -> list[Example]:
    return [pair for seed in range(12) for pair in hard_pairs(sources, seed=seed)]


def test_pairs_keep_the_topics_of_their_source_and_are_of_one_set(pairs: list[Example], sources: list[Example]) -> None:
    assert {pair.set for pair in pairs} == {SET}
    assert {pair.topics for pair in pairs} <= {example.topics for example in sources}


def test_the_same_examples_in_another_order_give_the_same_pairs(sources: list[Example]) -> None:
    assert Counter(hard_pairs(sources, seed=3)) == Counter(hard_pairs(sources[::-1], seed=3))
    assert list(hard_pairs(sources, seed=3)) != list(hard_pairs(sources, seed=4))


def test_the_sentence_that_matters_stands_in_the_premise(pairs: list[Example]) -> None:
    assert all(pair.focus in pair.premise for pair in pairs)


def test_no_pair_is_there_twice_or_under_two_labels(sources: list[Example]) -> None:
    labels: dict[tuple[str, str], list[str]] = {}
    for pair in hard_pairs(sources):
        labels.setdefault((pair.premise, pair.hypothesis), []).append(pair.label)
    assert all(len(found) == 1 for found in labels.values())


def test_a_changed_hypothesis_contradicts_and_has_an_unchanged_twin_on_the_same_premise(pairs: list[Example]) -> None:
    changed = [pair for pair in pairs if pair.kind == "year changed"]
    assert changed
    for pair in changed:
        new = set(re.findall(r"\b\d{4}\b", pair.hypothesis)) - set(re.findall(r"\b\d{4}\b", pair.premise))
        twins = [other for other in pairs if other.kind == "year changed: unchanged" and other.premise == pair.premise]
        assert pair.label == CONTRADICTION
        assert new
        assert twins
        assert {twin.label for twin in twins} == {ENTAILMENT}


def test_a_changed_premise_contradicts_the_original_and_entails_the_changed_hypothesis(pairs: list[Example]) -> None:
    premises = {pair.premise: pair for pair in pairs if pair.kind.endswith(": in the premise")}
    assert premises
    for premise, pair in premises.items():
        assert pair.label == CONTRADICTION
        assert pair.hypothesis not in premise
        assert any(
            other.premise == premise and other.hypothesis == other.focus and other.label == ENTAILMENT for other in pairs
        )


def test_a_negation_stands_in_entailed_pairs_as_often_as_the_premise_was_negated(pairs: list[Example]) -> None:
    negated = Counter(pair.kind for pair in pairs if pair.kind.startswith("negation: in"))
    assert negated["negation: in both"] == negated["negation: in the premise"] > 0


def test_a_sentence_that_was_taken_out_is_no_longer_in_the_premise(pairs: list[Example]) -> None:
    absent = [pair for pair in pairs if pair.kind == "sentence not in the premise"]
    assert absent
    assert all(pair.hypothesis not in pair.premise and pair.label == NEUTRAL for pair in absent)


def test_a_detail_is_neutral_without_and_entailed_with_the_premise_that_gives_it(pairs: list[Example]) -> None:
    labels = {pair.kind: pair.label for pair in pairs if pair.kind.startswith("detail ")}
    assert labels["detail not in the premise"] == NEUTRAL
    assert labels["detail in the premise"] == ENTAILMENT


def test_a_short_pair_keeps_its_label_among_other_sentences(pairs: list[Example]) -> None:
    longer = [pair for pair in pairs if pair.kind == "short pair in a text"]
    assert longer
    for pair in longer:
        assert pair.label == ENTAILMENT
        assert pair.focus in pair.premise
        assert len(pair.premise) > len(pair.focus)


def test_claims_lose_only_details_that_their_premise_has(pairs: list[Example]) -> None:
    claims = [pair for pair in pairs if pair.kind == "claim: year changed"]
    assert claims
    assert all(pair.label == CONTRADICTION and "1872" not in pair.hypothesis for pair in claims)


def test_no_rule_gives_more_groups_than_its_quota(monkeypatch: pytest.MonkeyPatch, sources: list[Example]) -> None:
    for rule in QUOTAS:
        monkeypatch.setitem(QUOTAS, rule, 1)
    kinds = Counter(pair.kind for pair in hard_pairs(sources))
    assert kinds["sentence not in the premise"] == 1
    # a statement, and one against it
    assert kinds.pop("with its sentence") == kinds.pop("without its sentence") == 2
    assert kinds.pop("extracted claim") == kinds.pop("extracted claim, sentence missing") == 2
    assert max(kinds.values()) == 1


def test_every_kind_with_another_name_belongs_to_a_quota() -> None:
    assert set(RULE_OF_KIND.values()) <= set(QUOTAS)


def test_with_its_sentence_a_text_decides_a_statement_and_without_it_does_not(pairs: list[Example]) -> None:
    decided = [pair for pair in pairs if pair.kind == "with its sentence"]
    assert {pair.label for pair in decided} == {ENTAILMENT, CONTRADICTION}
    undecided = {(pair.topics, pair.hypothesis): pair.premise for pair in pairs if pair.kind == "without its sentence"}
    for pair in decided:
        assert undecided[pair.topics, pair.hypothesis] == " ".join(pair.premise.replace(pair.focus, "").split())


def test_a_claim_is_neutral_beside_its_text_without_the_evidence() -> None:
    evidence = "The lighthouse at Brinmouth was built in 1872 by Daniel Abbott."
    example = source(LIGHTHOUSE, "lighthouse", "The lighthouse was built in 1872.")._replace(focus=evidence)
    found = [pair for pair in hard_pairs([example]) if pair.kind == "claim without its evidence"]
    assert [(pair.premise, pair.label) for pair in found] == [(LIGHTHOUSE.replace(evidence, "").strip(), NEUTRAL)]
    again = example._replace(premise=LIGHTHOUSE + " Yes, the lighthouse was built in 1872.")
    assert not [pair for pair in hard_pairs([again]) if pair.kind == "claim without its evidence"]
