"""Weighted mini-buckets: exact where no bucket is split, a bound on log Z everywhere, numbers on the shared graphs."""

import json

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from small_graphs import HARD, clique, enumerated, graphs, whole

from localfact.errors import InputError
from localfact.inference.elimination import min_fill_order
from localfact.inference.factor_graph import FactorGraph
from localfact.inference.reading import read_graph
from localfact.inference.wmb import _buckets, _shift_costs, mini_buckets


def grid(side: int, seed: int) -> FactorGraph:
    """A square grid with mixed couplings: induced width `side`, so split buckets where that passes the i-bound."""
    random = np.random.default_rng(seed)
    across = [(side * row + column, side * row + column + 1) for row in range(side) for column in range(side - 1)]
    down = [(side * row + column, side * row + column + side) for row in range(side - 1) for column in range(side)]
    tables = np.exp(random.normal(size=(len(across) + len(down), 2, 2)))
    ids = tuple(map(str, range(side * side)))
    return FactorGraph(ids, random.uniform(0.1, 0.9, side * side), np.array(across + down), tables)


@given(graph=graphs(HARD, most=7))
def test_exact_where_the_width_is_within_the_i_bound_with_hard_zeros_too(graph):
    expected, log_z = enumerated(graph)
    assume(expected is not None)
    found = mini_buckets(whole(graph), i_bound=6)
    assert found.exact
    assert found.marginals == pytest.approx(expected, abs=1e-9)
    assert found.log_z == pytest.approx(log_z, abs=1e-9)


@given(graph=graphs(most=8), i_bound=st.integers(1, 4), iterations=st.integers(1, 4))
def test_log_z_is_never_below_the_true_one(graph, i_bound, iterations):
    found = mini_buckets(whole(graph), i_bound=i_bound, iterations=iterations)
    assert found.log_z >= enumerated(graph)[1] - 1e-9


@given(graph=graphs(HARD, most=8), i_bound=st.integers(1, 3))
def test_hard_zeros_leave_the_bound_a_bound_and_every_marginal_a_probability(graph, i_bound):
    expected, log_z = enumerated(graph)
    assume(expected is not None)
    found = mini_buckets(whole(graph), i_bound=i_bound)
    assert np.isfinite(found.log_z)
    assert found.log_z >= log_z - 1e-9
    assert np.all((found.marginals >= 0) & (found.marginals <= 1))


@pytest.mark.parametrize("seed", range(3))
def test_split_buckets_are_wrong_but_near_and_a_larger_i_bound_is_nearer(seed):
    expected, log_z = enumerated(grid(4, seed))
    component = whole(grid(4, seed))
    gaps, errors = [], []
    for i_bound in (1, 2, 4):
        found = mini_buckets(component, i_bound=i_bound)
        assert found.exact == (i_bound == 4)
        gaps.append(found.log_z - log_z)
        errors.append(abs(found.marginals - expected).max())
    assert gaps[0] > gaps[1] > 1e-3
    assert gaps[2] == pytest.approx(0, abs=1e-9)
    assert errors[2] == pytest.approx(0, abs=1e-9)
    assert 1e-6 < errors[1] < 0.2


def test_cost_shifting_tightens_the_bound():
    component = whole(grid(4, seed=0))
    bounds = [mini_buckets(component, i_bound=1, iterations=iterations).log_z for iterations in (1, 2, 10)]
    assert bounds[0] > bounds[1] > bounds[2]


def test_a_full_step_of_cost_shifting_makes_the_mini_buckets_of_a_variable_agree_on_it():
    component = whole(clique(5, seed=1))
    bucket = _buckets(component, min_fill_order(component), i_bound=1)[0]
    assert len(bucket) == 4
    for part in bucket:
        part.incoming = part.log_table.copy()
    before = sum(part.incoming.sum(axis=1) for part in bucket)
    _shift_costs(bucket, step=1.0)
    beliefs = [np.logaddexp.reduce(part.log_belief(), axis=1) for part in bucket]
    odds = [belief[1] - belief[0] for belief in beliefs]
    assert odds == pytest.approx([odds[0]] * 4, abs=1e-12)
    assert sum(part.incoming.sum(axis=1) for part in bucket) == pytest.approx(before, abs=1e-12)


def test_a_symmetric_graph_gives_marginals_of_one_half():
    attraction = np.array([[0.7, 0.3], [0.3, 0.7]])
    pairs = [(i, j) for i in range(9) for j in range(i)]
    graph = FactorGraph(tuple(map(str, range(9))), [0.5] * 9, np.array(pairs), np.array([attraction] * len(pairs)))
    assert mini_buckets(whole(graph), i_bound=2).marginals == pytest.approx([0.5] * 9, abs=1e-9)


def test_min_fill_takes_the_variable_that_joins_the_fewest_neighbours():
    # A cycle of 4 (0 to 3) with a tail (4, 5) at 0: first the tail, then the cycle, which any of its variables breaks.
    pairs = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (4, 5)]
    graph = FactorGraph(tuple("abcdef"), [0.5] * 6, np.array(pairs), np.full((6, 2, 2), 0.5))
    assert min_fill_order(whole(graph)) == [5, 4, 0, 1, 2, 3]


def test_tables_beyond_the_limit_are_refused_before_they_are_made():
    with pytest.raises(InputError, match="i-bound 29 need 2147483646 numbers"):
        mini_buckets(whole(clique(30, seed=0)), i_bound=29)


@pytest.mark.slow
def test_every_shared_graph_gives_numbers_and_the_narrow_ones_exact_ones(shared):
    for file in sorted((shared / "factgraphs").glob("*.json")):
        known = json.loads(file.read_text())["reference"]
        graph = read_graph(file)
        if not known["consistent"] or len(graph.ids) > 160:
            continue
        found = mini_buckets(whole(graph))
        assert np.isfinite(found.log_z), file.name
        assert np.all((found.marginals >= 0) & (found.marginals <= 1)), file.name
        if known["log_z"] is not None:
            assert found.log_z >= known["log_z"] - 1e-8, file.name
        if known["induced_width_min_fill"] <= 6:
            assert found.marginals == pytest.approx([known["marginals"][name] for name in graph.ids], abs=1e-9), file.name
