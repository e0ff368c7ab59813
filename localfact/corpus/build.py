"""Builds a corpus from pages: in a temporary folder that is then renamed, so that a kill leaves no incomplete corpus."""

import fcntl
import os
import shutil
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from localfact.corpus.corpus import Chunking, Corpus, CorpusDescription
from localfact.corpus.files import STORE_FILE
from localfact.corpus.indexing.dense_index import PassageEmbedder
from localfact.corpus.known_pages import from_first_new
from localfact.corpus.locks import try_lock
from localfact.corpus.passages import PassageKind
from localfact.corpus.write_errors import writing
from localfact.corpus.writer import CorpusWriter, Progress, silent
from localfact.errors import InputError, LocalFactError
from localfact.web.pages import Page

KINDS: tuple[PassageKind, ...] = ("chunks", "pages")


def build_corpus(
    pages: Iterable[Page],
    folder: Path,
    embedder: PassageEmbedder | None,
    *,
    kinds: Sequence[PassageKind] = KINDS,
    progress: Progress = silent,
) -> CorpusDescription:
    """Builds a corpus of the pages in `folder`, which must not exist or be empty. The order of the pages does not matter.

    The temporary folder of a killed build, `.NAME.building` beside it, is removed by the next build of the same folder. Where
    that build had just ended, the corpus is there, and nothing is left to do.

    Args:
        pages: read one by one; a page given twice is added once.
        embedder: None builds for BM25 alone.
        kinds: which kinds of passages are cut and indexed.

    Raises:
        InputError: there is no page, the folder holds something else already, or another process is building it.
        WriteError: the disk is full or the folder cannot be written.
    """
    if is_occupied(folder):
        there = find_built(pages, folder, embedder.identity if embedder is not None else None, kinds)
        if there is None:
            raise InputError(
                f"{folder} exists already. Name another folder, or add to a corpus with: localfact corpus add {folder} PAGES"
            )
        if place_of(folder).exists():
            with writing(folder), place_beside(folder):
                pass
        return there
    with writing(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with place_beside(folder) as built:
            with CorpusWriter(built, embedder, place=folder) as writer:
                if not writer.add_pages(pages):
                    raise InputError("There is no page with a text, so there is nothing to build a corpus from.")
                description = writer.finish(kinds, progress=progress)
            if folder.exists():
                folder.rmdir()
            built.rename(folder)
    return description


def is_occupied(folder: Path) -> bool:
    """Whether something stands where a corpus is to be built; an empty folder is nothing."""
    return folder.exists() and (not folder.is_dir() or any(folder.iterdir()))


def find_built(
    pages: Iterable[Page], folder: Path, embedder: str | None, kinds: Sequence[PassageKind]
) -> CorpusDescription | None:
    """The description of the corpus in a folder if building it from the pages would give the same; else None.

    Args:
        pages: read as far as the corpus has them.
        embedder: its identity; None for BM25 alone.
    """
    try:
        corpus = Corpus.open(folder, None)
    except LocalFactError:
        return None
    with corpus:
        there = corpus.description
        # Without searches there are no snippets, whoever asked for them.
        alike = (there.embedder, there.chunking, {*there.segments}) == (embedder, Chunking(), {*kinds} - {"snippets"})
        if not alike or there.searches:
            return None
        known = array("q")
        other = next(from_first_new(folder / STORE_FILE, pages, known), None)
        return there if other is None and len({*known}) == there.pages > 0 else None


def place_of(folder: Path) -> Path:
    """The temporary folder in which a corpus is built before it is moved to its final one."""
    return folder.parent / f".{folder.name}.building"


@contextmanager
def place_beside(folder: Path) -> Iterator[Path]:
    """An empty folder next to `folder` that this process has locked; what is still in it at the end is removed.

    Raises:
        InputError: another process is building the same folder. OSError: the folder cannot be made or locked.
    """
    place = place_of(folder)
    place.mkdir(exist_ok=True)
    lock = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)  # a lock ends with its process, however that ends
    try:
        if not try_lock(lock, fcntl.LOCK_EX):
            raise InputError(f"Another process is building {folder}. Wait for it, or name another folder.")
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
