"""The folder of indexes over one kind of a corpus's passages, which grows without embedding anything twice.

    KIND-0001/            passages.npy, dense.faiss, parts.npy, codes.npy    vectors, written once
    KIND-words-0001/      passages.npy, bm25/, generation.json               all current passages, and which segments hold them

The newest generation names the segments that are the index; others are left from a kill, or were embedded ahead of a
generation. BM25's weights depend on the whole corpus, so its part is made anew whenever passages change. One process at a time
may write.
"""

import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from localfact.corpus.indexing.dense_index import BLOCK, DenseIndex, PartEmbedder, Positions
from localfact.corpus.indexing.dense_segments import DenseSegments, Segment, stored_vectors
from localfact.corpus.indexing.index import Index
from localfact.corpus.indexing.lexical_index import LexicalIndex
from localfact.corpus.indexing.passage_ids import PassageIds
from localfact.records import Record
from localfact.runtime.files import NEW

IDS_FILE = "passages.npy"
LEXICAL_FOLDER = "bm25"
GENERATION_FILE = "generation.json"
#: With more vectors than this, only candidates chosen by their codes are scored, not all vectors.
FLAT_VECTORS = 100_000
#: A segment is written whenever so many passages are embedded, so that a kill loses minutes, not hours.
SEGMENT_PASSAGES = 4_096
#: When an add leaves more segments than this, it merges them.
MOST_SEGMENTS = 16


class Generation(Record):
    """The content of generation.json.

    Attributes:
        vectors: how many vectors the current passages have; None without an embedder.
        by_codes: whether candidates are chosen by codes; decided when it was written.
        segments: name of each segment that holds vectors -> how many it has, those of old passages included.
    """

    passages: int
    vectors: int | None
    by_codes: bool
    segments: Mapping[str, int]


class Segments:
    """The indexes over one kind of passages in `folder`, which need not exist and may hold other kinds too."""

    def __init__(self, folder: Path, kind: str) -> None:
        self._folder = folder
        self._kind = kind

    def add(
        self, texts: Mapping[str, str], embedder: PartEmbedder | None, progress: Callable[[int], None] = lambda _: None
    ) -> tuple[int, int | None]:
        """Makes the index over exactly these passages, id -> text; passages that have vectors are not embedded again.

        Args:
            texts: all current passages. Equal ids must mean equal texts for as long as the folder exists.
            embedder: always the same one; None leaves vectors as they are and only indexes words.
            progress: called with how many of the passages have vectors.

        Returns:
            How many passages there are and, with an embedder, how many vectors they have. Without passages there is no index.

        Raises:
            OSError: the disk is full or the folder cannot be written. OSError, ValueError, RuntimeError: a segment is damaged.
        """
        self._remove(folder for folder in self._all(half_written=True) if folder.name.endswith(NEW))
        if not texts:
            self._remove(self._all())
            return 0, None if embedder is None else 0
        ids, held, vectors = PassageIds.of(texts), dict[str, Segment](), None
        if embedder is not None:
            self._embed(texts, ids, embedder, progress)
            held, vectors = self._holding(ids)
            if len(held) > MOST_SEGMENTS:
                held = self._merged(ids, held)
        self._renew(ids, held, vectors, texts)
        self._remove(self._superseded(vectors_too=embedder is not None))
        return len(ids), vectors

    def merge(self) -> None:
        """Puts all vectors of current passages into one segment and drops the others. Needs memory for all of them at once.

        Raises:
            OSError: as in `add`, or there is no index yet. ValueError, RuntimeError: a segment is damaged.
        """
        self._remove(folder for folder in self._all(half_written=True) if folder.name.endswith(NEW))
        folder, generation = self._newest()
        if generation.vectors is None:
            return
        ids = PassageIds.load(folder / IDS_FILE)
        held, vectors = self._holding(ids)
        if len(held) > 1 or any(len(segment.ids) > len(ids) for segment in held.values()):
            self._renew(ids, self._merged(ids, held), vectors, {})
        self._remove(self._superseded(vectors_too=True))

    def open(self, dense: bool, generation: str | None = None) -> Index:
        """The index over the current passages, mapped into memory.

        Args:
            dense: whether with vectors. generation: the folder of the one to open; None for the newest.

        Raises:
            OSError, ValueError, KeyError, RuntimeError: a file is missing or damaged, or the files do not belong together.
        """
        folder, named = self._newest() if generation is None else self._generation(generation)
        ids = PassageIds.load(folder / IDS_FILE)
        if len(ids) != named.passages:
            raise ValueError(f"{IDS_FILE} has {len(ids)} passages, {GENERATION_FILE} names {named.passages}")
        vectors = None
        if dense:
            segments = [self._segment(name, parts) for name, parts in named.segments.items()]
            if named.vectors is None:
                raise ValueError(f"{GENERATION_FILE} names no vectors")
            vectors = DenseSegments(ids, segments, named.vectors, by_codes=named.by_codes)
        return Index(ids, LexicalIndex.load(folder / LEXICAL_FOLDER), vectors)

    def files(self) -> list[Path]:
        """All files of the index, in order.

        Raises:
            OSError, ValueError: there is no index, or its generation.json is damaged.
        """
        folder, generation = self._newest()
        folders = [folder, *(self._folder / name for name in generation.segments)]
        return sorted(file for folder in folders for file in folder.rglob("*") if file.is_file())

    def remove_others(self, files: Collection[Path]) -> None:
        """Removes the folders of this kind that hold none of these files, so that none of them is taken for the newest.

        Raises:
            OSError: one cannot be removed.
        """
        known = {parent for file in files for parent in file.parents}
        self._remove(folder for folder in self._all(half_written=True) if folder not in known)

    def _embed(
        self, texts: Mapping[str, str], ids: PassageIds, embedder: PartEmbedder, progress: Callable[[int], None]
    ) -> None:
        """Writes segments of the passages that no segment holds."""
        known = np.zeros(len(ids), dtype=bool)
        for name in self._dense():
            found = ids.positions(self._segment(name).ids.all)
            known[found[found >= 0]] = True
        new = np.flatnonzero(~known)
        for begin in range(0, len(new), SEGMENT_PASSAGES):
            block = PassageIds(ids.take(new[begin : begin + SEGMENT_PASSAGES]))
            self._embed_block(block, texts, embedder, progress, len(ids) - len(new) + begin)

    def _embed_block(
        self, ids: PassageIds, texts: Mapping[str, str], embedder: PartEmbedder, progress: Callable[[int], None], before: int
    ) -> None:
        dense = DenseIndex.of([texts[passage] for passage in ids], embedder, lambda done: progress(before + done))
        self._write_segment(ids, dense)

    def _holding(self, ids: PassageIds) -> tuple[dict[str, Segment], int]:
        """The segments needed for these passages, and how many vectors the passages have."""
        known = np.zeros(len(ids), dtype=bool)
        held, vectors = {}, 0
        listed = self._newest()[1].segments if self._words() else {}
        for name in sorted(self._dense(), key=lambda name: name not in listed):
            segment = self._segment(name)
            own = segment.ids.all
            found = ids.positions(own)
            adds = (found >= 0) & ~known[found]
            if adds.any():
                held[name] = segment
                vectors += int(segment.dense.part_counts(np.flatnonzero(adds)).sum())
                known[found[adds]] = True
        if not known.all():
            raise ValueError(f"{int((~known).sum())} passages of the kind '{self._kind}' have no vectors")
        return held, vectors

    def _merged(self, ids: PassageIds, held: Mapping[str, Segment]) -> dict[str, Segment]:
        """Writes one segment with the vectors that the given ones have of the passages."""
        import faiss

        vectors = faiss.IndexFlatIP(next(iter(held.values())).dense.dimension)
        counts: list[Positions] = [np.zeros(1, dtype=np.int64)]
        for begin in range(0, len(ids), BLOCK):
            rows, parts = stored_vectors(ids.take(np.arange(begin, min(begin + BLOCK, len(ids)))), list(held.values()))
            vectors.add(rows)
            counts.append(parts)
        name = self._write_segment(ids, DenseIndex(vectors, np.cumsum(np.concatenate(counts))))
        return {name: self._segment(name)}

    def _renew(self, ids: PassageIds, held: Mapping[str, Segment], vectors: int | None, texts: Mapping[str, str]) -> None:
        """Writes a generation unless the newest is the same. BM25's part is reused where the passages are the same."""
        generation = Generation(
            passages=len(ids),
            vectors=vectors,
            by_codes=vectors is not None and vectors > FLAT_VECTORS,
            segments={name: segment.dense.parts for name, segment in held.items()},
        )
        words = self._words()
        newest = self._folder / words[-1] if words else None
        same_words = newest is not None and PassageIds.load(newest / IDS_FILE).same(ids)
        if newest is not None and same_words and self._newest()[1] == generation:
            return
        with self._new(f"{self._kind}-words", words) as folder:
            if newest is not None and same_words:
                shutil.copytree(newest / LEXICAL_FOLDER, folder / LEXICAL_FOLDER)
            else:
                LexicalIndex.of(texts[passage] for passage in ids).save(folder / LEXICAL_FOLDER)
            ids.save(folder / IDS_FILE)
            (folder / GENERATION_FILE).write_text(generation.model_dump_json(), encoding="utf-8")

    def _write_segment(self, ids: PassageIds, dense: DenseIndex) -> str:
        with self._new(self._kind, self._dense()) as folder:
            ids.save(folder / IDS_FILE)
            dense.save(folder)
        return folder.name.removesuffix(NEW)

    @contextmanager
    def _new(self, stem: str, others: list[str]) -> Iterator[Path]:
        """A new folder, which gets the next number once the block has filled it and it is on the disk."""
        number = 1 + max((int(name.rpartition("-")[2]) for name in others), default=0)
        folder = self._folder / f"{stem}-{number:04d}{NEW}"
        folder.mkdir(parents=True)
        yield folder
        for path in [*folder.rglob("*"), folder]:
            handle = os.open(path, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        folder.rename(folder.with_name(folder.name.removesuffix(NEW)))

    def _segment(self, name: str, parts: int | None = None) -> Segment:
        folder = self._folder / name
        segment = Segment(PassageIds.load(folder / IDS_FILE), DenseIndex.load(folder))
        if len(segment.ids) != len(segment.dense):
            raise ValueError(f"{name} has {len(segment.ids)} passages and vectors of {len(segment.dense)}")
        if parts is not None and parts != segment.dense.parts:
            raise ValueError(f"{name} has {segment.dense.parts} vectors, {GENERATION_FILE} names {parts}")
        return segment

    def _newest(self) -> tuple[Path, Generation]:
        words = self._words()
        if not words:
            raise FileNotFoundError(f"There is no index over {self._kind} in {self._folder}")
        return self._generation(words[-1])

    def _generation(self, name: str) -> tuple[Path, Generation]:
        folder = self._folder / name
        return folder, Generation.model_validate_json((folder / GENERATION_FILE).read_bytes())

    def _superseded(self, *, vectors_too: bool) -> list[Path]:
        newest, generation = self._newest()
        kept = {newest.name, *generation.segments}
        others = [*self._words(), *(self._dense() if vectors_too else ())]
        return [self._folder / name for name in others if name not in kept]

    def _words(self) -> list[str]:
        return [folder.name for folder in self._all() if "-words-" in folder.name]

    def _dense(self) -> list[str]:
        return [folder.name for folder in self._all() if "-words-" not in folder.name]

    def _all(self, *, half_written: bool = False) -> list[Path]:
        """The folders of this kind, in the order of their numbers."""
        ending = f"(?:{re.escape(NEW)})?" if half_written else ""
        pattern = re.compile(rf"{re.escape(self._kind)}(?:-words)?-(\d+){ending}")
        folders = self._folder.iterdir() if self._folder.is_dir() else ()
        found = [(match, folder) for folder in folders if (match := pattern.fullmatch(folder.name))]
        return [folder for match, folder in sorted(found, key=lambda each: (int(each[0][1]), each[1]))]

    def _remove(self, folders: Iterator[Path] | list[Path]) -> None:
        for folder in list(folders):
            # A kill in the middle must not leave a folder that looks like a damaged segment.
            doomed = folder if folder.name.endswith(NEW) else folder.rename(folder.with_name(folder.name + NEW))
            shutil.rmtree(doomed)
