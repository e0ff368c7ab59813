"""The vectors of several segments as one dense index over a corpus's current passages.

The result does not depend on how passages are distributed over segments: candidates are chosen over all segments together by
numbers that depend on each vector alone, and the scores are exact.
"""

# Why codes of one bit and exact scores where a flat index is too slow, and neither IVF nor HNSW: cells and graphs are made of
# all vectors together, so segments would find other passages than an index made at once. They also lose more. Of the ten
# nearest sentences by MiniLM (6,700 of software documentation, 300 queries), an IVF of 64 cells finds 0.92 when it reads 8 of
# them and 0.97 with 16, a quarter of all; the 300 nearest by sign, 1/22 of all, hold 0.997, and the 1,000 nearest all ten. A
# rotation or centring before the signs are taken changes nothing (0.996, 0.995). `make bench` measures clustered vectors.

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from localfact.corpus.indexing.dense_index import (
    CODED_CANDIDATES,
    LEAST_CODED_CANDIDATES,
    ROUNDING,
    DenseIndex,
    Near,
    Positions,
    cutoff,
    rank,
)
from localfact.corpus.indexing.passage_ids import PassageIds
from localfact.corpus.indexing.segment_folders import Segment
from localfact.models.embedder import Vectors


@dataclass(frozen=True)
class Places:
    """The current passages of a segment: their positions in it and among the current ids, both ascending."""

    own: Positions
    current: Positions

    @classmethod
    def of(cls, segment: PassageIds, current: PassageIds) -> "Places":
        """Finds the ids that both have."""
        found = current.positions(segment.all)
        return cls(np.flatnonzero(found >= 0), found[found >= 0])

    def to_current(self, own: Positions) -> Positions:
        """Positions in the segment as positions among the current ids, -1 for passages that are not current."""
        return translate(own, self.own, self.current)

    def to_own(self, current: Positions) -> Positions:
        """Positions among the current ids as positions in the segment, -1 for passages that are not in it."""
        return translate(current, self.current, self.own)


def translate(asked: Positions, source: Positions, target: Positions) -> Positions:
    """The element of `target` at the place where `source`, ascending, holds each asked value; -1 where it does not."""
    if not len(source):
        return np.full(len(asked), -1, dtype=np.int64)
    place = np.minimum(np.searchsorted(source, asked), len(source) - 1)
    return np.where(source[place] == asked, target[place], -1)


class DenseSegments:
    """Similarities of the current passages to a vector; a passage is known by its position among the current ids.

    Args:
        ids: the current ids.
        segments: which together hold all of them.
        parts: how many vectors the current passages have.
        by_codes: whether candidates are chosen by codes.

    Raises:
        ValueError: the segments do not hold all current passages.
    """

    def __init__(self, ids: PassageIds, segments: Sequence[Segment[DenseIndex]], parts: int, *, by_codes: bool) -> None:
        self._count = len(ids)
        self._segments = [(segment.part, Places.of(segment.ids, ids)) for segment in segments]
        self.parts = parts
        self.by_codes = by_codes
        held = np.zeros(len(ids), dtype=bool)
        for _, places in self._segments:
            held[places.current] = True
        if not held.all():
            raise ValueError(f"{int((~held).sum())} of {len(ids)} passages have no vectors")

    def __len__(self) -> int:
        return self._count

    def best(self, vector: Vectors, count: int) -> list[int]:
        """Positions of the `count` passages most similar to the vector, best first, ties by position.

        With codes, of the candidates only; there are at least CODED_CANDIDATES times `count` of them.
        """
        wanted = max(CODED_CANDIDATES * count, LEAST_CODED_CANDIDATES) if self.by_codes else count
        near = [
            dense.near(vector, wanted, by_codes=self.by_codes, renumber=places.to_current) for dense, places in self._segments
        ]
        together = Near(np.concatenate([each.passages for each in near]), np.concatenate([each.distances for each in near]))
        last = cutoff(together, wanted) + (0.0 if self.by_codes else ROUNDING)
        passages = np.unique(together.passages[together.distances <= last])
        return rank(passages, self._similarities(vector, passages), count)

    def part_vectors(self, position: int) -> Vectors:
        """The vectors of one passage's parts, shape (parts, dimension)."""
        dense, own = self._place(position)
        return dense.part_vectors(own)

    def similarity(self, vector: Vectors, position: int) -> float:
        """The cosine between the vector and the passage's best part, in [-1, 1]."""
        dense, own = self._place(position)
        return dense.similarity(vector, own)

    def _similarities(self, vector: Vectors, passages: Positions) -> NDArray[np.float32]:
        scores = np.empty(len(passages), dtype=np.float32)
        for dense, places in self._segments:
            own = places.to_own(passages)
            scores[own >= 0] = dense.similarities(vector, own[own >= 0])
        return scores

    def _place(self, position: int) -> tuple[DenseIndex, int]:
        """The segment that holds the passage at this position, and where in it."""
        wanted = np.array([position])
        found = ((dense, int(places.to_own(wanted)[0])) for dense, places in self._segments)
        return next((dense, own) for dense, own in found if own >= 0)


def read_vectors(ids: NDArray[np.bytes_], segments: Sequence[Segment[DenseIndex]]) -> tuple[Vectors, Positions]:
    """The vectors that the segments have of these passages, in the order of the ids, and how many parts each passage has."""
    counts = np.zeros(len(ids), dtype=np.int64)
    rows, owners = [], []
    for segment in segments:
        own = segment.ids.positions(ids)
        new = np.flatnonzero((own >= 0) & (counts == 0))
        vectors, counts[new] = segment.part.select(own[new])
        rows.append(vectors)
        owners.append(np.repeat(new, counts[new]))
    return np.concatenate(rows)[np.argsort(np.concatenate(owners), kind="stable")], counts
