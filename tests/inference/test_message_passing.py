"""The compiled loops against the same functions as plain Python, and against what they stand for."""

import importlib.util
import itertools
import math

import numpy as np
import pytest
from random_graphs import enumerate_all, random_graph, response_graph

from localfact.inference import FactorGraph, compiling, marginals, message_passing
from localfact.inference.components import log_form
from localfact.inference.message_passing import LARGEST, Network
from localfact.inference.network import find_fixed_points, fix_variable, lay_out, run_to_fixed_point, starts


@pytest.fixture
def plain(monkeypatch):
    """The module with nothing of it compiled."""
    for name in ("compile_lazily", "compile_inline"):
        monkeypatch.setattr(compiling, name, lambda function: function)
    spec = importlib.util.spec_from_file_location("plain_message_passing", message_passing.__file__)
    anew = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(anew)
    return anew


def network_of(graph: FactorGraph) -> Network:
    return lay_out(log_form(graph)[0])


def nothing_fixed(network: Network) -> np.ndarray:
    return np.full(len(network.log_odds), -1, dtype=np.int8)


def test_compiled_and_plain_python_give_the_same_numbers(plain, monkeypatch):
    assert not hasattr(plain.iterate, "py_func")
    assert hasattr(message_passing.iterate, "py_func")
    graph = response_graph(3, claims=8, passages=8, chance=0.6)
    compiled = marginals(graph, solver="bp")
    for module in ("network", "conditioning"):
        monkeypatch.setattr(f"localfact.inference.{module}.message_passing", plain)
    monkeypatch.setattr("localfact.inference.conditioning.CASES", 16)
    few = marginals(graph, solver="bp")
    monkeypatch.undo()
    monkeypatch.setattr("localfact.inference.conditioning.CASES", 16)
    again = marginals(graph, solver="bp")
    assert few.sweeps == again.sweeps
    assert compiled.sweeps != few.sweeps
    assert list(few.marginals.values()) == pytest.approx(list(again.marginals.values()), abs=1e-13)
    assert few.factor_marginals == pytest.approx(again.factor_marginals, abs=1e-13)
    assert (few.log_z, few.error) == pytest.approx((again.log_z, again.error), abs=1e-11)


@pytest.mark.parametrize("seed", [3, 9, 15, 21, 27])
def test_on_a_tree_one_fixed_point_is_exact_in_marginals_pairs_and_log_z(seed):
    graph = random_graph(seed, "paper")
    network, (expected, _, log_z) = network_of(graph), enumerate_all(graph)
    points = find_fixed_points(network, starts(network), nothing_fixed(network))
    assert len(points) == 1
    assert points[0].marginals == pytest.approx(expected, abs=1e-4)
    assert points[0].log_weight == pytest.approx(log_z, abs=1e-6)


def test_a_fixed_variable_has_its_value_and_the_case_its_share_of_log_z():
    graph = random_graph(3, "paper")
    network, (_, _, log_z) = network_of(graph), enumerate_all(graph)
    variable = int(np.argmax(np.diff(network.first_message)))
    cases = []
    for value in (0, 1):
        fixed = nothing_fixed(network)
        fixed[variable] = value
        point = run_to_fixed_point(network, fix_variable(network, starts(network)[0], variable, value), fixed)
        assert point.marginals[variable] == value
        assert point.influence[variable] == 0
        cases.append(point.log_weight)
    assert np.logaddexp(*cases) == pytest.approx(log_z, abs=1e-6)


def test_products_of_many_strong_messages_do_not_overflow():
    count = 400
    names = tuple(f"v{i}" for i in range(count + 1))
    edges = [[i, count] for i in range(count)]
    table = np.array([[1.0, 1e-6], [1e-6, 1.0]])
    priors = np.where(np.arange(count + 1) < count / 2, 1 - 1e-6, 1e-6)
    priors[count] = 0.5
    network = network_of(FactorGraph(names, priors, np.array(edges), np.repeat(table[None], count, axis=0)))
    point = run_to_fixed_point(network, starts(network)[0], nothing_fixed(network))
    # Half of the leaves say true and half say false, with the same force.
    assert point.marginals[count] == pytest.approx(0.5, abs=1e-6)
    assert math.isfinite(point.log_weight)


def test_a_weight_of_zero_counts_as_the_smallest_that_is_kept():
    graph = FactorGraph(("a", "b"), np.array([0.5, 0.5]), np.array([[0, 1]]), np.array([[[1.0, 0.0], [0.5, 1.0]]]))
    assert sorted(network_of(graph).tables[0]) == [1 / LARGEST, 0.5, 1.0, 1.0]


def test_two_opposite_states_are_found_from_the_starts_and_weighed():
    names = tuple(f"v{i}" for i in range(8))
    edges = np.array(list(itertools.combinations(range(8), 2)))
    graph = FactorGraph(names, np.full(8, 0.52), edges, np.tile([[0.8, 0.2], [0.2, 0.8]], (len(edges), 1, 1)))
    network = network_of(graph)
    points = find_fixed_points(network, starts(network), nothing_fixed(network))
    assert sorted(round(float(point.marginals[0])) for point in points) == [0, 1]
    assert marginals(graph, solver="bp").marginals["v0"] == pytest.approx(0.6548, abs=1e-4)
