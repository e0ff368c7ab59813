"""Summing leaves and links out, and putting them back."""

import numpy as np
import pytest
from random_graphs import enumerate_all, random_graph

from localfact.inference import FactorGraph, marginals
from localfact.inference.components import log_form, split
from localfact.inference.elimination import elimination_order
from localfact.inference.exact import eliminate
from localfact.inference.reduction import reduce
from localfact.inference.tables import TABLE_SETS


def network(count: int, edges: list[tuple[int, int]], seed: int = 0) -> FactorGraph:
    random = np.random.default_rng(seed)
    return FactorGraph(
        tuple(f"v{i}" for i in range(count)), random.random(count), np.array(edges), random.random((len(edges), 2, 2)) + 0.01
    )


@pytest.mark.parametrize(
    ("count", "edges", "core", "width"),
    [
        (1, np.zeros((0, 2), dtype=int), 0, 0),
        (4, [(0, 1), (1, 2), (1, 3)], 0, 1),
        (5, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)], 0, 2),
        # Two rings that share a link, and a tail.
        (6, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 1), (3, 4), (4, 5)], 0, 2),
        # A clique of four with a tail and a bridge over one of its links.
        (7, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (3, 4), (0, 5), (5, 6), (6, 1)], 4, 2),
    ],
)
def test_what_is_left_has_at_least_three_neighbours_each(count, edges, core, width):
    reduction = reduce(log_form(network(count, edges))[0])
    assert len(reduction.core.variables) == core
    assert reduction.width == width
    assert (np.bincount(reduction.core.pairs.reshape(-1), minlength=core) >= 3).all()
    assert len(reduction.steps) == count - core


@pytest.mark.slow
@pytest.mark.parametrize("tables", TABLE_SETS)
def test_reduced_and_unreduced_graphs_have_the_same_marginals_pairs_and_log_z(tables):
    for seed in range(200):
        graph = random_graph(seed, tables)
        found = marginals(graph)
        whole, pair_of = log_form(graph)
        log_z = 0.0
        for part in split(whole):
            plain = eliminate(part.component, elimination_order(part.component))
            log_z += plain.log_z
            values = [found.marginals[graph.ids[variable]] for variable in part.variables]
            assert values == pytest.approx(plain.marginals.tolist(), abs=1e-12), seed
            # Of several factors on one pair any will do, turned to the smaller variable first.
            for pair, joint in zip(part.pairs.tolist(), plain.pair_marginals, strict=True):
                factor = int(np.flatnonzero(pair_of == pair)[0])
                turned = graph.edges[factor, 0] > graph.edges[factor, 1]
                own = found.factor_marginals[factor]
                assert (own.T if turned else own) == pytest.approx(joint, abs=1e-12), seed
        assert found.log_z == pytest.approx(log_z, abs=1e-10)


def test_zeros_are_carried_through():
    graph = FactorGraph(
        ("a", "b", "c", "d"),
        np.array([0.3, 0.6, 0.5, 0.2]),
        np.array([[0, 1], [1, 2], [2, 3], [3, 0]]),
        np.array([[[1, 0], [0.5, 1]], [[1, 0], [0, 1]], [[0, 1], [1, 0.5]], [[0.2, 1], [1, 0]]], dtype=float),
    )
    found, (expected, joint, log_z) = marginals(graph), enumerate_all(graph)
    assert list(found.marginals.values()) == pytest.approx(expected.tolist(), abs=1e-12)
    assert found.factor_marginals == pytest.approx(joint, abs=1e-12)
    assert found.log_z == pytest.approx(log_z)


def test_a_long_chain_needs_no_deep_recursion_and_no_solver(monkeypatch):
    monkeypatch.setattr("localfact.inference.solve.elimination_order", None)
    graph = network(3000, [(i, i + 1) for i in range(2999)])
    assert (marginals(graph).exact, marginals(graph).width) == (True, 1)
