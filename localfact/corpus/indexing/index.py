"""Finds the passages that match a text best: BM25 and, with an embedder, vectors, fused by reciprocal rank."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from localfact.corpus.indexing.bm25 import BM25
from localfact.corpus.indexing.dense_index import DenseIndex, PassageEmbedder
from localfact.corpus.indexing.dense_segments import DenseSegments
from localfact.models.embedder import Vectors

#: The constant of reciprocal-rank fusion.
FUSION_CONSTANT = 60
#: How many of each ranking's best passages are fused.
FUSION_DEPTH = 100


@dataclass(frozen=True)
class Index:
    """An immutable index of passages.

    Attributes:
        ids: the passages' ids, ascending, so that order by position is order by id.
        dense: None without an embedder; then BM25 ranks alone.

    Raises:
        ValueError: the parts do not hold the same number of passages.
    """

    ids: Sequence[str]
    lexical: BM25
    dense: DenseIndex | DenseSegments | None

    def __post_init__(self) -> None:
        for part in (self.lexical, self.dense):
            if part is not None and len(part) != len(self.ids):
                raise ValueError(f"{type(part).__name__} has {len(part)} passages, not {len(self.ids)}")

    @classmethod
    def of(cls, texts: Mapping[str, str], embedder: PassageEmbedder | None) -> "Index":
        """Builds the index of at least one passage, given as id -> text."""
        ids = tuple(sorted(texts))
        ordered = [texts[passage] for passage in ids]
        dense = DenseIndex.of(ordered, embedder) if embedder is not None else None
        return cls(ids, BM25.of(ordered), dense)

    @property
    def counts(self) -> tuple[int, int | None]:
        """How many passages and, with an embedder, how many vectors it holds."""
        return len(self.ids), self.dense.parts if self.dense is not None else None

    def search(self, text: str, vector: Vectors | None, count: int) -> list[tuple[str, float]]:
        """The best `count` passages as (id, score), best first, ties by id; fewer where fewer match at all.

        The score is that of reciprocal-rank fusion, the sum of 1 / (FUSION_CONSTANT + rank) over the rankings that hold the
        passage; without vectors, BM25 itself.
        """
        depth = max(count, FUSION_DEPTH)
        scores = self.lexical.scores(text)
        by_words = best_positions(scores, depth)
        if self.dense is None or vector is None:
            return [(self.ids[position], float(scores[position])) for position in by_words[:count]]
        fused = reciprocal_rank_fusion([self.dense.best(vector, depth), by_words])
        return [(self.ids[position], score) for position, score in fused[:count]]

    def affinity(self, text: str, vector: Vectors | None, passages: Sequence[str]) -> dict[str, float]:
        """How well each of the passages (ids of this index) matches the text.

        The cosine of its best part, in [-1, 1]; without vectors BM25 relative to the best passage of the index, in [0, 1].
        """
        positions = {passage: self._position(passage) for passage in passages}
        if self.dense is not None and vector is not None:
            return {passage: self.dense.similarity(vector, position) for passage, position in positions.items()}
        scores = self.lexical.scores(text)
        best = float(scores.max())
        return {passage: float(scores[position]) / best if best > 0 else 0.0 for passage, position in positions.items()}

    def vectors_of(self, passage: str) -> Vectors | None:
        """The vectors of the parts of that passage, shape (parts, dimension), if there are vectors."""
        return self.dense.part_vectors(self._position(passage)) if self.dense is not None else None

    def _position(self, passage: str) -> int:
        return bisect_left(self.ids, passage)


def reciprocal_rank_fusion(rankings: Sequence[Sequence[int]]) -> list[tuple[int, float]]:
    """Fuses rankings (positions, best first) into (position, score), best first, ties by position."""
    fused: dict[int, float] = {}
    for ranking in rankings:
        for rank, position in enumerate(ranking, start=1):
            fused[position] = fused.get(position, 0.0) + 1.0 / (FUSION_CONSTANT + rank)
    return sorted(fused.items(), key=lambda item: (-item[1], item[0]))


def best_positions(scores: NDArray[np.float32], count: int) -> list[int]:
    """Positions of the `count` highest scores above 0, highest first, ties by position."""
    candidates = np.flatnonzero(scores > 0)
    if len(candidates) > count:
        found = scores[candidates]
        candidates = candidates[found >= np.partition(found, -count)[-count]]
    order = np.argsort(-scores[candidates], kind="stable")
    return [int(position) for position in candidates[order][:count]]
