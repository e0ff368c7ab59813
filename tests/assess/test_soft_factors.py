"""Soft relations: what they are at their limits, what makes no factor, and which verdicts they leave open."""

import pytest
from by_hand import claim, contradicts, entails, evidence, judge

from localfact.assess.factors import CLAMP, LEAST_DIFFERENCE, relate_softly
from localfact.assess.factreasoner import FactReasoner
from localfact.errors import InputError
from localfact.records import Distribution
from localfact.vocabulary import RelationLabel, VerdictLabel

SOFT = FactReasoner(2, tables="balanced", rules="own", factors="soft")
HARD = FactReasoner(2, tables="balanced", rules="own")


def says(entailment: float, contradiction: float) -> Distribution:
    return Distribution(entailment=entailment, contradiction=contradiction, neutral=1 - entailment - contradiction)


@pytest.mark.parametrize(
    ("said", "label", "probability"),
    [
        (says(0.6, 0.1), "entailment", 0.75),  # e + n/2
        (says(0.1, 0.6), "contradiction", 0.75),
        (says(0.4, 0.1), "entailment", 0.65),  # the most probable label is neutral
        (says(1.0, 0.0), "entailment", 1 - CLAMP),
        (says(0.0, 1.0), "contradiction", 1 - CLAMP),
        (says(0.5, 0.5), "neutral", CLAMP),
        (says(0.0, 0.0), "neutral", 1 - CLAMP),
        (says(0.3 + LEAST_DIFFERENCE - 0.001, 0.3), "neutral", 0.151),
        (says(0.3 + LEAST_DIFFERENCE + 0.001, 0.3), "entailment", 0.6255),
    ],
)
def test_a_relation_counts_by_the_odds_of_its_two_sides(said: Distribution, label: str, probability: float) -> None:
    relation = relate_softly("p", "c", said)
    assert (relation.label, relation.probability) == (RelationLabel(label), pytest.approx(probability))
    assert relation.predicted == (None if label == "neutral" else pytest.approx(getattr(said, label)))


async def test_where_the_model_is_sure_soft_and_hard_are_the_same() -> None:
    told = {("c", "a1"): says(1.0, 0.0), ("d", "a1"): says(0.0, 0.0), ("e", "a2"): says(0.0, 1.0)}
    claims, found = [claim("a1"), claim("a2")], evidence({"a1": "cd", "a2": "e"})
    soft, hard = [await judge(assessor, claims, found, told | {("c", "a2"): says(0, 0)}) for assessor in (SOFT, HARD)]
    assert [one.posterior for one in soft.verdicts] == pytest.approx([one.posterior for one in hard.verdicts], abs=1e-9)
    assert [one.label for one in soft.verdicts] == [one.label for one in hard.verdicts]


async def test_a_model_that_calls_everything_neutral_still_decides_by_its_odds() -> None:
    told = {(passage, "a1"): says(0.35, 0.05) for passage in "cdef"}
    soft, hard = [await judge(assessor, [claim("a1")], evidence({"a1": "cdef"}), told) for assessor in (SOFT, HARD)]
    assert hard.verdicts[0].label is VerdictLabel.NOT_ENOUGH_EVIDENCE
    assert soft.verdicts[0].label is VerdictLabel.SUPPORTED
    assert soft.verdicts[0].posterior == pytest.approx(0.65**4 / (0.65**4 + 0.35**4), abs=0.02)
    assert soft.counts["graph_factors"] == 4


async def test_passages_that_are_rather_neutral_and_move_little_are_not_enough_evidence() -> None:
    for told, label in (
        ({("c", "a1"): says(0.35, 0.05)}, VerdictLabel.NOT_ENOUGH_EVIDENCE),  # 0.65, moved by less than 0.2
        ({("c", "a1"): says(0.48, 0.2)}, VerdictLabel.SUPPORTED),  # entailment is the most probable
    ):
        (verdict,) = (await judge(SOFT, [claim("a1")], evidence({"a1": "c"}), told)).verdicts
        assert verdict.label is label, told


async def test_two_sides_conflict_by_the_models_probabilities_not_by_the_factors() -> None:
    for strength, label in ((0.8, VerdictLabel.CONFLICTING), (0.6, VerdictLabel.UNDECIDED)):
        told = {("c", "a1"): entails(strength), ("d", "a1"): contradicts(strength)}
        (verdict,) = (await judge(SOFT, [claim("a1")], evidence({"a1": "cd"}), told)).verdicts
        assert verdict.label is label


def test_soft_factors_are_for_the_balanced_tables_alone() -> None:
    with pytest.raises(InputError, match="Soft factors are made for the balanced tables, not for paper: add --tables balanced"):
        FactReasoner(2, tables="paper", factors="soft")


async def test_the_sentence_of_a_verdict_tells_passages_that_lean_from_those_that_say_so() -> None:
    told = {("c", "a1"): says(0.8, 0.1), ("d", "a1"): says(0.4, 0.1), ("e", "a1"): says(0.4, 0.1), ("f", "a1"): says(0.1, 0.4)}
    (verdict,) = (await judge(SOFT, [claim("a1")], evidence({"a1": "cdef"}), told)).verdicts
    assert verdict.rationale is not None
    assert verdict.rationale.startswith("1 passage entails it, 2 lean towards it, 1 leans against it; posterior 0.")
