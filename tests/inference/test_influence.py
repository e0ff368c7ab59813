"""Leave-one-out read off the pair marginals, against graphs really solved without the factor."""

import numpy as np
import pytest
from random_graphs import random_graph, response_graph

from localfact.inference import FactorGraph, marginals
from localfact.inference.factor_graph import build_graph
from localfact.inference.influence import leave_one_out
from localfact.records import Relation
from localfact.vocabulary import RelationLabel


def solved_without(graph: FactorGraph, one: str, other: str) -> float | None:
    kept = [factor for factor, edge in enumerate(graph.edges) if {graph.ids[edge[0]], graph.ids[edge[1]]} != {one, other}]
    found = marginals(FactorGraph(graph.ids, graph.priors, graph.edges[kept], graph.tables[kept])).marginals
    return found and found[one]


@pytest.mark.parametrize("hard", [0.0, 0.25])
def test_every_influence_is_that_of_the_graph_without_these_factors(hard):
    checked = 0
    for seed in range(60):
        graph = random_graph(seed, "paper", hard=hard, most=6)
        found = marginals(graph)
        if not found.consistent:
            assert leave_one_out(graph, found, graph.ids) == {}
            continue
        for name, influences in leave_one_out(graph, found, graph.ids).items():
            for influence in influences:
                expected = solved_without(graph, name, influence.neighbour)
                assert influence.without == pytest.approx(expected, abs=1e-9), (seed, name)
                assert influence.shift == pytest.approx(found.marginals[name] - expected, abs=1e-9)
                checked += 1
    assert checked > 200


def test_the_passage_that_moves_a_claim_most_comes_first_and_parallel_factors_count_together():
    told = [("c1", "entailment", 0.75), ("c2", "contradiction", 0.95), ("c3", "entailment", 0.65), ("c3", "entailment", 0.65)]
    relations = [Relation(source=c, target="a", label=RelationLabel(label), probability=p) for c, label, p in told]
    graph = build_graph({"a": 0.5}, dict.fromkeys(("c1", "c2", "c3", "c4"), 0.99), relations, tables="balanced")
    (influences,) = leave_one_out(graph, marginals(graph), ["a"]).values()
    assert [(influence.neighbour, influence.shift > 0) for influence in influences] == [
        ("c2", False),
        ("c3", True),
        ("c1", True),
    ]


def test_a_solver_without_pair_marginals_has_them_computed():
    graph = response_graph(0, claims=4, passages=5, chance=0.5)
    found = marginals(graph)
    bare = type(found)(found.marginals, True, False, 0.01, None, "pgmpy", None)
    assert leave_one_out(graph, bare, ["a0"]) == leave_one_out(graph, found, ["a0"])


def test_on_an_approximated_graph_it_is_near_the_exact_one():
    graph = response_graph(3, claims=14, passages=16, chance=0.3)
    claims = [name for name in graph.ids if name[0] == "a"]
    exact = leave_one_out(graph, marginals(graph, solver="exact"), claims)
    found = leave_one_out(graph, marginals(graph, solver="bp"), claims)
    for name in claims:
        shifts = {influence.neighbour: influence.shift for influence in found[name]}
        for influence in exact[name]:
            assert shifts[influence.neighbour] == pytest.approx(influence.shift, abs=5e-3)
            assert np.isfinite(influence.without)
