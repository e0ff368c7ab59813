"""The rule for two passages, branch by branch."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.assess.factors import relate_passages, relate_passages_surely
from localfact.records import Distribution, Passage
from localfact.vocabulary import RelationLabel

A, B = Passage(id="a", text="one"), Passage(id="b", text="two")
NEUTRAL, ENTAILMENT, CONTRADICTION = "neutral", "entailment", "contradiction"


def predicted(label: str, probability: float) -> Distribution:
    rest = (1 - probability) / 2
    return Distribution(**{name: probability if name == label else rest for name in (NEUTRAL, ENTAILMENT, CONTRADICTION)})


@pytest.mark.parametrize(
    ("forward", "backward", "expected"),
    [
        ((NEUTRAL, 0.9), (NEUTRAL, 0.8), None),
        ((ENTAILMENT, 0.9), (ENTAILMENT, 0.8), ("a", "b", "equivalence", 0.8)),
        ((ENTAILMENT, 0.9), (NEUTRAL, 0.8), ("a", "b", "entailment", 0.9)),
        ((NEUTRAL, 0.9), (ENTAILMENT, 0.8), ("b", "a", "entailment", 0.8)),
        ((CONTRADICTION, 0.7), (NEUTRAL, 0.9), ("a", "b", "contradiction", 0.7)),
        ((NEUTRAL, 0.9), (CONTRADICTION, 0.7), ("b", "a", "contradiction", 0.7)),
        ((CONTRADICTION, 0.7), (CONTRADICTION, 0.9), ("b", "a", "contradiction", 0.9)),
        ((CONTRADICTION, 0.9), (CONTRADICTION, 0.7), ("a", "b", "contradiction", 0.9)),
        ((CONTRADICTION, 0.8), (CONTRADICTION, 0.8), ("a", "b", "contradiction", 0.8)),
        ((CONTRADICTION, 0.9), (ENTAILMENT, 0.8), ("a", "b", "contradiction", 0.9)),
        ((CONTRADICTION, 0.8), (ENTAILMENT, 0.9), ("b", "a", "entailment", 0.9)),
        ((ENTAILMENT, 0.8), (CONTRADICTION, 0.8), ("b", "a", "contradiction", 0.8)),
        ((CONTRADICTION, 0.8), (ENTAILMENT, 0.8), ("a", "b", "contradiction", 0.8)),
    ],
)
def test_every_combination_of_the_two_directions(forward, backward, expected):
    relation = relate_passages(A, B, predicted(*forward), predicted(*backward))
    found = None if relation is None else (relation.source, relation.target, relation.label.value, relation.probability)
    assert found == (None if expected is None else pytest.approx(expected))


@given(
    labels=st.tuples(*[st.sampled_from([NEUTRAL, ENTAILMENT, CONTRADICTION])] * 2),
    probabilities=st.tuples(*[st.sampled_from([0.5, 0.7, 0.9])] * 2),
)
def test_the_order_in_which_the_passages_come_does_not_matter(labels, probabilities):
    forward, backward = (predicted(*prediction) for prediction in zip(labels, probabilities, strict=True))
    assert relate_passages(A, B, forward, backward) == relate_passages(B, A, backward, forward)


def test_a_certain_pair_is_clamped():
    relation = relate_passages(A, B, predicted(CONTRADICTION, 1), predicted(NEUTRAL, 1))
    assert relation.label is RelationLabel.CONTRADICTION
    assert relation.probability == 1 - 1e-6


@pytest.mark.parametrize(
    ("forward", "backward", "expected"),
    [
        ((NEUTRAL, 0.9), (NEUTRAL, 0.8), None),
        ((ENTAILMENT, 0.9), (ENTAILMENT, 0.8), ("a", "b", "equivalence", 0.8)),
        ((ENTAILMENT, 0.9), (NEUTRAL, 0.8), ("a", "b", "entailment", 0.9)),
        ((NEUTRAL, 0.9), (ENTAILMENT, 0.8), ("b", "a", "entailment", 0.8)),
        ((ENTAILMENT, 0.45), (NEUTRAL, 0.8), None),  # the most probable of three, and still improbable
        ((CONTRADICTION, 0.9), (NEUTRAL, 0.9), None),  # 0.9 and 0.05
        ((CONTRADICTION, 0.98), (NEUTRAL, 0.9), ("a", "b", "contradiction", 0.515)),
        ((NEUTRAL, 0.9), (CONTRADICTION, 0.98), ("a", "b", "contradiction", 0.515)),
        ((CONTRADICTION, 0.7), (CONTRADICTION, 0.9), ("a", "b", "contradiction", 0.8)),
        ((CONTRADICTION, 0.9), (ENTAILMENT, 0.8), ("b", "a", "entailment", 0.8)),
        ((CONTRADICTION, 1), (CONTRADICTION, 1), ("a", "b", "contradiction", 1 - 1e-6)),
    ],
)
def test_by_our_own_rules_a_contradiction_is_what_both_directions_say(forward, backward, expected):
    for order in ((A, B, forward, backward), (B, A, backward, forward)):
        relation = relate_passages_surely(*order[:2], *(predicted(*prediction) for prediction in order[2:]))
        found = None if relation is None else (relation.source, relation.target, relation.label.value, relation.probability)
        assert found == (None if expected is None else pytest.approx(expected))
