"""Elimination orders: their widths on graphs of known width, and that they are what min-fill says."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.inference import elimination
from localfact.inference.components import Component
from localfact.inference.elimination import EliminationOrder, TooWide, min_fill_order


def component(count: int, pairs: list[tuple[int, int]]) -> Component:
    edges = np.array(sorted({(min(pair), max(pair)) for pair in pairs}), dtype=np.int64).reshape(-1, 2)
    return Component(np.arange(count), np.zeros((count, 2)), edges, np.zeros((len(edges), 2, 2)))


def grid(side: int) -> Component:
    across = [(side * row + column, side * row + column + 1) for row in range(side) for column in range(side - 1)]
    down = [(side * row + column, side * (row + 1) + column) for row in range(side - 1) for column in range(side)]
    return component(side * side, across + down)


@pytest.mark.parametrize(
    ("graph", "width"),
    [
        (component(1, []), 0),
        (component(2, [(0, 1)]), 1),
        (component(30, [(0, leaf) for leaf in range(1, 30)]), 1),
        (component(30, list(itertools.pairwise(range(30)))), 1),
        (component(30, [*itertools.pairwise(range(30)), (0, 29)]), 2),
        (grid(4), 4),
        (component(9, list(itertools.combinations(range(9), 2))), 8),
    ],
)
def test_the_width_of_simple_graphs_is_their_treewidth(graph, width):
    order = min_fill_order(graph)
    assert isinstance(order, EliminationOrder)
    assert order.width == width
    assert sorted(order.variables) == list(range(len(graph.variables)))


def test_a_tree_is_ordered_without_looking_for_fill(monkeypatch):
    monkeypatch.setattr(elimination, "_cost", None)
    assert min_fill_order(component(7, [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6)])).width == 1


@given(pairs=st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda pair: pair[0] != pair[1]), max_size=25))
def test_every_step_joins_as_few_unjoined_neighbours_as_any_could(pairs):
    order = min_fill_order(component(10, list(pairs)))
    neighbours = {variable: set() for variable in range(10)}
    for one, other in pairs:
        neighbours[one].add(other)
        neighbours[other].add(one)

    def fill(variable):
        return [(a, b) for a, b in itertools.combinations(sorted(neighbours[variable]), 2) if b not in neighbours[a]]

    for variable, separator in zip(order.variables, order.separators, strict=True):
        assert list(separator) == sorted(neighbours[variable])
        assert len(fill(variable)) == min(len(fill(other)) for other in neighbours)
        for a, b in fill(variable):
            neighbours[a].add(b)
            neighbours[b].add(a)
        del neighbours[variable]
        for others in neighbours.values():
            others.discard(variable)


def clique(size: int) -> Component:
    return component(size, list(itertools.combinations(range(size), 2)))


def test_a_graph_beyond_the_limits_is_given_up_with_the_reason():
    reason = "elimination reaches width 17, where the limits are 16 or 1000 table cells in all"
    assert min_fill_order(clique(18), cells_limit=1000) == TooWide(reason)
    # Cells of 2^18 + 2^17 + ... + 2, and not one more.
    assert isinstance(min_fill_order(clique(18), cells_limit=2**19 - 3), TooWide)
    assert min_fill_order(clique(18), cells_limit=2**19 - 2).width == 17


def test_a_narrow_graph_is_taken_whatever_its_cells_up_to_the_ceiling(monkeypatch):
    assert min_fill_order(clique(17), cells_limit=1000).width == 16
    monkeypatch.setattr(elimination, "CELLS_CEILING", 2**18 - 3)
    assert isinstance(min_fill_order(clique(17), cells_limit=1000), TooWide)


def test_a_hopeless_graph_is_given_up_without_looking_for_fill(monkeypatch):
    monkeypatch.setattr(elimination, "_cost", None)
    assert isinstance(min_fill_order(clique(40)), TooWide)
