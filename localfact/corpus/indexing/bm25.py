"""BM25 of a corpus's current passages for a text, from the counts in any number of lexical indexes.

The result does not depend on how passages are distributed over the indexes. It is Lucene's BM25, to the bit what bm25s computes
of all passages at once. What a term weighs depends on how many passages there are, how many have it and how long all are in the
mean, so weights are computed when a text is asked about; those of the terms that were last asked about are kept.
"""

import threading
from collections.abc import Iterable, Sequence
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from localfact.corpus.indexing.lexical_index import Integers, LexicalIndex, Postings, terms
from localfact.runtime.recent import Recent

#: How soon more of a term adds no more, and how much a text's length counts against it: the defaults of bm25s.
K1, B = 1.5, 0.75


#: Bytes of the weights that are kept, as texts share their most frequent words; and of a term beside its weights.
KEPT_BYTES, TERM_BYTES = 1 << 27, 400


class Weights(NamedTuple):
    """What a term adds to the scores of the passages at these positions; both of shape (passages that have it,)."""

    positions: Integers
    weights: NDArray[np.float32]


class LexicalPart(NamedTuple):
    """A lexical index, and the position of each of its passages among the current ones.

    -1 where a passage is not current, or another part has it; None where they are the current ones themselves.
    """

    lexical: LexicalIndex
    current: Integers | None = None


class BM25:
    """Scores of the current passages for a text; a passage is known by its position among them.

    Args:
        parts: which together hold each current passage once.
        passages: how many there are.
        total: how many terms they have together.
    """

    def __init__(self, parts: Sequence[LexicalPart], passages: int, total: int) -> None:
        self._passages = passages
        mean = total / passages if total and passages else 1.0
        self._parts = [(part, K1 * ((1 - B) + B * part.lexical.lengths / mean)) for part in parts]
        self._kept: Recent[Weights] = Recent(KEPT_BYTES)
        self._lock = threading.Lock()

    @classmethod
    def of(cls, texts: Iterable[str]) -> "BM25":
        """Over the texts, in the order given; they are read one by one."""
        index = LexicalIndex.of(texts)
        return cls([LexicalPart(index)], len(index), int(index.lengths.sum()))

    def __len__(self) -> int:
        return self._passages

    def scores(self, text: str) -> NDArray[np.float32]:
        """BM25 of every passage for the text, shape (passages,); 0 where they share no term."""
        scores = np.zeros(self._passages, dtype=np.float32)
        weights: dict[str, Weights] = {}
        for term in terms(text):
            if term not in weights:
                weights[term] = self._weights(term)
            positions, own = weights[term]
            scores[positions] += own
        return scores

    def _weights(self, term: str) -> Weights:
        with self._lock:
            kept = self._kept.get(term)
        if kept is not None:
            return kept
        found = [(*current(part, term), discounts) for part, discounts in self._parts]
        having = sum(len(positions) for positions, _, _ in found)
        # In single precision as in bm25s.
        rarity = np.float32(log(1 + (self._passages - having + 0.5) / (having + 0.5)))
        positions: list[Integers] = [np.empty(0, dtype=np.int64)]
        weights = [np.empty(0, dtype=np.float32)]
        for here, postings, discounts in found:
            counts = postings.counts.astype(np.float64)
            positions.append(here)
            weights.append((rarity * (counts / (discounts[postings.positions] + counts))).astype(np.float32))
        made = Weights(np.concatenate(positions), np.concatenate(weights))
        with self._lock:
            if self._kept.get(term) is None:
                self._kept.keep(term, made, made.positions.nbytes + made.weights.nbytes + TERM_BYTES)
        return made


def current(part: LexicalPart, term: str) -> tuple[Integers, Postings]:
    """The current positions of the passages that have the term, and the postings of these."""
    postings = part.lexical.postings(term)
    if part.current is None:
        return postings.positions, postings
    positions = part.current[postings.positions]
    kept = positions >= 0
    if not kept.all():
        return positions[kept], Postings(postings.positions[kept], postings.counts[kept])
    return positions, postings
