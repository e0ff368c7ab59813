"""Thousands of small random graphs against plain enumeration, in all three sets of tables; and what must not matter."""

from itertools import combinations

import numpy as np
import pytest
from random_graphs import SHAPES, enumerate_all, random_graph, response_graph

from localfact.inference import FactorGraph, marginals
from localfact.inference.factor_graph import build_graph
from localfact.inference.tables import TABLE_SETS
from localfact.records import Relation
from localfact.vocabulary import RelationLabel

#: Graphs of each set of tables, soft and hard alike.
GRAPHS = 500


def values(graph: FactorGraph, solver: str = "auto") -> np.ndarray:
    return np.array([marginals(graph, solver=solver).marginals[name] for name in graph.ids])


@pytest.mark.slow
@pytest.mark.parametrize("hard", [0.0, 0.2])
@pytest.mark.parametrize("tables", TABLE_SETS)
def test_marginals_pair_marginals_and_log_z_equal_enumeration(tables, hard):
    consistent = 0
    for seed in range(GRAPHS):
        graph = random_graph(seed, tables, hard=hard)
        found, known = marginals(graph), enumerate_all(graph)
        assert found.consistent == (known is not None), seed
        if known is not None:
            consistent += 1
            assert list(found.marginals.values()) == pytest.approx(known[0].tolist(), abs=1e-10), seed
            assert found.factor_marginals == pytest.approx(known[1], abs=1e-10), seed
            assert found.log_z == pytest.approx(known[2], abs=1e-9), seed
    assert consistent > GRAPHS / 4
    assert (consistent == GRAPHS) == (hard == 0)


@pytest.mark.slow
@pytest.mark.parametrize("tables", TABLE_SETS)
def test_belief_propagation_is_near_enumeration_on_small_graphs_with_hard_probabilities_too(tables):
    for seed in range(150):
        graph = random_graph(seed, tables, hard=0.15 * (seed % 2), most=12)
        found, known = marginals(graph, solver="bp"), enumerate_all(graph)
        assert found.consistent == (known is not None), seed
        if known is not None:
            assert 0 <= found.error <= 1, seed
            assert list(found.marginals.values()) == pytest.approx(known[0].tolist(), abs=2e-3), seed
            assert found.log_z == pytest.approx(known[2], abs=5e-3), seed


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["auto", "bp"])
@pytest.mark.parametrize("seed", range(8))
def test_names_and_the_order_of_variables_and_factors_do_not_matter(solver, seed):
    graph = response_graph(seed, claims=12, passages=9, chance=0.5, tables=TABLE_SETS[seed % 3], between=0.2)
    random = np.random.default_rng(seed)
    places, factors = random.permutation(len(graph.ids)), random.permutation(len(graph.edges))
    turned = random.random(len(factors)) < 0.5
    edges = np.argsort(places)[graph.edges[factors]]
    shuffled = FactorGraph(
        tuple(f"renamed {graph.ids[place]}" for place in places),
        graph.priors[places],
        np.where(turned[:, None], edges[:, ::-1], edges),
        np.where(turned[:, None, None], graph.tables[factors].transpose(0, 2, 1), graph.tables[factors]),
    )
    assert values(shuffled, solver) == pytest.approx(values(graph, solver)[places], abs=1e-9 if solver == "auto" else 1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("size", [6, 12, 26])
def test_a_symmetric_graph_gets_a_symmetric_answer(size):
    names = [f"c{i}" for i in range(size)]
    alike = [
        Relation(source=one, target=other, label=RelationLabel.EQUIVALENCE, probability=0.7)
        for one, other in combinations(names, 2)
    ]
    graph = build_graph({}, dict.fromkeys(names, 0.5), alike, tables="paper")
    for solver in ("auto", "bp"):
        # True and false weigh the same, and every variable is like every other.
        assert values(graph, solver) == pytest.approx(0.5, abs=1e-4), solver


@pytest.mark.parametrize("seed", range(20))
def test_balanced_factors_leave_passages_at_their_priors_in_a_tree_without_evidence_against_them(seed):
    random = np.random.default_rng(seed)
    passages = {f"c{i}": float(random.uniform(0.05, 0.99)) for i in range(6)}
    claims = {f"a{i}": float(random.uniform(0.2, 0.8)) for i in range(12)}
    # Every claim hangs on one passage, and every passage on an earlier one that speaks of it: nothing meets anywhere.
    relations = [
        Relation(
            source=f"c{random.integers(6)}", target=claim, label=(RelationLabel.ENTAILMENT, RelationLabel.CONTRADICTION)[i % 2],
            probability=float(random.uniform(0.55, 1.0)),
        )
        for i, claim in enumerate(claims)
    ]  # fmt: skip
    graph = build_graph(claims, passages, relations, tables="balanced")
    found = marginals(graph)
    assert {name: found.marginals[name] for name in passages} == pytest.approx(passages, abs=1e-12)
    paper = marginals(build_graph(claims, passages, relations, tables="paper")).marginals
    assert any(abs(paper[name] - prior) > 0.01 for name, prior in passages.items())


def test_the_random_graphs_have_the_shapes_they_are_for():
    graphs = [random_graph(seed, "paper", hard=0.2) for seed in range(GRAPHS)]
    pairs = [[tuple(sorted(edge)) for edge in graph.edges.tolist()] for graph in graphs]
    assert any(len(set(own)) < len(own) for own in pairs)
    assert any(
        len(set(own)) == len(graph.ids) * (len(graph.ids) - 1) / 2 > 20 for own, graph in zip(pairs, graphs, strict=True)
    )
    assert any((graph.tables == 0).any() for graph in graphs)
    assert any(np.isin(graph.priors, (0, 1)).any() for graph in graphs)
    assert len(SHAPES) == 6
