"""Building a graph from relations, and taking it apart into components."""

import numpy as np
import pytest

from localfact.inference.components import log_form, split
from localfact.inference.factor_graph import FactorGraph, build_graph
from localfact.inference.tables import factor_table
from localfact.records import Relation
from localfact.vocabulary import RelationLabel


def relation(source: str, target: str, label: str, probability: float) -> Relation:
    return Relation(source=source, target=target, label=RelationLabel(label), probability=probability)


def test_the_arrays_are_copies_that_cannot_be_written():
    priors = np.array([0.5, 0.9])
    graph = FactorGraph(("a", "c"), priors, np.array([[1, 0]]), np.ones((1, 2, 2)))
    priors[0] = 0.1
    assert graph.priors.tolist() == [0.5, 0.9]
    for array in (graph.priors, graph.edges, graph.tables):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_a_graph_without_relations_has_empty_arrays_of_the_right_shape():
    graph = build_graph({"a": 0.5}, {}, [], tables="paper")
    assert graph.edges.shape == (0, 2)
    assert graph.tables.shape == (0, 2, 2)


def test_neutral_relations_are_left_out_and_improbable_ones_counted_as_dropped_in_balanced():
    relations = [
        relation("c", "a", "neutral", 0.9),
        relation("c", "a", "entailment", 0.5),
        relation("c", "a", "entailment", 0.8),
    ]
    balanced = build_graph({"a": 0.5}, {"c": 0.99}, relations, tables="balanced")
    assert (len(balanced.edges), balanced.dropped) == (1, 1)
    paper = build_graph({"a": 0.5}, {"c": 0.99}, relations, tables="paper")
    assert (len(paper.edges), paper.dropped) == (2, 0)


@pytest.mark.parametrize(
    ("tables", "of_claim", "of_passage"),
    [("priors", 0.5, 0.95), ("balanced", 0.3, 0.8)],
)
def test_priors_take_the_constants_and_balanced_the_targets_own_prior(tables, of_claim, of_passage):
    graph = build_graph(
        {"a": 0.3},
        {"c": 0.7, "d": 0.8},
        [relation("c", "a", "entailment", 0.9), relation("c", "d", "entailment", 0.9)],
        tables=tables,
        passage_prior=0.95,
    )
    assert graph.tables[0].tolist() == factor_table(tables, RelationLabel.ENTAILMENT, 0.9, of_claim).tolist()
    assert graph.tables[1].tolist() == factor_table(tables, RelationLabel.ENTAILMENT, 0.9, of_passage).tolist()


def test_one_id_for_a_claim_and_a_passage_is_refused():
    with pytest.raises(ValueError, match="both a claim and a passage"):
        build_graph({"a": 0.5}, {"a": 0.9}, [], tables="paper")


def test_components_hold_every_variable_once_and_merge_factors_on_one_pair():
    graph = FactorGraph(
        ("a", "b", "c", "d", "e"),
        np.full(5, 0.5),
        np.array([[0, 3], [3, 0], [4, 1]]),
        np.array([[[1, 2], [3, 4]], [[5, 6], [7, 8]], [[1, 1], [1, 0]]]),
    )
    parts = [part.component for part in split(log_form(graph)[0])]
    assert [part.variables.tolist() for part in parts] == [[0, 3], [1, 4], [2]]
    # The second factor runs the other way, so it is multiplied in transposed.
    assert np.exp(parts[0].log_tables) == pytest.approx(np.array([[[1 * 5, 2 * 7], [3 * 6, 4 * 8]]]))
    assert parts[1].pairs.tolist() == [[0, 1]]
    assert np.isneginf(parts[1].log_tables[0, 1, 1])
    assert parts[2].pairs.shape == (0, 2)
