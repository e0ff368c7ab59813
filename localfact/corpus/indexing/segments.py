"""The folder of indexes over one kind of a corpus's passages, which grows without reading or embedding anything twice.

    KIND-0001/          passages.npy, dense.faiss, parts.npy, codes.npy           vectors, written once
    KIND-terms-0001/    passages.npy, terms.npy, positions.npy, counts.npy ...    words, written once
    KIND-index-0001/    passages.npy, generation.json                             all current passages, and what holds them

The newest generation names the segments that are the index; others are left from a kill, or were made ahead of a generation.
One process at a time may write.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from localfact.corpus.indexing.bm25 import BM25, LexicalPart
from localfact.corpus.indexing.dense_index import BLOCK, DenseIndex, PassageEmbedder, Positions
from localfact.corpus.indexing.dense_segments import DenseSegments, read_vectors
from localfact.corpus.indexing.index import Index
from localfact.corpus.indexing.lexical_index import LexicalIndex
from localfact.corpus.indexing.numbered_folders import NumberedFolders
from localfact.corpus.indexing.passage_ids import PassageIds
from localfact.corpus.indexing.segment_folders import IDS_FILE, Segment, SegmentFolders, find_owners
from localfact.records import Record
from localfact.runtime.path_names import PathComponent

GENERATION_FILE = "generation.json"
#: With more vectors than this, only candidates chosen by their codes are scored, not all vectors.
FLAT_VECTORS = 100_000
#: A segment is written whenever so many passages are embedded, so that a kill loses minutes, not hours.
SEGMENT_PASSAGES = 4_096
#: The same of words, which are quicker to read.
TERMS_PASSAGES = 16_384


class SegmentGeneration(Record):
    """The content of generation.json.

    Attributes:
        terms: how many terms the current passages have together.
        words: name of each segment that holds words -> how many passages it has, old ones included. A passage that several have
            is the first one's.
        vectors: how many vectors the current passages have; None without an embedder.
        by_codes: whether candidates are chosen by codes; decided when it was written.
        segments: name of each segment that holds vectors -> how many it has, those of old passages included.
    """

    passages: int
    terms: int
    words: Mapping[PathComponent, int]
    vectors: int | None
    by_codes: bool
    segments: Mapping[PathComponent, int]

    @property
    def names(self) -> set[str]:
        """All segments."""
        return {*self.words, *self.segments}


class Segments:
    """The indexes over one kind of passages in `folder`, which need not exist and may hold other kinds too."""

    def __init__(self, folder: Path, kind: str) -> None:
        self._folder = folder
        self._kind = kind
        self._vectors = SegmentFolders(folder, kind, DenseIndex.load, join_vectors)
        self._words = SegmentFolders(folder, f"{kind}-terms", LexicalIndex.load, join_words)
        self._generations = NumberedFolders(folder, f"{kind}-index")

    def add(
        self,
        texts: Mapping[str, str],
        embedder: PassageEmbedder | None,
        progress: Callable[[int], None] = lambda _: None,
        *,
        ids: PassageIds | None = None,
        merge: bool = False,
    ) -> tuple[int, int | None]:
        """Makes the index over exactly these passages, id -> text; passages that are in a segment are not read again.

        Args:
            texts: all current passages. Equal ids must mean equal texts for as long as the folder exists.
            embedder: always the same one; None leaves vectors as they are and only indexes words.
            progress: called with how many of the passages have vectors.
            ids: those of the texts, where they are at hand.
            merge: puts all words and all vectors into one segment each, which needs memory for all of them at once.

        Returns:
            How many passages there are and, with an embedder, how many vectors they have. Without passages there is no index.

        Raises:
            OSError: the disk is full or the folder cannot be written. OSError, ValueError, RuntimeError: a segment is damaged.
        """
        self._remove_half_written()
        if not texts:
            self._remove_but(())
            return 0, None if embedder is None else 0
        ids, listed = ids if ids is not None else PassageIds.of(texts), self._list_segments()
        dense = None
        if embedder is not None:
            blocks = self._vectors.missing(ids, SEGMENT_PASSAGES)
            sizes = [len(block) for block in blocks]
            held = len(ids) - sum(sizes)
            read = (texts[one] for block in blocks for one in block)
            indexes = DenseIndex.in_blocks(sizes, read, embedder, lambda done: progress(held + done))
            for block, made in zip(blocks, indexes, strict=True):
                self._vectors.write(block, made)
            dense = self._vectors.one(ids, listed) if merge else self._vectors.few(ids, listed)
        for block in self._words.missing(ids, TERMS_PASSAGES):
            self._words.write(block, LexicalIndex.of(texts[one] for one in block))
        words = self._words.one(ids, listed) if merge else self._words.few(ids, listed)
        return len(ids), self._renew(ids, words, dense).vectors

    def open(self, dense: bool, generation: str | None = None) -> Index:
        """The index over the current passages, mapped into memory.

        Args:
            dense: whether with vectors.
            generation: the folder of the one to open; None for the newest.

        Raises:
            OSError, ValueError, KeyError, RuntimeError: a file is missing or damaged, or the files do not belong together.
        """
        folder, named = self._newest() if generation is None else self._generation(generation)
        ids = PassageIds.load(folder / IDS_FILE)
        agree(IDS_FILE, len(ids), named.passages, "passages")
        vectors = None
        if dense:
            if named.vectors is None:
                raise ValueError(f"{GENERATION_FILE} names no vectors")
            segments = {name: self._vectors.segment(name) for name in named.segments}
            for name, segment in segments.items():
                agree(name, segment.part.parts, named.segments[name], "vectors")
            vectors = DenseSegments(ids, list(segments.values()), named.vectors, by_codes=named.by_codes)
        words = {name: self._words.segment(name) for name in named.words}
        for name, each in words.items():
            agree(name, len(each.ids), named.words[name], "passages")
        parts = [LexicalPart(part, positions) for part, positions in find_owners(ids, words.values())]
        return Index(ids, BM25(parts, len(ids), named.terms), vectors)

    def files(self) -> list[Path]:
        """All files of the index, in order.

        Raises:
            OSError, ValueError: there is no index, or its generation.json is damaged.
        """
        folder, generation = self._newest()
        folders = [folder, *(self._folder / name for name in generation.names)]
        return sorted(file for folder in folders for file in folder.rglob("*") if file.is_file())

    def remove_others(self, files: Collection[Path]) -> None:
        """Removes the folders of this kind that hold none of these files, so that none of them is taken for the newest.

        Raises:
            OSError: one cannot be removed.
        """
        self._remove_half_written()
        self._remove_but({parent.name for file in files for parent in file.parents if parent.parent == self._folder})

    def _renew(
        self, ids: PassageIds, words: Mapping[str, Segment[LexicalIndex]], dense: Mapping[str, Segment[DenseIndex]] | None
    ) -> SegmentGeneration:
        """Writes a generation unless the newest is the same, and removes what it does not name."""
        vectors = None
        if dense is not None:
            vectors = sum(
                int(part.part_counts(np.flatnonzero(found >= 0)).sum()) for part, found in find_owners(ids, dense.values())
            )
        generation = SegmentGeneration(
            passages=len(ids),
            terms=sum(int(part.lengths[found >= 0].sum()) for part, found in find_owners(ids, words.values())),
            words={name: len(segment.ids) for name, segment in words.items()},
            vectors=vectors,
            by_codes=vectors is not None and vectors > FLAT_VECTORS,
            segments={name: segment.part.parts for name, segment in (dense or {}).items()},
        )
        names = self._generations.names()
        if not names or self._newest()[1] != generation or not PassageIds.load(self._newest()[0] / IDS_FILE).same(ids):
            with self._generations.new() as folder:
                ids.save(folder / IDS_FILE)
                (folder / GENERATION_FILE).write_text(generation.model_dump_json(), encoding="utf-8")
        kept = {self._newest()[0].name, *generation.names}
        self._remove_but(kept if dense is not None else {*kept, *self._vectors.names()})
        return generation

    def _newest(self) -> tuple[Path, SegmentGeneration]:
        names = self._generations.names()
        if not names:
            raise FileNotFoundError(f"There is no index over {self._kind} in {self._folder}")
        return self._generation(names[-1])

    def _generation(self, name: str) -> tuple[Path, SegmentGeneration]:
        folder = self._folder / name
        return folder, SegmentGeneration.model_validate_json((folder / GENERATION_FILE).read_bytes())

    def _list_segments(self) -> Collection[str]:
        """The segments of the newest generation; none before there is one."""
        return self._newest()[1].names if self._generations.names() else ()

    @property
    def _all(self) -> tuple[NumberedFolders, ...]:
        return self._generations, self._words, self._vectors

    def _remove_half_written(self) -> None:
        for folders in self._all:
            folders.remove_half_written()

    def _remove_but(self, kept: Collection[str]) -> None:
        for folders in self._all:
            folders.remove(name for name in folders.names() if name not in kept)


def agree(what: str, has: int, named: int, of: str) -> None:
    """Raises ValueError where a part has not what the generation names."""
    if has != named:
        raise ValueError(f"{what} has {has} {of}, {GENERATION_FILE} names {named}")


def join_vectors(ids: PassageIds, segments: Sequence[Segment[DenseIndex]]) -> DenseIndex:
    """The vectors that the segments have of these passages."""
    import faiss

    vectors = faiss.IndexFlatIP(segments[0].part.dimension)
    counts: list[Positions] = [np.zeros(1, dtype=np.int64)]
    for begin in range(0, len(ids), BLOCK):
        rows, parts = read_vectors(ids.take(np.arange(begin, min(begin + BLOCK, len(ids)))), segments)
        vectors.add(rows)
        counts.append(parts)
    return DenseIndex(vectors, np.cumsum(np.concatenate(counts)))


def join_words(ids: PassageIds, segments: Sequence[Segment[LexicalIndex]]) -> LexicalIndex:
    """The terms that the segments have of these passages."""
    return LexicalIndex.join(list(find_owners(ids, segments)), len(ids))
