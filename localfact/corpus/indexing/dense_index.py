"""Vectors of passages, in memory or as an immutable folder that is mapped into memory.

A passage longer than the embedder's window is embedded in parts, and its best part's score is its score. Candidates are found
by FAISS's exact inner product or, where there are too many vectors for that, by codes of one bit a dimension.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from localfact.errors import InputError
from localfact.models.embedder import Embedded, Vectors
from localfact.text import path_text

VECTORS_FILE = "dense.faiss"
PARTS_FILE = "parts.npy"
CODES_FILE = "codes.npy"
#: How many passages are embedded between two reports of progress.
PROGRESS_STEP = 64
#: More than twice the rounding difference between FAISS's inner products and NumPy's: passages that near are scored again.
ROUNDING = 1e-4
#: With codes, how many candidates are scored for each passage wanted, and the least number of candidates.
CODED_CANDIDATES = 20
LEAST_CODED_CANDIDATES = 2_000
#: How many vectors are read at once where all have to be.
BLOCK = 65_536

Codes = NDArray[np.uint8]
Positions = NDArray[np.int64]


class PassageEmbedder(Protocol):
    """What an index uses of an embedder (see localfact.models.embedder.Embedder), which may be many machines."""

    @property
    def identity(self) -> str:
        """Name and revision of the model."""

    @property
    def dimension(self) -> int:
        """The length of a vector."""

    def embed_each(self, batches: Iterable[Sequence[str]]) -> Iterator[Embedded]:
        """The vectors, each of length 1, of the passages of each batch, in the order of the batches."""


def check_place(folder: Path) -> None:
    """Raises InputError where FAISS could open no file in the folder: it takes paths in UTF-8 alone."""
    if path_text(folder) != str(folder):
        raise InputError(
            f"{folder} is no place for vectors: its path is not UTF-8. Name another, or do without them: --embedder none."
        )


class Near(NamedTuple):
    """Candidate passages and the distances of their parts in the scan; both of shape (parts,)."""

    passages: Positions
    distances: NDArray[np.float32]


class DenseIndex:
    """Similarities of passages to a vector; a passage is known by its position.

    Args:
        vectors: a filled IndexFlatIP.
        first_part: the row of each passage's first part, and the number of rows, (passages + 1,).
        codes: see `codes_of`; None to compute them when they are needed.
    """

    def __init__(self, vectors: Any, first_part: Positions, codes: Codes | None = None) -> None:
        import faiss

        self._vectors = vectors
        self._first_part = first_part
        self._codes = codes
        shape = (vectors.ntotal, vectors.d)
        self._rows: Vectors = faiss.rev_swig_ptr(vectors.get_xb(), shape[0] * shape[1]).reshape(shape)

    @classmethod
    def of(cls, texts: Sequence[str], embedder: PassageEmbedder) -> "DenseIndex":
        """Embeds the texts, in the order given."""
        (made,) = cls.in_blocks([len(texts)], texts, embedder, lambda done: None)
        return made

    @classmethod
    def in_blocks(
        cls, sizes: Sequence[int], texts: Iterable[str], embedder: PassageEmbedder, progress: Callable[[int], None]
    ) -> Iterator["DenseIndex"]:
        """Embeds the texts in one go, and yields an index of so many after another, each as soon as it is complete."""
        import faiss

        if not sizes:
            return
        rest, done = iter(texts), 0
        batches = (
            list(islice(rest, min(PROGRESS_STEP, size - begin))) for size in sizes for begin in range(0, size, PROGRESS_STEP)
        )
        embedded = embedder.embed_each(batches)
        for size in sizes:
            vectors = faiss.IndexFlatIP(embedder.dimension)
            first_part = [0]
            while len(first_part) <= size:
                each = next(embedded)
                vectors.add(each.vectors)
                for count in each.counts:
                    first_part.append(first_part[-1] + count)
                progress(done + len(first_part) - 1)
            done += size
            yield cls(vectors, np.array(first_part, dtype=np.int64))

    @classmethod
    def load(cls, folder: Path) -> "DenseIndex":
        """Maps a saved index into memory. Raises RuntimeError, OSError or ValueError when a file is missing or damaged."""
        import faiss

        vectors = faiss.read_index(str(folder / VECTORS_FILE), faiss.IO_FLAG_MMAP_IFC)
        first_part = np.asarray(np.load(folder / PARTS_FILE, mmap_mode="r"))
        if first_part[-1] != vectors.ntotal:
            raise ValueError(f"{VECTORS_FILE} holds {vectors.ntotal} vectors, {PARTS_FILE} names {first_part[-1]}")
        if first_part[0] != 0 or np.any(np.diff(first_part) < 0):
            raise ValueError(f"the places in {PARTS_FILE} are not in order")
        codes = np.asarray(np.load(folder / CODES_FILE, mmap_mode="r"))
        if codes.shape != (vectors.ntotal, code_bytes(vectors.d)):
            raise ValueError(f"{CODES_FILE} has the shape {codes.shape}, {VECTORS_FILE} holds {vectors.ntotal} vectors")
        return cls(vectors, first_part, codes)

    def save(self, folder: Path) -> None:
        """Writes the vectors, their codes, and where each passage's parts begin. Raises OSError when that cannot be done."""
        import faiss

        try:
            faiss.write_index(self._vectors, str(folder / VECTORS_FILE))
        except RuntimeError as error:  # raised by FAISS where the disk is full
            raise OSError(f"{folder / VECTORS_FILE}: {error}") from error
        np.save(folder / PARTS_FILE, self._first_part)
        np.save(folder / CODES_FILE, self._codes if self._codes is not None else codes_of(self._rows))

    def __len__(self) -> int:
        return len(self._first_part) - 1

    @property
    def parts(self) -> int:
        """How many vectors it holds."""
        return int(self._first_part[-1])

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return int(self._vectors.d)

    def best(self, vector: Vectors, count: int) -> list[int]:
        """Positions of the `count` passages most similar to the vector, best first, ties by position."""
        found = np.unique(self.near(vector, count, by_codes=False).passages)
        return rank(found, self.similarities(vector, found), count)

    def near(
        self,
        vector: Vectors,
        wanted: int,
        *,
        by_codes: bool,
        renumber: Callable[[Positions], Positions] = lambda positions: positions,
    ) -> Near:
        """At least the `wanted` nearest passages by the scan, unordered, with all that are as near as the last of them.

        `renumber` maps positions to other numbers, below 0 for passages that are left out.
        """
        rounding = 0.0 if by_codes else ROUNDING
        depth = min(wanted + wanted // 2 + 16, self.parts)
        while True:
            distances, rows = self._scan(vector, depth, by_codes=by_codes)
            passages = renumber(np.searchsorted(self._first_part, rows, side="right") - 1)
            kept = Near(passages[passages >= 0], distances[passages >= 0])
            last = cutoff(kept, wanted) + rounding
            if depth == self.parts or distances[-1] > last:
                return Near(kept.passages[kept.distances <= last], kept.distances[kept.distances <= last])
            depth = min(2 * depth, self.parts)

    def part_vectors(self, position: int) -> Vectors:
        """The vectors of one passage's parts, shape (parts, dimension)."""
        begin, end = self._first_part[position : position + 2].tolist()
        return self._rows[begin:end].copy()

    def similarities(self, vector: Vectors, positions: Positions) -> NDArray[np.float32]:
        """The inner product of the vector with the best part of each of these passages.

        Each is, bit for bit, independent of the other passages.
        """
        vectors, counts = self.select(positions)
        # einsum, because BLAS rounds differently with the number of its threads.
        scores: NDArray[np.float32] = np.einsum("pd,d->p", vectors, vector)
        return np.maximum.reduceat(scores, np.cumsum(counts) - counts) if len(scores) else scores

    def similarity(self, vector: Vectors, position: int) -> float:
        """The cosine between the vector and the passage's best part, in [-1, 1]."""
        return float(np.clip(self.similarities(vector, np.array([position]))[0], -1.0, 1.0))

    def part_counts(self, positions: Positions) -> Positions:
        """How many parts each of these passages has."""
        return self._first_part[positions + 1] - self._first_part[positions]

    def select(self, positions: Positions) -> tuple[Vectors, Positions]:
        """The vectors of these passages, in the order of the positions, and how many parts each has."""
        counts = self.part_counts(positions)
        skipped = self._first_part[positions] - (np.cumsum(counts) - counts)
        return self._rows[np.arange(counts.sum()) + np.repeat(skipped, counts)], counts

    def _scan(self, vector: Vectors, depth: int, *, by_codes: bool) -> tuple[NDArray[np.float32], Positions]:
        """Distances and rows of the `depth` nearest parts, nearest first."""
        import faiss

        # FAISS splits queries over threads, never one query; waiting for idle threads costs up to 100 ms on a busy machine.
        faiss.omp_set_num_threads(1)
        if by_codes:
            if self._codes is None:
                raise ValueError(f"{CODES_FILE} is missing")
            distances, rows = faiss.knn_hamming(codes_of(vector[None, :]), self._codes, depth)
            return distances[0].astype(np.float32), rows[0]
        # One query at a time: in batches FAISS sums in another order, and a claim's scores would depend on the other claims.
        scores, rows = self._vectors.search(vector[None, :], depth)
        return -scores[0], rows[0]


def cutoff(near: Near, wanted: int) -> float:
    """The distance of the `wanted`-th nearest passage; infinity if there are fewer."""
    order = np.argsort(near.distances, kind="stable")
    first = np.sort(np.unique(near.passages[order], return_index=True)[1])
    return float(near.distances[order[first[wanted - 1]]]) if 0 < wanted <= len(first) else np.inf


def rank(positions: Positions, scores: NDArray[np.float32], count: int) -> list[int]:
    """The `count` positions with the highest scores, highest first, ties by position."""
    order = np.lexsort((positions, -scores))[:count]
    return [int(position) for position in positions[order]]


def code_bytes(dimension: int) -> int:
    """The length of a vector's code in bytes."""
    return (dimension + 7) // 8


def codes_of(vectors: Vectors) -> Codes:
    """The vectors' codes: the sign of each dimension as one bit, shape (n, dimension / 8).

    A code depends on its vector alone.
    """
    codes = np.empty((len(vectors), code_bytes(vectors.shape[1])), dtype=np.uint8)
    for begin in range(0, len(vectors), BLOCK):
        codes[begin : begin + BLOCK] = np.packbits(vectors[begin : begin + BLOCK] > 0, axis=1)
    return codes
