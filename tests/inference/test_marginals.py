"""Marginals against plain enumeration of all assignments, on small graphs of every kind."""

import itertools
import math
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import enumerate_all, response_graph
from small_graphs import graphs

from localfact.errors import InputError
from localfact.inference import FactorGraph, marginals
from localfact.inference.components import log_form
from localfact.inference.consistency import literal_classes
from localfact.inference.elimination import elimination_order
from localfact.inference.factor_graph import build_graph
from localfact.records import Relation
from localfact.vocabulary import RelationLabel


def soft(values: st.SearchStrategy[float]) -> st.SearchStrategy[float]:
    return values.filter(lambda value: 1e-3 <= value <= 1 - 1e-3)


unit = st.floats(0, 1, allow_subnormal=False)
hard = st.one_of(st.sampled_from([0.0, 1.0]), soft(unit))


def relation(source: str, target: str, label: str, probability: float) -> Relation:
    return Relation(source=source, target=target, label=RelationLabel(label), probability=probability)


@pytest.mark.slow
@given(graph=graphs(weights=hard, most=7, edges=14))
def test_exact_marginals_and_log_z_equal_enumeration_with_hard_zeros_too(graph):
    known = enumerate_all(graph)
    found = marginals(graph, solver="exact")
    assert found.consistent == (known is not None)
    if known is None:
        assert (found.marginals, found.factor_marginals, found.log_z) == (None, None, None)
    else:
        expected, joint, log_z = known
        assert list(found.marginals) == list(graph.ids)
        assert list(found.marginals.values()) == pytest.approx(expected.tolist(), abs=1e-10)
        assert found.factor_marginals == pytest.approx(joint, abs=1e-10)
        assert found.log_z == pytest.approx(log_z, abs=1e-9)
        assert (found.exact, found.error) == (True, 0.0)


@given(graph=graphs(weights=st.sampled_from([0.0, 0.0, 1.0, 0.5]), most=7, edges=10))
def test_consistency_is_decided_exactly_by_every_solver(graph):
    consistent = enumerate_all(graph) is not None
    assert (literal_classes(log_form(graph)[0]) is not None) == consistent
    assert marginals(graph).consistent == consistent
    assert marginals(graph, solver="bp").consistent == consistent


def test_the_papers_example_1_with_all_three_sets_of_tables():
    relations = [relation("c1", "a", "entailment", 0.8), relation("c2", "a", "contradiction", 0.9)]
    for tables, posterior in (("paper", 0.3178807947), ("priors", 0.3130495211), ("balanced", 0.3130495211)):
        graph = build_graph({"a": 0.5}, {"c1": 0.99, "c2": 0.99}, relations, tables=tables)
        assert marginals(graph).marginals["a"] == pytest.approx(posterior, abs=1e-10)


#: Example 2 adds a contradiction of the two passages, whose probability the paper does not give.
@pytest.mark.parametrize(("tables", "posterior"), [("paper", 0.4325757074), ("balanced", 0.4013168529)])
def test_in_the_papers_example_2_it_does_not_matter_which_passage_contradicts_which(tables, posterior):
    relations = [relation("c1", "a", "entailment", 0.8), relation("c2", "a", "contradiction", 0.9)]
    for ends in (("c1", "c2"), ("c2", "c1")):
        against = relation(*ends, "contradiction", 0.98)
        graph = build_graph({"a": 0.5}, {"c1": 0.99, "c2": 0.99}, [*relations, against], tables=tables)
        assert marginals(graph).marginals["a"] == pytest.approx(posterior, abs=1e-9)


@pytest.mark.parametrize(("against", "posterior"), [(0.9, 0.4115859), (0.9855, 0.59)])
def test_example_2_with_its_third_passage_needs_a_surer_contradiction_than_it_prints(against, posterior):
    relations = [
        *(relation("c1", "a", "entailment", 0.8), relation("c2", "a", "contradiction", 0.9)),
        relation("c3", "c2", "contradiction", against),
    ]
    graph = build_graph({"a": 0.5}, dict.fromkeys(("c1", "c2", "c3"), 0.99), relations, tables="paper")
    assert marginals(graph).marginals["a"] == pytest.approx(posterior, abs=1e-3)


probability = st.floats(0.5, 1, exclude_min=True)


@given(
    priors=st.lists(st.floats(0.05, 0.99), min_size=4, max_size=4),
    against=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), probability), max_size=6),
    claims=st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["entailment", "contradiction"]), probability), max_size=5),
    tables=st.sampled_from(["paper", "balanced"]),
    turned=st.randoms(use_true_random=False),
)
def test_turning_contradictions_of_passages_round_moves_no_posterior(priors, against, claims, tables, turned):
    passages = {f"c{number}": prior for number, prior in enumerate(priors)}
    about = [relation(f"c{passage}", "a", label, min(p, 0.999)) for passage, label, p in claims]
    pairs = [(f"c{one}", f"c{other}", min(p, 0.999)) for one, other, p in against if one != other]
    found = []
    for turn in (lambda: False, lambda: turned.random() < 0.5):
        ends = [(other, one, p) if turn() else (one, other, p) for one, other, p in pairs]
        relations = [*about, *(relation(one, other, "contradiction", p) for one, other, p in ends)]
        found.append(marginals(build_graph({"a": 0.5}, passages, relations, tables=tables)).marginals)
    assert found[0] == pytest.approx(found[1], abs=1e-6)


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


def test_auto_is_exact_up_to_the_width_limit_and_beyond_it_within_the_budget_of_cells(monkeypatch):
    monkeypatch.setattr("localfact.inference.elimination.WIDTH_LIMIT", 6)
    monkeypatch.setattr("localfact.inference.solve.elimination_order", partial(elimination_order, cells_limit=2**9))
    assert [(found.solver, found.width) for found in map(marginals, map(clique, (7, 8, 9)))] == [
        ("exact", 6),
        ("exact", 7),
        ("bp", None),
    ]


def test_auto_is_exact_where_only_a_sweep_is_narrow_enough(monkeypatch):
    height, length = 6, 30
    edges = [(at, at + 1) for at in range(height * length) if (at + 1) % height]
    edges += [(at, at + height) for at in range(height * (length - 1))]
    random = np.random.default_rng(0)
    names = tuple(f"v{i}" for i in range(height * length))
    graph = FactorGraph(names, random.random(len(names)), np.array(edges), random.uniform(0.2, 2.0, (len(edges), 2, 2)))
    known = marginals(graph)
    assert known.width > height
    monkeypatch.setattr("localfact.inference.elimination.WIDTH_LIMIT", height)
    monkeypatch.setattr("localfact.inference.solve.elimination_order", partial(elimination_order, cells_limit=1))
    found = marginals(graph)
    assert (found.solver, found.width, found.error) == ("exact", height, 0.0)
    assert found.marginals == pytest.approx(known.marginals, abs=1e-12)
    assert found.log_z == pytest.approx(known.log_z, abs=1e-10)


def test_auto_is_exact_for_a_narrow_component_beside_a_wide_one():
    wide = clique(22)
    square = [[22, 23], [23, 24], [24, 25], [25, 22], [22, 24], [23, 25]]
    both = FactorGraph(
        (*wide.ids, "a", "b", "c", "d"),
        np.append(wide.priors, [0.5, 0.9, 0.3, 0.4]),
        np.append(wide.edges, square, axis=0),
        np.append(wide.tables, [[[0.5, 0.5], [0.2, 0.8]]] * 6, axis=0),
    )
    found = marginals(both)
    assert (found.solver, found.exact, found.width) == ("exact+bp", False, None)
    alone = FactorGraph(both.ids[22:], both.priors[22:], np.array(square) - 22, both.tables[-6:])
    expected, _, _ = enumerate_all(alone)
    assert [found.marginals[name] for name in alone.ids] == pytest.approx(expected.tolist(), abs=1e-12)


def test_the_exact_solver_refuses_a_wide_graph_and_names_width_and_limits(monkeypatch):
    monkeypatch.setattr("localfact.inference.solve.CELLS_CEILING", 2**18)
    with pytest.raises(InputError, match=r"reaches width \d+, where the limits are 16 or 262144 .* Use the solver 'auto'"):
        marginals(clique(24), solver="exact")


def test_an_unknown_solver_is_refused_with_the_known_names():
    with pytest.raises(InputError, match=r"no solver 'magic'.*auto, exact, bp, wmb, pgmpy"):
        marginals(clique(3), solver="magic")


@pytest.mark.slow
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
