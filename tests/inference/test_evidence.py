"""Hard evidence: what follows from weights of 0 is fixed before anything is solved."""

import itertools

import numpy as np
import pytest

from localfact.inference import FactorGraph, marginals
from localfact.inference.components import log_form
from localfact.inference.evidence import FREE, condition
from localfact.inference.factor_graph import build_graph
from localfact.records import Relation
from localfact.vocabulary import RelationLabel


def chain(prior: float, count: int = 6) -> FactorGraph:
    """Variables that each entail the next for certain."""
    names = [f"c{i}" for i in range(count)]
    relations = [
        Relation(source=one, target=other, label=RelationLabel.ENTAILMENT, probability=1.0)
        for one, other in itertools.pairwise(names)
    ]
    return build_graph({}, dict.fromkeys(names, 0.5) | {names[0]: prior}, relations, tables="paper")


def test_a_certain_start_fixes_the_whole_chain_and_its_weight():
    conditioned = condition(log_form(chain(1.0))[0])
    assert conditioned.values.tolist() == [1] * 6
    assert len(conditioned.free.variables) == 0
    assert conditioned.log_z == pytest.approx(5 * np.log(0.5))


def test_without_certainty_nothing_is_fixed():
    conditioned = condition(log_form(chain(0.9))[0])
    assert conditioned.values.tolist() == [FREE] * 6
    assert conditioned.log_z == 0


def test_a_row_of_zeros_forces_without_any_certain_prior_and_cuts_the_graph():
    # b must be true: the first factor leaves no weight to false. What hung together by b falls apart.
    tables = np.array([[[0, 0.5], [0, 1]], [[0.2, 0.7], [0.4, 0.3]]])
    graph = FactorGraph(("a", "b", "c"), np.array([0.5, 0.5, 0.5]), np.array([[0, 1], [1, 2]]), tables)
    conditioned = condition(log_form(graph)[0])
    assert conditioned.values.tolist() == [FREE, 1, FREE]
    assert conditioned.free.variables.tolist() == [0, 2]
    assert len(conditioned.free.pairs) == 0
    found = marginals(graph)
    assert found.marginals == pytest.approx({"a": 1 / 1.5, "b": 1.0, "c": 0.3 / 0.7})
    assert found.factor_marginals[1] == pytest.approx(np.array([[0, 0], [0.4 / 0.7, 0.3 / 0.7]]))


def test_opposite_certainties_are_found_inconsistent():
    graph = chain(1.0)
    priors = graph.priors.copy()
    priors[-1] = 0.0
    assert condition(log_form(FactorGraph(graph.ids, priors, graph.edges, graph.tables))[0]) is None


def test_fixing_makes_a_wide_graph_exact():
    # Thirty passages that all contradict one another; the first is certain, for certain: the others are false.
    names = [f"c{i}" for i in range(30)]
    against = [
        Relation(source=one, target=other, label=RelationLabel.CONTRADICTION, probability=1.0 if one == "c0" else 0.8)
        for index, one in enumerate(names)
        for other in names[index + 1 :]
    ]
    found = marginals(build_graph({}, dict.fromkeys(names, 0.5) | {"c0": 1.0}, against, tables="paper"))
    assert (found.exact, found.width) == (True, 0)
    assert found.marginals == {name: float(name == "c0") for name in names}
