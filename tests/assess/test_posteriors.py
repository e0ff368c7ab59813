"""From a posterior to a verdict and its sentence."""

import pytest

from localfact.assess.posteriors import verdict_of
from localfact.records import Claim, Relation
from localfact.vocabulary import RelationLabel

CLAIM = Claim(id="a1", text="a claim")


def relation(source: str, label: str, probability: float) -> Relation:
    return Relation(source=source, target="a1", label=RelationLabel(label), probability=probability)


@pytest.mark.parametrize(
    ("posterior", "error", "label"),
    [
        (0.5, 0.0, "undecided"),
        (0.5 + 9e-7, 0.0, "undecided"),
        (0.5 + 2e-6, 0.0, "supported"),
        (0.5 - 2e-6, 0.0, "contradicted"),
        (0.53, 0.04, "undecided"),
        (0.47, 0.04, "undecided"),
        (0.55, 0.04, "supported"),
        (0.45, 0.04, "contradicted"),
        (1.0, 1.0, "undecided"),
    ],
)
def test_a_posterior_within_the_error_of_one_half_is_undecided(posterior, error, label):
    verdict = verdict_of(CLAIM, posterior, error, [])
    assert (verdict.claim_id, verdict.label.value, verdict.posterior) == ("a1", label, posterior)


@pytest.mark.parametrize(
    ("posterior", "strengths", "label"),
    [
        (0.95, {}, "not_enough_evidence"),
        (0.5, {}, "not_enough_evidence"),
        (0.5, {"entailment": 0.7, "contradiction": 0.7}, "conflicting"),
        (0.65, {"entailment": 0.9, "contradiction": 0.8}, "conflicting"),
        (0.35, {"entailment": 0.9, "contradiction": 0.8}, "conflicting"),
        (0.66, {"entailment": 0.9, "contradiction": 0.8}, "supported"),
        (0.34, {"entailment": 0.8, "contradiction": 0.9}, "contradicted"),
        (0.52, {"entailment": 0.9, "contradiction": 0.69}, "undecided"),
        (0.549, {"entailment": 0.6}, "undecided"),
        (0.451, {"contradiction": 0.6}, "undecided"),
        (0.56, {"entailment": 0.6}, "supported"),
        (0.44, {"contradiction": 0.6}, "contradicted"),
    ],
)
def test_by_our_own_rules_what_nothing_decides_is_called_so(posterior, strengths, label):
    relations = [(relation(f"c {name}", name, probability), 0.1) for name, probability in strengths.items()]
    verdict = verdict_of(CLAIM, posterior, 0.0, relations, "own")
    assert (verdict.label.value, verdict.posterior) == (label, posterior)
    if not strengths:
        assert verdict.rationale == f"no passage entails or contradicts it; prior {posterior:.2f}"


def test_the_solvers_error_is_heeded_by_our_own_rules_too():
    assert verdict_of(CLAIM, 0.58, 0.1, [(relation("c", "entailment", 0.6), 0.1)], "own").label.value == "undecided"


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (["entailment"], "1 passage entails it"),
        (["contradiction"], "1 passage contradicts it"),
        (["entailment", "entailment"], "2 passages entail it"),
        (["entailment", "contradiction", "entailment"], "2 passages entail it, 1 contradicts it"),
        (["contradiction", "contradiction", "entailment"], "1 passage entails it, 2 contradict it"),
    ],
)
def test_the_rationale_counts_the_passages_on_either_side(labels, sentence):
    relations = [(relation(f"c{number}", label, 0.9), 0.1) for number, label in enumerate(labels)]
    assert verdict_of(CLAIM, 0.934, 0.0, relations).rationale == f"{sentence}; posterior 0.93"


def test_passages_are_named_by_how_far_they_move_the_posterior_then_by_probability_and_id():
    relations = [
        (relation("d", "entailment", 0.8), 0.1),
        (relation("c", "contradiction", 0.8), -0.1),
        (relation("b", "entailment", 0.7), 0.1),
        (relation("a", "contradiction", 0.6), -0.3),
    ]
    found = verdict_of(CLAIM, 0.9, 0.0, relations).passages
    assert [(passage.passage_id, passage.shift) for passage in found] == [("a", -0.3), ("c", -0.1), ("d", 0.1), ("b", 0.1)]


def test_a_passage_that_stands_in_several_relations_is_named_where_it_moves_most():
    relations = [(relation("a", "entailment", 0.8), 0.05), (relation("a", "entailment", 0.8), 0.2)]
    (only,) = verdict_of(CLAIM, 0.9, 0.0, relations).passages
    assert only.shift == 0.2
