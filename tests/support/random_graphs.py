"""Random graphs for the tests of inference, and the slow and obvious answer: all assignments, one by one."""

import itertools
import math

import numpy as np

from localfact.inference.factor_graph import FactorGraph, build_graph
from localfact.records import Relation
from localfact.vocabulary import RelationLabel

LABELS = (RelationLabel.ENTAILMENT, RelationLabel.CONTRADICTION, RelationLabel.EQUIVALENCE)
SHAPES = ("sparse", "dense", "clique", "tree", "ring", "two parts")


def enumerate_all(graph: FactorGraph) -> tuple[np.ndarray, np.ndarray, float] | None:
    """P(true) (n,), P(source, target) (m, 2, 2) and log Z; None when every assignment weighs 0."""
    values = np.array(list(itertools.product((0, 1), repeat=len(graph.ids))), dtype=int).reshape(-1, len(graph.ids))
    weights = np.prod(np.where(values == 1, graph.priors, 1 - graph.priors), axis=1)
    for (source, target), table in zip(graph.edges, graph.tables, strict=True):
        weights = weights * table[values[:, source], values[:, target]]
    total = weights.sum()
    if total == 0:
        return None
    one_hot = np.stack([1 - values, values], axis=2)
    joint = np.einsum("a,amx,amy->mxy", weights, one_hot[:, graph.edges[:, 0]], one_hot[:, graph.edges[:, 1]])
    return weights @ values / total, joint / total, math.log(total)


def pairs_of(random: np.random.Generator, shape: str, count: int) -> list[tuple[int, int]]:
    """The pairs that get a relation; some twice, and some the other way round."""
    every = list(itertools.combinations(range(count), 2))
    if shape == "clique":
        return every
    if shape == "tree":
        return [(int(random.integers(child)), child) for child in range(1, count)]
    if shape == "ring":
        return [(one, (one + 1) % count) for one in range(count)] if count > 2 else every
    if shape == "two parts":
        return [(one, other) for one, other in every if (one < count // 2) == (other < count // 2)]
    share = 0.3 if shape == "sparse" else 0.7
    chosen = [pair for pair in every if random.random() < share]
    twice = [pair for pair in chosen if random.random() < 0.2]
    return [*chosen, *twice, *((other, one) for one, other in twice)]


def random_graph(seed: int, tables: str, *, hard: float = 0.0, most: int = 9) -> FactorGraph:
    """A small graph of claims and passages with one of the three sets of tables; a share `hard` of its numbers is 0 or 1."""
    random = np.random.default_rng(seed)

    def probability() -> float:
        return float(random.integers(2)) if random.random() < hard else float(random.uniform(0.02, 0.98))

    count = int(random.integers(1, most + 1))
    claims = int(random.integers(count + 1))
    names = [f"a{i}" if i < claims else f"c{i}" for i in range(count)]
    relations = []
    for one, other in pairs_of(random, SHAPES[seed % len(SHAPES)], count):
        source, target = (one, other) if random.random() < 0.5 else (other, one)
        label = LABELS[random.integers(3)]
        relations.append(Relation(source=names[source], target=names[target], label=label, probability=probability()))
    priors = {name: probability() for name in names}
    return build_graph(
        {name: prior for name, prior in priors.items() if name[0] == "a"},
        {name: prior for name, prior in priors.items() if name[0] == "c"},
        relations,
        tables=tables,
    )


def response_graph(
    seed: int, claims: int, passages: int, chance: float, tables: str = "paper", between: float = 0.0
) -> FactorGraph:
    """A graph of the kind that FR2 makes, or FR3 where passages are related among themselves with the chance `between`."""
    random = np.random.default_rng(seed)
    names = [f"c{j}" for j in range(passages)]

    def related(source: str, target: str, labels: tuple[RelationLabel, ...], odds: tuple[float, ...]) -> Relation:
        label = labels[random.choice(len(labels), p=odds)]
        return Relation(source=source, target=target, label=label, probability=random.uniform(0.5, 0.99))

    relations = [
        related(name, f"a{i}", LABELS[:2], (0.75, 0.25)) for i in range(claims) for name in names if random.random() < chance
    ]
    relations += [
        related(one, other, LABELS, (0.5, 0.2, 0.3))
        for one, other in itertools.combinations(names, 2)
        if random.random() < between
    ]
    return build_graph({f"a{i}": 0.5 for i in range(claims)}, dict.fromkeys(names, 0.99), relations, tables=tables)
