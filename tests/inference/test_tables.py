"""The three sets of factor tables, entry by entry."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.inference.tables import TABLE_SETS, factor_table, makes_factor
from localfact.vocabulary import RelationLabel

ENTAILMENT, CONTRADICTION = RelationLabel.ENTAILMENT, RelationLabel.CONTRADICTION
probabilities = st.floats(0, 1)


def test_paper_tables_are_those_of_table_1():
    # Rows are source false and true, columns target false and true.
    assert factor_table("paper", ENTAILMENT, 0.8, 0.5).tolist() == pytest.approx(np.array([[0.8, 0.8], [0.2, 0.8]]))
    assert factor_table("paper", CONTRADICTION, 0.8, 0.5).tolist() == pytest.approx(np.array([[0.8, 0.8], [0.8, 0.2]]))
    assert factor_table("paper", RelationLabel.EQUIVALENCE, 0.8, 0.5).tolist() == pytest.approx(
        np.array([[0.8, 0.2], [0.2, 0.8]])
    )


def test_priors_tables_weigh_a_false_source_by_the_targets_prior():
    assert factor_table("priors", ENTAILMENT, 0.8, 0.99) == pytest.approx(np.array([[0.01, 0.99], [0.2, 0.8]]))
    assert factor_table("priors", CONTRADICTION, 0.8, 0.99) == pytest.approx(np.array([[0.01, 0.99], [0.8, 0.2]]))


def test_balanced_tables_weigh_a_false_source_by_the_expected_weight_of_a_true_one():
    assert factor_table("balanced", ENTAILMENT, 0.8, 0.9) == pytest.approx(np.array([[0.74, 0.74], [0.2, 0.8]]))
    assert factor_table("balanced", CONTRADICTION, 0.8, 0.9) == pytest.approx(np.array([[0.26, 0.26], [0.8, 0.2]]))


@given(label=st.sampled_from([ENTAILMENT, CONTRADICTION]), p=probabilities, q=probabilities)
def test_a_balanced_relation_says_nothing_about_its_source(label, p, q):
    false_source, true_source = factor_table("balanced", label, p, q) @ np.array([1 - q, q])
    assert false_source == pytest.approx(true_source, abs=1e-12)


@given(label=st.sampled_from([ENTAILMENT, CONTRADICTION]), p=probabilities)
def test_balanced_and_priors_tables_give_a_claim_the_same_ratio_at_a_prior_of_one_half(label, p):
    assert factor_table("balanced", label, p, 0.5) == pytest.approx(factor_table("priors", label, p, 0.5))


@given(p=probabilities, q=probabilities)
def test_equivalence_is_the_same_in_all_sets(p, q):
    tables = [factor_table(name, RelationLabel.EQUIVALENCE, p, q).tolist() for name in TABLE_SETS]
    assert tables[0] == tables[1] == tables[2]


@given(p=probabilities, q=probabilities)
def test_a_contradiction_of_passages_is_the_papers_symmetric_table_in_paper_and_balanced(p, q):
    paper = factor_table("paper", CONTRADICTION, p, q)
    for name in ("paper", "balanced"):
        found = factor_table(name, CONTRADICTION, p, q, of_one_kind=True)
        assert found.tolist() == paper.tolist() == paper.T.tolist()
    for name, label in (("priors", CONTRADICTION), ("balanced", ENTAILMENT), ("priors", ENTAILMENT), ("paper", ENTAILMENT)):
        found = factor_table(name, label, p, q, of_one_kind=True)
        assert found.tolist() == factor_table(name, label, p, q).tolist()


def test_neutral_makes_no_factor():
    assert not any(makes_factor(name, RelationLabel.NEUTRAL, 0.9) for name in TABLE_SETS)
    with pytest.raises(ValueError, match="neutral"):
        factor_table("paper", RelationLabel.NEUTRAL, 0.9, 0.5)


@pytest.mark.parametrize("label", [ENTAILMENT, CONTRADICTION, RelationLabel.EQUIVALENCE])
def test_only_balanced_tables_leave_out_improbable_relations(label):
    assert makes_factor("paper", label, 0.2)
    assert makes_factor("priors", label, 0.2)
    assert not makes_factor("balanced", label, 0.5)
    assert makes_factor("balanced", label, 0.5000001)
