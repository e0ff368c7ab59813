"""Variables that zeros tie together are one variable to every solver."""

import itertools

import numpy as np
import pytest
from random_graphs import enumerate_all

from localfact.inference import FactorGraph, marginals
from localfact.inference.components import log_form
from localfact.inference.contraction import contract

EQUAL, OPPOSITE, SOFT = np.eye(2), 1 - np.eye(2), np.array([[0.3, 0.9], [0.8, 0.4]])
ENTAILS = np.array([[1.0, 1.0], [0.0, 1.0]])


def graph_of(priors: list[float], factors: dict[tuple[int, int], np.ndarray]) -> FactorGraph:
    names = tuple(f"v{i}" for i in range(len(priors)))
    return FactorGraph(names, np.array(priors), np.array(list(factors)), np.array(list(factors.values())))


def test_equal_and_opposite_variables_become_one_and_come_back():
    graph = graph_of([0.3, 0.6, 0.2, 0.7], {(1, 0): EQUAL, (1, 2): OPPOSITE, (3, 2): SOFT, (0, 3): SOFT, (2, 0): SOFT})
    contraction = contract(log_form(graph)[0])
    assert contraction.tied.variables.tolist() == [0, 3]
    assert contraction.variable_of.tolist() == [0, 0, 0, 1]
    assert contraction.opposite.tolist() == [False, False, True, False]
    assert len(contraction.tied.pairs) == 1
    found, (expected, joint, log_z) = marginals(graph), enumerate_all(graph)
    assert list(found.marginals.values()) == pytest.approx(expected.tolist(), abs=1e-12)
    assert found.factor_marginals == pytest.approx(joint, abs=1e-12)
    assert found.log_z == pytest.approx(log_z, abs=1e-12)


def test_a_ring_of_certain_entailments_makes_its_variables_equal():
    ring = {(0, 1): ENTAILS, (1, 2): ENTAILS, (2, 3): ENTAILS, (3, 0): ENTAILS, (0, 4): SOFT, (2, 4): SOFT}
    graph = graph_of([0.5, 0.6, 0.4, 0.7, 0.2], ring)
    assert contract(log_form(graph)[0]).tied.variables.tolist() == [0, 4]
    # A message that is certain would run round the ring for ever, whatever it began with.
    assert list(marginals(graph, solver="bp").marginals.values()) == pytest.approx(enumerate_all(graph)[0].tolist(), abs=1e-12)


def test_a_variable_that_would_be_its_own_opposite_makes_the_graph_inconsistent():
    assert contract(log_form(graph_of([0.5] * 3, {(0, 1): EQUAL, (1, 2): EQUAL, (2, 0): OPPOSITE}))[0]) is None


def test_without_zeros_nothing_is_touched_and_scipy_is_not_needed(monkeypatch):
    monkeypatch.setattr("localfact.inference.contraction.literal_classes", None)
    whole = log_form(graph_of([0.5, 1.0, 0.0], {(0, 1): SOFT, (1, 2): SOFT}))[0]
    assert contract(whole).tied is whole


def hard_graph(seed: int) -> FactorGraph:
    """Eleven variables, all related, a tenth of all weights 0; consistent, since two assignments are never forbidden."""
    random = np.random.default_rng(seed)
    pairs = list(itertools.combinations(range(11), 2))
    tables = random.uniform(0.3, 1.0, (len(pairs), 2, 2))
    zero = random.random(tables.shape) < 0.1
    kept = random.integers(0, 2, (2, 11))
    for pair, (one, other) in enumerate(pairs):
        for values in kept:
            zero[pair, values[one], values[other]] = False
    return FactorGraph(tuple(f"v{i}" for i in range(11)), random.uniform(0.2, 0.8, 11), pairs, np.where(zero, 0.0, tables))


@pytest.mark.parametrize("seed", range(30))
def test_belief_propagation_is_near_on_hard_graphs_with_many_loops(seed, monkeypatch):
    # Not so many cases that everything would be enumerated.
    monkeypatch.setattr("localfact.inference.conditioning.CASES", 16)
    graph = hard_graph(seed)
    found, (expected, joint, log_z) = marginals(graph, solver="bp"), enumerate_all(graph)
    assert list(found.marginals.values()) == pytest.approx(expected.tolist(), abs=0.02)
    assert found.factor_marginals == pytest.approx(joint, abs=0.02)
    assert found.log_z == pytest.approx(log_z, abs=0.05)
