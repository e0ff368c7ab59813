"""Builds a corpus from pages: beside its final place, then renamed, so that a kill in the middle leaves no half corpus."""

import fcntl
import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import yaml

from localfact.embedding import Embedder
from localfact.errors import InputError, WriteError
from localfact.evidence.corpus import (
    DESCRIPTION_FILE,
    FORMAT,
    STORE_FILE,
    Chunking,
    CorpusDescription,
    FileMark,
    SegmentCounts,
    segment_folder,
)
from localfact.evidence.index import Index
from localfact.evidence.pages import Page
from localfact.evidence.passages import CHUNK_WORDS, OVERLAP_WORDS, PASSAGE_CHARACTERS, PassageKind
from localfact.evidence.store import Store, write_store
from localfact.files import file_digest

KINDS: tuple[PassageKind, ...] = ("chunks", "pages")

#: Called as (kind, passages indexed, passages of that kind).
Progress = Callable[[PassageKind, int, int], None]


def build_corpus(
    pages: Iterable[Page],
    folder: Path,
    embedder: Embedder | None,
    *,
    kinds: Sequence[PassageKind] = KINDS,
    progress: Progress = lambda kind, done, total: None,
) -> CorpusDescription:
    """Builds a corpus of the pages in `folder`, which must not exist or be empty. The order of the pages does not matter.

    What a killed build left beside the folder, `.NAME.building`, is cleared away by the next build of the same folder.

    Args:
        pages: a page given twice is taken once.
        embedder: None builds for BM25 alone.
        kinds: which kinds of passages are cut and indexed.

    Raises:
        InputError: there is no page, the folder holds something already, or another process is building it.
        WriteError: the disk is full or the folder cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} exists already. Name another folder, or remove this one first.")
    unique = sorted(set(pages), key=lambda page: page.model_dump_json())
    if not unique:
        raise InputError("There is no page with a text, so there is nothing to build a corpus from.")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with place_beside(folder) as built:
            description = fill(built, unique, embedder, kinds, progress)
            if folder.exists():
                folder.rmdir()
            built.rename(folder)
    except (OSError, sqlite3.OperationalError) as error:
        raise WriteError(f"The corpus {folder} could not be written: {error}. Make room or name another place.") from error
    return description


@contextmanager
def place_beside(folder: Path) -> Iterator[Path]:
    """An empty folder next to `folder` that is this process's alone; what is still there at the end is removed.

    Raises:
        InputError: another process is building the same folder. OSError: the place cannot be made or locked.
    """
    place = folder.parent / f".{folder.name}.building"
    place.mkdir(exist_ok=True)
    lock = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)  # a lock ends with its process, however that ends
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"Another process is building {folder}. Wait for it, or name another folder.") from None
        built = place / "corpus"
        if built.exists():
            shutil.rmtree(built)
        built.mkdir()
        try:
            yield built
        finally:
            shutil.rmtree(place)
    finally:
        os.close(lock)


def fill(
    folder: Path, pages: Sequence[Page], embedder: Embedder | None, kinds: Sequence[PassageKind], progress: Progress
) -> CorpusDescription:
    """Writes all files of a corpus into an empty folder."""
    write_store(folder / STORE_FILE, pages, kinds)
    segments = {kind: index_passages(folder, kind, embedder, progress) for kind in kinds}
    chunking = Chunking(chunk_words=CHUNK_WORDS, overlap_words=OVERLAP_WORDS, page_characters=PASSAGE_CHARACTERS)
    identity = embedder.identity if embedder is not None else None
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    description = CorpusDescription(
        format=FORMAT,
        content=content_hash(pages, chunking, identity, kinds),
        embedder=identity,
        chunking=chunking,
        pages=len(pages),
        segments=segments,
        files={
            file.relative_to(folder).as_posix(): FileMark(bytes=file.stat().st_size, sha256=file_digest(file)) for file in files
        },
    )
    text = yaml.safe_dump(description.model_dump(mode="json"), sort_keys=False)
    (folder / DESCRIPTION_FILE).write_text(text, encoding="utf-8")
    return description


def index_passages(folder: Path, kind: PassageKind, embedder: Embedder | None, progress: Progress) -> SegmentCounts:
    """Indexes all passages of one kind in the store."""
    texts = Store(folder / STORE_FILE).texts(kind)
    index = Index.of(texts, embedder, lambda done: progress(kind, done, len(texts)))
    index.save(segment_folder(folder, kind))
    passages, vectors = index.counts
    return SegmentCounts(passages=passages, vectors=vectors)


def content_hash(pages: Sequence[Page], chunking: Chunking, embedder: str | None, kinds: Sequence[PassageKind]) -> str:
    """Hash of what decides which passages are found; not of the vectors, whose last bits depend on the machine."""
    settings = {"format": FORMAT, "chunking": chunking.model_dump(), "embedder": embedder, "kinds": sorted(kinds)}
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for page in pages:
        digest.update(hashlib.sha256(page.model_dump_json().encode()).digest())
    return digest.hexdigest()
