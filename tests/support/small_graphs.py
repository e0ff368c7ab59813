"""Small random factor graphs, and the slow and obvious way to solve them, for the tests of the solvers."""

import itertools

import numpy as np
from hypothesis import strategies as st

from localfact.inference.components import Component
from localfact.inference.factor_graph import FactorGraph

SOFT = st.floats(1e-3, 1 - 1e-3)
HARD = st.one_of(st.sampled_from([0.0, 1.0]), SOFT)


@st.composite
def graphs(draw: st.DrawFn, weights: st.SearchStrategy[float] = SOFT, most: int = 8, edges: int = 20) -> FactorGraph:
    """Any pairs, in either direction and several times over; parts may be disconnected."""
    count = draw(st.integers(1, most))
    pair = st.lists(st.integers(0, count - 1), min_size=2, max_size=2, unique=True)
    pairs = draw(st.lists(pair, max_size=edges)) if count > 1 else []
    tables = [draw(st.lists(weights, min_size=4, max_size=4)) for _ in pairs]
    priors = draw(st.lists(weights, min_size=count, max_size=count))
    return FactorGraph(tuple(f"v{i}" for i in range(count)), priors, np.reshape(pairs, (-1, 2)), np.reshape(tables, (-1, 2, 2)))


def clique(count: int, seed: int, sharpness: float = 1.0) -> FactorGraph:
    """All pairs of `count` variables, with log weights drawn from a normal distribution of this standard deviation."""
    random = np.random.default_rng(seed)
    pairs = list(itertools.combinations(range(count), 2))
    tables = np.exp(sharpness * random.normal(size=(len(pairs), 2, 2)))
    return FactorGraph(tuple(f"v{i}" for i in range(count)), random.uniform(0.1, 0.9, count), np.array(pairs), tables)


def whole(graph: FactorGraph) -> Component:
    """The whole graph as one component, parallel factors multiplied, connected or not."""
    merged: dict[tuple[int, int], np.ndarray] = {}
    with np.errstate(divide="ignore"):
        for (source, target), table in zip(graph.edges.tolist(), np.log(graph.tables), strict=True):
            pair, turned = ((source, target), table) if source < target else ((target, source), table.T)
            merged[pair] = merged.get(pair, np.zeros((2, 2))) + turned
        log_priors = np.log(np.stack([1 - graph.priors, graph.priors], axis=1))
    pairs = sorted(merged)
    tables = np.array([merged[pair] for pair in pairs]).reshape(-1, 2, 2)
    return Component(np.arange(len(graph.ids)), log_priors, np.array(pairs, dtype=np.int64).reshape(-1, 2), tables)


def enumerated(graph: FactorGraph) -> tuple[np.ndarray | None, float]:
    """P(true) of each variable and log Z over all assignments; no marginals where log Z is -inf."""
    values = np.array(list(itertools.product((0, 1), repeat=len(graph.ids))))
    with np.errstate(divide="ignore"):
        logs = np.log(np.where(values == 1, graph.priors, 1 - graph.priors)).sum(axis=1)
        for (source, target), table in zip(graph.edges, np.log(graph.tables), strict=True):
            logs += table[values[:, source], values[:, target]]
    log_z = float(np.logaddexp.reduce(logs))
    return (np.exp(logs - log_z) @ values if np.isfinite(log_z) else None), log_z
