"""Marginals against plain enumeration of all assignments, on small graphs of every kind."""

import itertools
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localfact.errors import InputError
from localfact.inference import FactorGraph, marginals
from localfact.inference.consistency import is_consistent
from localfact.inference.factor_graph import build_graph
from localfact.records import Relation, RelationLabel


def enumerate_all(graph: FactorGraph) -> tuple[np.ndarray | None, float]:
    """P(true) of each variable and the sum of all weights, the slow and obvious way."""
    total, true = 0.0, np.zeros(len(graph.ids))
    for values in itertools.product((0, 1), repeat=len(graph.ids)):
        weight = math.prod(prior if value else 1 - prior for prior, value in zip(graph.priors, values, strict=True))
        weight *= math.prod(table[values[s], values[t]] for (s, t), table in zip(graph.edges, graph.tables, strict=True))
        total += weight
        true += weight * np.array(values)
    return (true / total if total else None), total


def soft(values: st.SearchStrategy[float]) -> st.SearchStrategy[float]:
    return values.filter(lambda value: 1e-3 <= value <= 1 - 1e-3)


unit = st.floats(0, 1, allow_subnormal=False)
hard = st.one_of(st.sampled_from([0.0, 1.0]), soft(unit))


@st.composite
def graphs(draw, weights=hard, most=7, edges=14):
    count = draw(st.integers(1, most))
    pair = st.lists(st.integers(0, count - 1), min_size=2, max_size=2, unique=True)
    pairs = draw(st.lists(pair, max_size=edges)) if count > 1 else []
    tables = [draw(st.lists(weights, min_size=4, max_size=4)) for _ in pairs]
    priors = draw(st.lists(weights, min_size=count, max_size=count))
    return FactorGraph(tuple(f"v{i}" for i in range(count)), priors, np.reshape(pairs, (-1, 2)), np.reshape(tables, (-1, 2, 2)))


@st.composite
def trees(draw):
    count = draw(st.integers(1, 8))
    pairs = [(draw(st.integers(0, child - 1)), child) for child in range(1, count)]
    tables = [draw(st.lists(soft(unit), min_size=4, max_size=4)) for _ in pairs]
    priors = draw(st.lists(soft(unit), min_size=count, max_size=count))
    return FactorGraph(tuple(f"v{i}" for i in range(count)), priors, np.reshape(pairs, (-1, 2)), np.reshape(tables, (-1, 2, 2)))


def relation(source: str, target: str, label: str, probability: float) -> Relation:
    return Relation(source=source, target=target, label=RelationLabel(label), probability=probability)


def response_graph(seed: int, claims: int, passages: int, chance: float, tables: str = "paper") -> FactorGraph:
    """A random graph of the kind that FR2 makes: every claim and passage related with the same chance."""
    random = np.random.default_rng(seed)
    relations = [
        relation(f"c{j}", f"a{i}", "entailment" if random.random() < 0.75 else "contradiction", random.uniform(0.5, 0.99))
        for i in range(claims)
        for j in range(passages)
        if random.random() < chance
    ]
    return build_graph(
        {f"a{i}": 0.5 for i in range(claims)}, {f"c{j}": 0.99 for j in range(passages)}, relations, tables=tables
    )


@given(graph=graphs())
def test_exact_marginals_and_log_z_equal_enumeration_with_hard_zeros_too(graph):
    expected, total = enumerate_all(graph)
    found = marginals(graph, solver="exact")
    assert found.consistent == (expected is not None)
    if expected is None:
        assert found.marginals is None
        assert found.log_z is None
    else:
        assert list(found.marginals) == list(graph.ids)
        assert list(found.marginals.values()) == pytest.approx(expected.tolist(), abs=1e-10)
        assert found.log_z == pytest.approx(math.log(total), abs=1e-9)
        assert (found.exact, found.error) == (True, 0.0)


@given(graph=graphs(weights=st.sampled_from([0.0, 0.0, 1.0, 0.5]), edges=10))
def test_consistency_is_decided_exactly(graph):
    assert is_consistent(graph) == (enumerate_all(graph)[0] is not None)


@settings(deadline=None)  # the first call compiles
@given(graph=trees())
def test_loopy_propagation_is_exact_on_trees(graph):
    expected, _ = enumerate_all(graph)
    found = marginals(graph, solver="loopy")
    assert list(found.marginals.values()) == pytest.approx(expected.tolist(), abs=1e-6)
    assert found.error < 1e-6
    assert found.log_z is None


@settings(deadline=None)  # the first call compiles
@given(graph=graphs())
def test_loopy_propagation_gives_probabilities_or_finds_the_graph_inconsistent(graph):
    found = marginals(graph, solver="loopy")
    assert found.consistent == is_consistent(graph)
    if found.consistent:
        assert all(0 <= value <= 1 for value in found.marginals.values())
        assert 0 <= found.error <= 1


@pytest.mark.parametrize("seed", range(6))
def test_loopy_propagation_is_near_on_graphs_of_responses_and_its_error_shows_how_near(seed):
    graph = response_graph(seed, claims=14, passages=20, chance=0.2)
    exact, found = marginals(graph, solver="exact"), marginals(graph, solver="loopy")
    worst = max(abs(found.marginals[name] - value) for name, value in exact.marginals.items())
    assert worst < 0.05
    assert worst <= 3 * found.error + 1e-3
    assert not found.exact


def test_two_fixed_points_are_mixed_by_their_weight():
    names = [f"v{i}" for i in range(8)]
    alike = [relation(one, other, "equivalence", 0.8) for one, other in itertools.combinations(names, 2)]
    graph = build_graph({}, dict.fromkeys(names, 0.52), alike, tables="paper")
    exact, found = marginals(graph, solver="exact"), marginals(graph, solver="loopy")
    # All true or all false: one start alone would say nearly 1 or nearly 0.
    assert exact.marginals["v0"] == pytest.approx(0.6548, abs=1e-4)
    assert found.marginals["v0"] == pytest.approx(exact.marginals["v0"], abs=1e-3)


def test_the_error_is_1_when_messages_do_not_settle(monkeypatch):
    monkeypatch.setattr("localfact.inference.loopy.MAX_SWEEPS", 2)
    found = marginals(response_graph(1, claims=10, passages=10, chance=0.5), solver="loopy")
    assert found.error == 1
    assert all(0 <= value <= 1 for value in found.marginals.values())


def test_the_papers_example_1_with_all_three_sets_of_tables():
    relations = [relation("c1", "a", "entailment", 0.8), relation("c2", "a", "contradiction", 0.9)]
    for tables, posterior in (("paper", 0.3178807947), ("priors", 0.3130495211), ("balanced", 0.3130495211)):
        graph = build_graph({"a": 0.5}, {"c1": 0.99, "c2": 0.99}, relations, tables=tables)
        assert marginals(graph).marginals["a"] == pytest.approx(posterior, abs=1e-10)


def test_relations_on_one_pair_multiply_in_either_direction():
    twice = [relation("c", "d", "equivalence", 0.8), relation("d", "c", "equivalence", 0.8)]
    once = [relation("c", "d", "equivalence", 0.64 / (0.64 + 0.04))]
    found, expected = (
        marginals(build_graph({}, {"c": 0.9, "d": 0.3}, relations, tables="paper")).marginals for relations in (twice, once)
    )
    assert found == pytest.approx(expected)


def test_an_isolated_variable_keeps_its_prior_and_nothing_at_all_is_no_error():
    assert marginals(build_graph({"a": 0.25}, {}, [], tables="paper")).marginals == {"a": 0.25}
    empty = marginals(build_graph({}, {}, [], tables="paper"))
    assert (empty.marginals, empty.consistent, empty.exact, empty.log_z) == ({}, True, True, 0)


def test_a_contradiction_of_certainties_is_inconsistent_without_nan():
    graph = build_graph({"a": 0.5}, {"c": 1.0, "d": 1.0}, [relation("c", "a", "entailment", 1.0)] * 2, tables="paper")
    assert marginals(graph).marginals == {"a": 1.0, "c": 1.0, "d": 1.0}
    against = [relation("c", "a", "entailment", 1.0), relation("d", "a", "contradiction", 1.0)]
    found = marginals(build_graph({"a": 0.5}, {"c": 1.0, "d": 1.0}, against, tables="paper"))
    assert (found.consistent, found.marginals, found.log_z, found.error) == (False, None, None, 0.0)


def test_a_long_chain_of_equivalences_forgets_by_its_length():
    # Every link of p keeps 2p - 1 of what it passes on: a textbook result for symmetric chains.
    names = [f"c{i}" for i in range(1500)]
    links = [relation(one, other, "equivalence", 0.999) for one, other in itertools.pairwise(names)]
    priors = dict.fromkeys(names, 0.5) | {names[0]: 1.0}
    found = marginals(build_graph({}, priors, links, tables="paper")).marginals
    assert found[names[-1]] == pytest.approx(0.5 + 0.5 * 0.998**1499, abs=1e-12)


def test_a_star_whose_weights_underflow_is_still_exact():
    leaves = [f"c{i}" for i in range(400)]
    relations = [relation(leaf, "a", "contradiction", 0.001) for leaf in leaves[:200]]
    relations += [relation(leaf, "a", "entailment", 0.001) for leaf in leaves[200:]]
    found = marginals(build_graph({"a": 0.5}, dict.fromkeys(leaves, 1.0), relations, tables="paper"))
    assert found.marginals["a"] == pytest.approx(0.5)
    assert found.log_z == pytest.approx(200 * (math.log(0.001) + math.log(0.999)), rel=1e-12)


def clique(size: int) -> FactorGraph:
    names = [f"c{i}" for i in range(size)]
    relations = [relation(one, other, "equivalence", 0.6) for one, other in itertools.combinations(names, 2)]
    return build_graph({}, dict.fromkeys(names, 0.6), relations, tables="paper")


def test_auto_is_exact_up_to_the_width_limit_and_approximate_beyond():
    narrow, wide = marginals(clique(17)), marginals(clique(18))
    assert (narrow.solver, narrow.exact, narrow.width) == ("exact", True, 16)
    assert (wide.solver, wide.exact, wide.width, wide.log_z) == ("loopy", False, None, None)


def test_auto_is_exact_for_a_narrow_component_beside_a_wide_one():
    wide = clique(18)
    both = FactorGraph(
        (*wide.ids, "a", "b"),
        np.append(wide.priors, [0.5, 0.9]),
        np.append(wide.edges, [[19, 18]], axis=0),
        np.append(wide.tables, [[[0.5, 0.5], [0.2, 0.8]]], axis=0),
    )
    found = marginals(both)
    assert found.solver == "exact+loopy"
    assert not found.exact
    assert found.marginals["a"] == pytest.approx(0.9 * 0.8 + 0.1 * 0.5)


def test_the_exact_solver_refuses_a_wide_graph_and_names_width_and_limit():
    with pytest.raises(InputError, match=r"reaches width 17, the limit is 16\. Use the solver 'auto'"):
        marginals(clique(18), solver="exact")


def test_tables_that_together_are_too_large_are_refused(monkeypatch):
    monkeypatch.setattr("localfact.inference.elimination.ENTRIES_LIMIT", 100)
    with pytest.raises(InputError, match="more than 100 numbers"):
        marginals(clique(8), solver="exact")


def test_an_unknown_solver_is_refused_with_the_known_names():
    with pytest.raises(InputError, match=r"no solver 'magic'.*auto, exact, loopy"):
        marginals(clique(3), solver="magic")


def test_another_process_computes_the_same_bits():
    graph = response_graph(5, claims=30, passages=30, chance=0.5)
    here = repr(marginals(graph).marginals)
    code = (
        "import numpy as np\n"
        "from localfact.inference import FactorGraph, marginals\n"
        f"graph = FactorGraph({graph.ids!r}, {graph.priors.tolist()!r}, {graph.edges.tolist()!r}, {graph.tables.tolist()!r})\n"
        "print(repr(marginals(graph).marginals))\n"
    )
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert there.stdout.strip() == here


@pytest.mark.filterwarnings("ignore")
def test_pgmpys_variable_elimination_agrees():
    from pgmpy.factors.discrete import DiscreteFactor
    from pgmpy.inference import VariableElimination
    from pgmpy.models import DiscreteMarkovNetwork

    graph = response_graph(3, claims=6, passages=8, chance=0.3, tables="balanced")
    network = DiscreteMarkovNetwork()
    network.add_nodes_from(graph.ids)
    for name, prior in zip(graph.ids, graph.priors, strict=True):
        network.add_factors(DiscreteFactor([name], [2], [1 - prior, prior]))
    for (source, target), table in zip(graph.edges, graph.tables, strict=True):
        network.add_edge(graph.ids[source], graph.ids[target])
        network.add_factors(DiscreteFactor([graph.ids[source], graph.ids[target]], [2, 2], table))
    inference = VariableElimination(network)
    for name, value in marginals(graph).marginals.items():
        false, true = inference.query([name], show_progress=False).values
        assert true / (false + true) == pytest.approx(value, abs=1e-10)
