"""Vectors of passages (FAISS, exact inner product), in memory or as an immutable folder that is mapped into memory.

A passage longer than the embedder's window is embedded in parts, and its best part is its score.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localfact.embedding import Embedder, Vectors

VECTORS_FILE = "dense.faiss"
PARTS_FILE = "parts.npy"
#: How many passages are embedded between two reports of progress.
PROGRESS_STEP = 64


class DenseIndex:
    """Similarities of passages to a vector; a passage is known by its position."""

    def __init__(self, vectors: Any, first_part: NDArray[np.int64]) -> None:
        """Takes a filled IndexFlatIP and, for every passage and the end, the row of its first part, shape (passages + 1,)."""
        self._vectors = vectors
        self._first_part = first_part
        self._passage_of_part = np.repeat(np.arange(len(first_part) - 1), np.diff(first_part))

    @classmethod
    def of(cls, texts: Sequence[str], embedder: Embedder, progress: Callable[[int], None] = lambda _: None) -> "DenseIndex":
        """Embeds the texts, in the order given; `progress` is called with how many are done."""
        import faiss

        vectors = faiss.IndexFlatIP(embedder.dimension)
        first_part = [0]
        for begin in range(0, len(texts), PROGRESS_STEP):
            parts = [embedder.parts(text) for text in texts[begin : begin + PROGRESS_STEP]]
            vectors.add(embedder.encode([part for own in parts for part in own]))
            for own in parts:
                first_part.append(first_part[-1] + len(own))
            progress(min(begin + PROGRESS_STEP, len(texts)))
        return cls(vectors, np.array(first_part, dtype=np.int64))

    @classmethod
    def load(cls, folder: Path) -> "DenseIndex":
        """Maps a saved index into memory. Raises RuntimeError, OSError or ValueError when a file is missing or damaged."""
        import faiss

        vectors = faiss.read_index(str(folder / VECTORS_FILE), faiss.IO_FLAG_MMAP_IFC)
        first_part = np.load(folder / PARTS_FILE)
        if first_part[-1] != vectors.ntotal:
            raise ValueError(f"{VECTORS_FILE} holds {vectors.ntotal} vectors, {PARTS_FILE} names {first_part[-1]}")
        return cls(vectors, first_part)

    def save(self, folder: Path) -> None:
        """Writes the vectors and where each passage's parts begin. Raises OSError when that cannot be done."""
        import faiss

        try:
            faiss.write_index(self._vectors, str(folder / VECTORS_FILE))
        except RuntimeError as error:  # how FAISS says that the disk is full
            raise OSError(f"{folder / VECTORS_FILE}: {error}") from error
        np.save(folder / PARTS_FILE, self._first_part)

    def __len__(self) -> int:
        """How many passages it holds."""
        return len(self._first_part) - 1

    @property
    def parts(self) -> int:
        """How many vectors it holds."""
        return int(self._first_part[-1])

    def best(self, vector: Vectors, count: int) -> list[int]:
        """Positions of the `count` passages most similar to the vector, best first, ties by position."""
        most_parts = int(np.diff(self._first_part).max())
        # One query at a time: in batches FAISS sums in another order, and a claim's scores would depend on its neighbours.
        scores, rows = self._vectors.search(vector[None, :], min(count * most_parts, self.parts))
        ranked = sorted(zip(-scores[0], self._passage_of_part[rows[0]].tolist(), strict=True))
        return list(dict.fromkeys(passage for _, passage in ranked))[:count]

    def part_vectors(self, position: int) -> Vectors:
        """The vectors of one passage's parts, shape (parts, dimension)."""
        begin, end = self._first_part[position : position + 2].tolist()
        vectors: Vectors = self._vectors.reconstruct_n(begin, end - begin)
        return vectors

    def similarity(self, vector: Vectors, position: int) -> float:
        """The cosine between the vector and the passage's best part, in [-1, 1]."""
        # einsum, because BLAS rounds differently with the number of its threads.
        return float(np.clip(np.einsum("pd,d->p", self.part_vectors(position), vector).max(), -1.0, 1.0))
