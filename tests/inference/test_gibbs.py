"""Replica exchange: right within its own error, the same for the same seed, and not lost between opposite states or zeros."""

import json

import numpy as np
import pytest
from hypothesis import assume, given
from small_graphs import HARD, clique, enumerated, graphs, whole

from localfact.errors import InputError
from localfact.inference import tempering
from localfact.inference.factor_graph import FactorGraph
from localfact.inference.gibbs import _consistent_start, _levels, _pulls, sample
from localfact.inference.reading import read_graph


def two_opposite_states(count: int, pull: float, bias: float) -> FactorGraph:
    """All pairs attract each other: nearly all weight is on all false and all true, and single flips hardly cross."""
    pairs = [(i, j) for i in range(count) for j in range(i)]
    table = np.exp(pull * np.array([[1.0, -1.0], [-1.0, 1.0]]))
    return FactorGraph(tuple(map(str, range(count))), [bias] * count, np.array(pairs), np.array([table] * len(pairs)))


@pytest.mark.slow
@given(graph=graphs(HARD, most=6))
def test_marginals_are_right_within_the_error_given(graph):
    expected, _ = enumerated(graph)
    assume(expected is not None)
    found = sample(whole(graph), seed=0, sweeps=4000)
    # A marginal whose conditional never varied has no spread: what is left is one visit that was not made.
    assert found.marginals == pytest.approx(expected, abs=2 * found.error + 5e-3)


def test_the_error_covers_the_true_one_in_nearly_all_runs_and_is_not_far_above_it():
    graph = clique(9, seed=3, sharpness=0.7)
    expected, _ = enumerated(graph)
    runs = [sample(whole(graph), seed, sweeps=2000) for seed in range(40)]
    true_errors = np.array([abs(run.marginals - expected).max() for run in runs])
    errors = np.array([run.error for run in runs])
    assert np.mean(true_errors <= errors) >= 0.95
    assert np.median(errors / true_errors) < 6


def test_four_times_the_sweeps_halve_the_error():
    component = whole(clique(9, seed=3, sharpness=0.7))
    short, long = (np.mean([sample(component, seed, sweeps=sweeps).error for seed in range(8)]) for sweeps in (1000, 4000))
    assert 1.6 < short / long < 2.5


@pytest.mark.parametrize("bias", [0.5, 0.47])
def test_two_opposite_states_are_both_visited_by_their_weight(bias):
    graph = two_opposite_states(12, pull=0.35, bias=bias)
    expected, _ = enumerated(graph)
    found = sample(whole(graph), seed=1, sweeps=10_000)
    assert found.marginals == pytest.approx(expected, abs=found.error)
    assert found.error < 0.05


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others():
    component = whole(clique(6, seed=0))
    first, second, other = (sample(component, seed, sweeps=100) for seed in (7, 7, 8))
    assert first.marginals.tolist() == second.marginals.tolist()
    assert first.error == second.error
    assert first.marginals.tolist() != other.marginals.tolist()
    assert first.sweeps == 100


def test_the_numbers_of_a_seed_are_those_of_the_uncompiled_loop(monkeypatch):
    component = whole(clique(6, seed=0))
    compiled = sample(component, seed=7, sweeps=60)
    monkeypatch.setattr(tempering, "sweep_replica", tempering._sweep)
    monkeypatch.setattr(tempering, "swap_neighbours", tempering._swap)
    monkeypatch.setattr(tempering, "temper", tempering._temper)
    plain = sample(component, seed=7, sweeps=60)
    assert plain.marginals == pytest.approx(compiled.marginals, abs=1e-12)
    assert plain.error == pytest.approx(compiled.error, abs=1e-12)


def test_zeros_between_the_only_two_assignments_are_crossed():
    # Equal or nothing, on a ring of 5: all false and all true, and no single flip between them is allowed.
    pairs = [(i, (i + 1) % 5) for i in range(5)]
    graph = FactorGraph(tuple("abcde"), [0.6] * 5, np.array(pairs), np.array([np.eye(2)] * 5))
    expected, _ = enumerated(graph)
    found = sample(whole(graph), seed=0, sweeps=20_000)
    assert found.marginals == pytest.approx(expected, abs=found.error)
    assert found.error < 0.1


def test_priors_of_0_and_1_come_out_exactly():
    graph = FactorGraph(("a", "b", "c"), [0.0, 1.0, 0.5], [[0, 2], [1, 2]], [[[1, 2], [3, 4]], [[1, 1], [1, 3]]])
    found = sample(whole(graph), seed=0, sweeps=200)
    assert found.marginals[:2].tolist() == [0.0, 1.0]
    assert found.marginals[2] == pytest.approx(6 / 7, abs=1e-9)


@pytest.mark.slow
@given(graph=graphs(HARD))
def test_starts_are_assignments_of_positive_weight_wherever_there_is_one(graph):
    component = whole(graph)
    for value in (0, 1):
        if enumerated(graph)[0] is None:
            with pytest.raises(ValueError, match="no assignment"):
                _consistent_start(component, value)
        else:
            start = _consistent_start(component, value)
            assert set(start.tolist()) <= {0, 1}
            assert _levels(component, _pulls(component), start)[2][1] == 0


@given(graph=graphs())
def test_without_zeros_the_starts_are_all_false_and_all_true(graph):
    assert _consistent_start(whole(graph), 0).tolist() == [0] * len(graph.ids)
    assert _consistent_start(whole(graph), 1).tolist() == [1] * len(graph.ids)


@given(graph=graphs(HARD, most=6))
def test_odds_and_levels_kept_up_over_many_flips_are_those_of_the_last_state(graph):
    assume(enumerated(graph)[0] is not None)
    component = whole(graph)
    network = _pulls(component)
    state = _consistent_start(component, 0)
    kept = _levels(component, network, state)
    first_pull = np.searchsorted(network.puller, np.arange(len(state) + 1))
    random, record = np.random.Generator(np.random.PCG64(0)), np.zeros(len(state))
    for _ in range(20):
        tempering.sweep_replica(
            *(random, state, *kept, first_pull, network.receiver, network.pulls, network.hard_pulls, 0.2, 0.5, record)
        )
    for found, expected in zip(kept, _levels(component, network, state), strict=True):
        assert found == pytest.approx(expected, abs=1e-9)


def test_too_few_sweeps_are_refused():
    with pytest.raises(InputError, match="at least 25 sweeps, not 24"):
        sample(whole(clique(3, seed=0)), seed=0, sweeps=24)
    assert sample(whole(clique(3, seed=0)), seed=0, sweeps=25).sweeps == 25


def test_a_negative_seed_is_refused():
    with pytest.raises(InputError, match="from 0, not -1"):
        sample(whole(clique(3, seed=0)), seed=-1)


def test_a_shared_graph_with_opposite_states_comes_out_within_the_error(shared):
    file = shared / "factgraphs" / "fr2_n030_k3.json"
    known = json.loads(file.read_text())["reference"]["marginals"]
    found = sample(whole(read_graph(file)), seed=0, sweeps=3000)
    assert found.marginals == pytest.approx(list(known.values()), abs=found.error)
    assert found.error < 0.05
