"""Adds to a corpus: pages, searches and fetched answers as they come; indexes are made when it is finished.

A kill at any moment leaves a corpus that is marked unfinished; the next process to add to it, or `finish` alone, continues.
"""

import os
import secrets
import threading
from array import array
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Self, get_args

import yaml

from localfact.corpus.corpus import DAMAGE, CorpusDescription, SegmentCounts, content_hash, description_to_add_to, index_error
from localfact.corpus.files import ARCHIVE_FOLDER, DESCRIPTION_FILE, SEGMENTS_FOLDER, STORE_FILE, marks_of
from localfact.corpus.indexing.dense_index import PassageEmbedder, check_place
from localfact.corpus.indexing.segments import Segments
from localfact.corpus.known_pages import from_first_new
from localfact.corpus.locks import lock_for_writing
from localfact.corpus.passage_texts import index_passages
from localfact.corpus.passages import PassageKind
from localfact.corpus.recorder import Recorder
from localfact.corpus.store import Fetch, PageStore
from localfact.corpus.write_errors import writing
from localfact.runtime.files import replace
from localfact.runtime.links import refuse_links
from localfact.web.archiving.archive import Archive
from localfact.web.fetching.exchange import Exchange
from localfact.web.pages import Page
from localfact.web.searching.results import Search

#: Length of the random id of a corpus that searches are recorded in.
ID_BYTES = 8
#: Called as (kind, passages indexed, passages of that kind).
Progress = Callable[[PassageKind, int, int], None]


def as_exchange(page: Page) -> Exchange:
    """A page that was never fetched, as an answer that the archive can hold."""
    return Exchange(
        url=page.link,
        time=datetime.now(UTC),
        status=200,
        headers=(("content-type", "text/plain; charset=utf-8"),),
        payload=page.text.encode(),
    )


def silent(kind: PassageKind, done: int, total: int) -> None:
    """Ignores reports of progress."""


class CorpusWriter:
    """A corpus that this process has locked for writing. Its methods may be called from any thread.

    A corpus is made if the folder is missing or empty. Otherwise nothing in it changes before something is added.

    Args:
        folder: of the corpus.
        place: its final folder, where that is another; named in errors.
        embedder: the one whose vectors the corpus has or will have; None for BM25 alone.
        identity: the id for a corpus that has none yet; None for a random one at its first search.

    Raises:
        InputError: the folder holds something else, or another process reads it or adds to it.
        CorpusError: a damaged corpus, or one of another embedder. WriteError: the folder cannot be written.
    """

    def __init__(
        self, folder: Path, embedder: PassageEmbedder | None, *, place: Path | None = None, identity: str | None = None
    ) -> None:
        if embedder is not None:
            check_place(place or folder)
        self.folder = folder
        self.embedder = embedder
        self._place = place or folder
        #: How many pages gave way to newer texts of their addresses.
        self.replaced = 0
        self._renewed = False
        self._opening = threading.RLock()
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._hold = lock_for_writing(folder)
        try:
            refuse_links(folder)
            self.description = description_to_add_to(folder, embedder.identity if embedder is not None else None)
            # What an unfinished description names may be gone, and its name given to another segment.
            named = () if self.description.unfinished else self.description.files
            self._written_before = {name for name in named if name.startswith(f"{SEGMENTS_FOLDER}/")}
            if identity is not None and self.description.id is None:
                unfinished = self.description.unfinished or not self.description.content
                with writing(self._place):
                    self._describe(self.description.model_copy(update={"id": identity, "unfinished": unfinished}))
            self._archive: Archive | None = None
            self._recorder: Recorder | None = None
        except BaseException:
            os.close(self._hold)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def store(self) -> PageStore:
        """The current content of the corpus; to be asked for again after something was added."""
        if self._recorder is None and not self.description.unfinished and self.description.content:
            return PageStore(self.folder / STORE_FILE, finished=False)  # read on while this process begins to write
        return self._recording().store()

    @property
    def archive(self) -> Archive:
        """The archive of answers; opened at the first use."""
        with self._opening:
            if self._archive is None:
                self._begin()
                (self.folder / ARCHIVE_FOLDER).mkdir(exist_ok=True)
                last = self._recording().store().last_location()
                self._archive = Archive(self.folder / ARCHIVE_FOLDER, known_end=last)
            return self._archive

    def add_pages(self, pages: Iterable[Page]) -> int:
        """Adds pages and returns how many of them are new; a corpus that has them all is not changed.

        Where an address of the web has another text now, the page that was added before is replaced; the archive keeps it.

        Raises:
            WriteError: the disk is full, for example; the pages added before stay.
        """
        with writing(self._place):
            known = array("q")
            if self.description.content and not self.description.unfinished:
                pages = from_first_new(self.folder / STORE_FILE, pages, known)
            rest = iter(pages)
            first = next(rest, None)
            if first is None:
                return 0
            added = self._recording().add_pages(chain([first], rest), known)
            self._replace_older()
            return added

    def remove(self, links: Iterable[str]) -> int:
        """Removes the pages at these addresses, as evidence changes; returns how many there were. The archive keeps them."""
        with writing(self._place):
            self._begin(renewed=True)
            return self._recording().withdraw(links)

    def add_search(self, search: Search) -> None:
        """Records what a search found. From then on the corpus has an id, which stays while it grows."""
        with writing(self._place):
            self._begin(searched=True)
            self._recording().add_search(search)

    def add_fetch(self, fetch: Fetch, exchanges: Sequence[Exchange] = (), answer: Exchange | None = None) -> None:
        """Archives the exchanges, then records the result of fetching the address.

        Args:
            fetch: replaces an earlier result of its address.
            exchanges: all exchanges of the fetch, in order.
            answer: the one of these that gave the page, or the reason why there is none; its place in the archive is recorded.
                None where no exchange is.

        Raises:
            ValueError: the answer is not among the exchanges.
        """
        if answer is not None and not any(exchange is answer for exchange in exchanges):
            raise ValueError("the answer is not among the exchanges")
        with writing(self._place):
            self._begin()
            for exchange in exchanges:
                location = self.archive.append(exchange)
                if exchange is answer:
                    fetch = fetch.model_copy(update={"location": location})
            if answer is None:
                fetch = fetch.model_copy(update={"location": None})
            self._recording().add_fetch(fetch)

    def replace_page(self, link: str, page: Page) -> None:
        """Replaces the text of the page that an address gave; the corpus gets another id, as recorded evidence changes."""
        with writing(self._place):
            self._begin(renewed=True)
            self._recording().replace_page(link, page)

    def finish(self, kinds: Sequence[PassageKind], *, merge: bool = False, progress: Progress = silent) -> CorpusDescription:
        """Cuts and indexes what was added, and writes the description of the finished corpus.

        Args:
            kinds: the kinds of passages that are wanted; those that the corpus has already are updated too.
            merge: puts all vectors of a kind into one segment.
            progress: of the indexing.

        Raises:
            WriteError: the disk is full, for example; the corpus stays unfinished, and another `finish` continues.
        """
        wanted = [kind for kind in get_args(PassageKind) if kind in {*kinds, *self.description.segments}]
        renewed = merge or set(wanted) - set(self.description.segments)
        if not (self.description.unfinished or renewed):
            return self.description
        with writing(self._place):
            self._begin()
            indexed = {}
            for kind in wanted:
                try:
                    indexed[kind] = self._index_kind(kind, merge=merge, progress=progress)
                except DAMAGE as error:
                    raise index_error(self._place, kind, error) from error
            segments = {kind: counted for kind, counted in indexed.items() if counted.passages}
            counts = self._recording().store().counts()
            self._close_files()
            store = PageStore(self.folder / STORE_FILE, finished=False)
            description = self.description.model_copy(
                update={
                    **counts,
                    "content": content_hash(store, self.description.embedder, segments),
                    "segments": segments,
                    "files": marks_of(self.folder, self._files(segments), self.description.files, self._written_before),
                    "unfinished": False,
                }
            )
            self._describe(description)
            self._renewed = False
        return description

    def close(self) -> None:
        """Releases the corpus; what was added stays, and is indexed only if `finish` was called."""
        self._close_files()
        os.close(self._hold)

    def _begin(self, *, searched: bool = False, renewed: bool = False) -> None:
        """Marks the corpus as unfinished before anything in it changes.

        Gives it another id before what it holds is replaced.
        """
        with self._opening:
            known = self.description.id
            if (searched and known is None) or (renewed and known is not None and not self._renewed):
                known, self._renewed = secrets.token_hex(ID_BYTES), renewed
            if self.description.unfinished and known == self.description.id:
                return
            if self.description.content and not self.description.unfinished:
                self._remove_unnamed_segments()
            self._describe(self.description.model_copy(update={"unfinished": True, "id": known}))

    def _replace_older(self) -> None:
        older = self._recording().older()
        if older:
            self._begin(renewed=True)
        for page in older:
            self.archive.append(as_exchange(page))
        self._recording().remove(older)
        self.replaced += len(older)

    def _remove_unnamed_segments(self) -> None:
        """Removes segments that the description of the finished corpus does not list."""
        files = [self.folder / name for name in self.description.files]
        for kind in get_args(PassageKind):
            self._segments(kind).remove_others(files)

    def _recording(self) -> Recorder:
        with self._opening:
            if self._recorder is None:
                self._begin()
                self._recorder = Recorder(self.folder / STORE_FILE)
            return self._recorder

    def _index_kind(self, kind: PassageKind, *, merge: bool, progress: Progress) -> SegmentCounts:
        self._recording().cut(kind)
        with self._recording().store().reader() as reader:
            embedder = self.embedder if self.description.embedder is not None else None
            passages, vectors = index_passages(
                reader, kind, self._segments(kind), embedder, partial(progress, kind), merge=merge
            )
        return SegmentCounts(passages=passages, vectors=vectors)

    def _segments(self, kind: PassageKind) -> Segments:
        return Segments(self.folder / SEGMENTS_FOLDER, kind)

    def _files(self, kinds: Iterable[PassageKind]) -> list[Path]:
        archived = (self.folder / ARCHIVE_FOLDER).glob("*.warc.gz")
        return [self.folder / STORE_FILE, *archived, *(file for kind in kinds for file in self._segments(kind).files())]

    def _describe(self, description: CorpusDescription) -> None:
        text = yaml.safe_dump(description.model_dump(mode="json"), sort_keys=False)
        replace(self.folder / DESCRIPTION_FILE, text.encode())
        self.description = description

    def _close_files(self) -> None:
        if self._archive is not None:
            self._archive.close()
        if self._recorder is not None:
            self._recorder.close()
        self._archive = self._recorder = None
