"""Elimination orders: their widths on graphs of known width, and that they are what min-fill says."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.inference import elimination
from localfact.inference.components import Component
from localfact.inference.elimination import EliminationOrder, TooWide, elimination_order


def component(count: int, pairs: list[tuple[int, int]]) -> Component:
    edges = np.array(sorted({(min(pair), max(pair)) for pair in pairs}), dtype=np.int64).reshape(-1, 2)
    return Component(np.arange(count), np.zeros((count, 2)), edges, np.zeros((len(edges), 2, 2)))


def grid(height: int, length: int, seed: int | None = None) -> Component:
    """Numbered column by column, or at random with a seed."""
    count = height * length
    place = list(range(count)) if seed is None else np.random.default_rng(seed).permutation(count).tolist()
    down = [(place[at], place[at + 1]) for at in range(count) if (at + 1) % height]
    across = [(place[at], place[at + height]) for at in range(count - height)]
    return component(count, down + across)


@pytest.mark.parametrize(
    ("graph", "width"),
    [
        (component(1, []), 0),
        (component(2, [(0, 1)]), 1),
        (component(30, [(0, leaf) for leaf in range(1, 30)]), 1),
        (component(30, list(itertools.pairwise(range(30)))), 1),
        (component(30, [*itertools.pairwise(range(30)), (0, 29)]), 2),
        (grid(4, 4), 4),
        (component(9, list(itertools.combinations(range(9), 2))), 8),
    ],
)
def test_the_width_of_simple_graphs_is_their_treewidth(graph, width):
    order = elimination_order(graph)
    assert isinstance(order, EliminationOrder)
    assert order.width == width
    assert sorted(order.variables) == list(range(len(graph.variables)))


def test_a_tree_is_ordered_without_looking_for_fill(monkeypatch):
    monkeypatch.setattr(elimination, "_cost", None)
    assert elimination_order(component(7, [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6)])).width == 1


@given(pairs=st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda pair: pair[0] != pair[1]), max_size=25))
def test_every_step_joins_as_few_unjoined_neighbours_as_any_could(pairs):
    order = elimination_order(component(10, list(pairs)))
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
    assert elimination_order(clique(18), cells_limit=1000) == TooWide(reason)
    # Cells of 2^18 + 2^17 + ... + 2, and not one more.
    assert isinstance(elimination_order(clique(18), cells_limit=2**19 - 3), TooWide)
    assert elimination_order(clique(18), cells_limit=2**19 - 2).width == 17


def test_a_narrow_graph_is_taken_whatever_its_cells_up_to_the_ceiling(monkeypatch):
    assert elimination_order(clique(17), cells_limit=1000).width == 16
    monkeypatch.setattr(elimination, "CELLS_CEILING", 2**18 - 3)
    assert isinstance(elimination_order(clique(17), cells_limit=1000), TooWide)


def test_a_hopeless_graph_is_given_up_without_looking_for_fill(monkeypatch):
    monkeypatch.setattr(elimination, "_cost", None)
    assert isinstance(elimination_order(clique(40)), TooWide)


@pytest.mark.parametrize("seed", [None, 0, 1])
@pytest.mark.parametrize(("height", "length"), [(12, 40), (13, 40), (14, 60), (16, 20)])
def test_a_long_grid_is_as_wide_as_it_is_high_however_it_is_numbered(height, length, seed):
    order = elimination_order(grid(height, length, seed))
    assert isinstance(order, EliminationOrder)
    assert order.width == height
    assert sorted(order.variables) == list(range(height * length))


def test_min_fill_alone_would_find_the_grid_too_wide():
    neighbours = elimination._neighbourhoods(grid(12, 40))
    assert not elimination._by_fewest_joins(neighbours, elimination.CELLS_LIMIT).within(elimination.CELLS_LIMIT)


@pytest.mark.parametrize("attempt", ["_by_fewest_neighbours", "_by_sweep", "_as_numbered"])
@given(pairs=st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda pair: pair[0] != pair[1]), max_size=25))
def test_the_other_orders_have_the_separators_of_their_elimination(attempt, pairs):
    found = getattr(elimination, attempt)(elimination._neighbourhoods(component(10, list(pairs))), 2**20)
    order = found.order()
    assert sorted(order.variables) == list(range(10))
    assert found.width == order.width
    assert found.cells == sum(2 ** (len(separator) + 1) for separator in order.separators)
    joined = {frozenset(pair) for pair in pairs}
    for place, (variable, separator) in enumerate(zip(order.variables, order.separators, strict=True)):
        later = order.variables[place + 1 :]
        assert list(separator) == sorted(other for other in later if frozenset((variable, other)) in joined)
        joined |= {frozenset(pair) for pair in itertools.combinations(separator, 2)}


def test_the_cheapest_order_within_the_limits_is_taken(monkeypatch):
    monkeypatch.setattr(elimination, "WIDTH_LIMIT", 5)
    monkeypatch.setattr(elimination, "CELLS_LIMIT", 0)
    graph = grid(5, 9, seed=2)
    neighbours = elimination._neighbourhoods(graph)
    attempts = [
        elimination._by_fewest_joins(neighbours, 2**20),
        elimination._by_fewest_neighbours(neighbours, 99),
        elimination._by_sweep(neighbours, 2**20),
        elimination._as_numbered(neighbours, 2**20),
    ]
    cells = [found.cells for found in attempts]
    assert len(set(cells)) == 4
    assert elimination_order(graph, cells_limit=2**20) == attempts[cells.index(min(cells))].order()


def test_a_graph_that_is_truly_wide_costs_the_other_attempts_only_a_few_steps(monkeypatch):
    taken = []
    take = elimination._Elimination.take

    def counted(found, variable):
        taken.append(variable)
        return take(found, variable)

    monkeypatch.setattr(elimination._Elimination, "take", counted)
    random = np.random.default_rng(0)
    pairs = [pair for pair in itertools.combinations(range(300), 2) if random.random() < 0.1]
    assert isinstance(elimination_order(component(300, pairs)), TooWide)
    fewest = len(elimination._by_fewest_neighbours(elimination._neighbourhoods(component(300, pairs)), 27).separators)
    assert len(taken) - 2 * fewest <= 4
