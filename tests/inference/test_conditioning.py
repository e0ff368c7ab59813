"""Belief propagation by cases: how near it comes, what its error says, when it stops."""

import numpy as np
import pytest
from random_graphs import response_graph

from localfact.inference import conditioning, marginals
from localfact.inference.tables import TABLE_SETS


def worst(graph, found) -> float:
    exact = marginals(graph, solver="exact").marginals
    return max(abs(found.marginals[name] - value) for name, value in exact.items())


@pytest.mark.parametrize("between", [0.0, 0.1])
@pytest.mark.parametrize("tables", TABLE_SETS)
def test_it_is_within_the_targets_on_graphs_of_responses_and_its_error_shows_how_near(tables, between):
    errors = []
    for seed in range(5):
        graph = response_graph(seed, claims=16, passages=18, chance=0.25, tables=tables, between=between)
        found = marginals(graph, solver="bp")
        assert (found.solver, found.exact, found.width) == ("bp", False, None)
        assert found.log_z == pytest.approx(marginals(graph, solver="exact").log_z, abs=0.01)
        errors.append(worst(graph, found))
        assert errors[-1] <= 3 * found.error + 1e-4
    assert max(errors) < 5e-3


def test_more_cases_bring_the_answer_nearer(monkeypatch):
    graphs = [response_graph(seed, claims=18, passages=18, chance=0.35) for seed in range(4)]
    errors = []
    for cases in (1, 16, 128):
        monkeypatch.setattr(conditioning, "CASES", cases)
        monkeypatch.setattr(conditioning, "PATIENCE", 0.0)
        errors.append(sum(worst(graph, marginals(graph, solver="bp")) for graph in graphs))
    assert errors[0] > 3 * errors[1] > 9 * errors[2]


def test_pair_marginals_agree_with_the_marginals_and_are_near_the_exact_ones():
    graph = response_graph(2, claims=16, passages=16, chance=0.3)
    exact, found = marginals(graph, solver="exact"), marginals(graph, solver="bp")
    assert found.factor_marginals == pytest.approx(exact.factor_marginals, abs=5e-3)
    values = np.array(list(found.marginals.values()))
    assert found.factor_marginals[:, 1].sum(axis=1) == pytest.approx(values[graph.edges[:, 0]], abs=1e-5)
    assert found.factor_marginals[:, :, 1].sum(axis=1) == pytest.approx(values[graph.edges[:, 1]], abs=1e-5)


def test_the_work_is_limited_by_counting_but_there_are_cases_enough_for_an_error(monkeypatch):
    graph = response_graph(1, claims=20, passages=20, chance=0.4)
    whole = marginals(graph, solver="bp")
    monkeypatch.setattr(conditioning, "UPDATES_LIMIT", 0)
    monkeypatch.setattr(conditioning, "COARSE_UPDATES_LIMIT", 0)
    monkeypatch.setattr(conditioning, "SWEEPS_LIMIT", 0)
    short = marginals(graph, solver="bp")
    assert short.sweeps < whole.sweeps / 4
    assert 0 < short.error < 1


def test_the_error_is_1_when_messages_never_settle(monkeypatch):
    monkeypatch.setattr("localfact.inference.network.DAMPINGS", ((0.0, 1),))
    found = marginals(response_graph(1, claims=10, passages=10, chance=0.5), solver="bp")
    assert found.error == pytest.approx(1)
    assert all(0 <= value <= 1 for value in found.marginals.values())


def test_the_same_graph_gets_the_same_bits():
    graph = response_graph(6, claims=20, passages=20, chance=0.4)
    assert marginals(graph, solver="bp").marginals == marginals(graph, solver="bp").marginals
