"""The factor graph of one response: a binary variable per claim and passage, a factor per relation.

The assessor builds it from predictions, reading.py from a file; solve.py computes its marginals.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from localfact.inference.tables import TableSet, factor_table, makes_factor
from localfact.records import Relation
from localfact.vocabulary import RelationLabel

#: Prior of a passage in the paper (FactReasoner, section 3.1), and q of the `priors` tables for a passage as target.
PASSAGE_PRIOR = 0.99
#: Prior of a claim in the paper, and q of the `priors` tables for a claim as target.
CLAIM_PRIOR = 0.5


@dataclass(frozen=True, eq=False)
class FactorGraph:
    """n binary variables with priors and m pairwise factors. The arrays are read-only copies.

    The weight of an assignment is the product over variables of (1 - prior, prior) and over factors of their table's entry.
    Several factors may join one pair of variables, in either direction: they multiply. Zeros are allowed everywhere.

    Attributes:
        ids: the variables' names, unique, n of them.
        priors: (n,) P(true) of each variable by itself, in [0, 1].
        edges: (m, 2) positions of source and target in `ids`.
        tables: (m, 2, 2) plain weights >= 0, tables[e, source, target], false before true.
        dropped: how many relations made no factor because their tables have no use for them (see `makes_factor`).
    """

    ids: tuple[str, ...]
    priors: NDArray[np.float64]
    edges: NDArray[np.int64]
    tables: NDArray[np.float64]
    dropped: int = 0

    def __post_init__(self) -> None:
        """Copies the arrays to their fixed types and shapes and locks them."""
        count = len(self.edges)
        _lock(self, "priors", np.array(self.priors, dtype=np.float64).reshape(len(self.ids)))
        _lock(self, "edges", np.array(self.edges, dtype=np.int64).reshape(count, 2))
        _lock(self, "tables", np.array(self.tables, dtype=np.float64).reshape(count, 2, 2))


def build_graph(
    claims: Mapping[str, float],
    passages: Mapping[str, float],
    relations: Sequence[Relation],
    *,
    tables: TableSet,
    passage_prior: float = PASSAGE_PRIOR,
) -> FactorGraph:
    """Builds the graph of claims and passages, each given as id -> prior, and the relations between them.

    Args:
        claims: ids and priors of the claims.
        passages: the same for passages. No id may stand in both.
        relations: between the ids above. Neutral ones make no factor and are not counted as dropped.
        tables: which of the three sets of tables. The target's prior q is its own prior in `balanced`; in `priors` it is 0.5
            for a claim and `passage_prior` for a passage, whatever their own priors.
        passage_prior: see `tables`.
    """
    priors = {**claims, **passages}
    if len(priors) != len(claims) + len(passages):
        raise ValueError("an id stands for both a claim and a passage")
    position = {identity: index for index, identity in enumerate(priors)}
    kept = [relation for relation in relations if makes_factor(tables, relation.label, relation.probability)]

    def target_prior(target: str) -> float:
        if tables == "balanced":
            return priors[target]
        return CLAIM_PRIOR if target in claims else passage_prior

    def table(relation: Relation) -> NDArray[np.float64]:
        of_one_kind = (relation.source in passages) == (relation.target in passages)
        q = target_prior(relation.target)
        return factor_table(tables, relation.label, relation.probability, q, of_one_kind=of_one_kind)

    return FactorGraph(
        ids=tuple(priors),
        priors=np.array(list(priors.values())),
        edges=np.array([(position[relation.source], position[relation.target]) for relation in kept]),
        tables=np.array([table(relation) for relation in kept]),
        dropped=sum(relation.label is not RelationLabel.NEUTRAL for relation in relations) - len(kept),
    )


def _lock(graph: FactorGraph, name: str, array: NDArray[np.generic]) -> None:
    array.setflags(write=False)
    object.__setattr__(graph, name, array)
