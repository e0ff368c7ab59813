"""A corpus: a folder of pages, their passages and the indexes over them, which is copied like any folder.

    corpus.yaml                 what it is: content hash, embedder, chunking, counts, size and SHA-256 of every file
    corpus.sqlite               pages, passages; what was searched and fetched
    pages/*.warc.gz             every answer as it came from the web
    segments/KIND-*/            vectors and words of the passages, and which of them are the index

Opening reads corpus.yaml and checks that the parts are there and belong together; an index is mapped into memory at first use.
"""

import hashlib
import json
import os
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tokenize import TokenError
from typing import Self

from localfact.corpus.files import (
    ARCHIVE_FOLDER,
    DESCRIPTION_FILE,
    SEGMENTS_FOLDER,
    STORE_FILE,
    FileMark,
    cure,
    generation_of,
    refuse_missing_files,
)
from localfact.corpus.indexing.index import Index
from localfact.corpus.indexing.segments import Segments
from localfact.corpus.locks import lock_for_reading
from localfact.corpus.passages import CHUNK_WORDS, OVERLAP_WORDS, PASSAGE_CHARACTERS, PassageKind
from localfact.corpus.store import PageStore
from localfact.errors import CorpusError, InputError, MissingError
from localfact.models.embedder import NO_EMBEDDER, Embedder
from localfact.records import Passage, Record
from localfact.runtime.files import NEW
from localfact.runtime.formats import other_format
from localfact.runtime.links import refuse_links
from localfact.runtime.path_names import RelativePath
from localfact.runtime.plain_yaml import read_yaml

#: Version of the format; a corpus of another is refused.
FORMAT = 3
#: Part of the hash of what a corpus holds: increased when the same pages would be found otherwise.
FINDING = 2
#: What numpy and FAISS raise over a damaged file, besides OSError and RuntimeError, which have other causes, too.
DAMAGE = (ValueError, KeyError, IndexError, TypeError, AttributeError, SyntaxError, TokenError, EOFError)
#: Characters of a library's message that are repeated.
LONGEST_REASON = 200


class Chunking(Record):
    """How pages are cut into passages."""

    chunk_words: int = CHUNK_WORDS
    overlap_words: int = OVERLAP_WORDS
    page_characters: int = PASSAGE_CHARACTERS


class SegmentCounts(Record):
    """How many passages of one kind there are and, with an embedder, how many vectors."""

    passages: int
    vectors: int | None


class CorpusDescription(Record):
    """The content of corpus.yaml.

    Attributes:
        id: random, of a corpus in which searches are recorded: it stays while the corpus grows or is copied, and changes when
            pages are extracted again; None where no search is recorded.
        content: hash of everything that decides what is found: pages, searches, chunking, embedder; the same on every machine.
        embedder: identity of the model whose vectors the corpus holds; None: BM25 alone.
        unfinished: pages were added that are not indexed yet, so the other fields are out of date.
    """

    format: int
    id: str | None = None
    content: str = ""
    embedder: str | None
    chunking: Chunking = Chunking()
    pages: int = 0
    searches: int = 0
    failures: int = 0
    segments: Mapping[PassageKind, SegmentCounts] = {}
    files: Mapping[RelativePath, FileMark] = {}
    unfinished: bool = False


class Corpus:
    """An opened corpus, read-only. Safe to use from several threads. No process can add to it until it is closed."""

    def __init__(
        self, folder: Path, description: CorpusDescription, embedder: Embedder | None, hold: int | None = None
    ) -> None:
        self._release = weakref.finalize(self, release, hold)
        self.folder = folder
        self.description = description
        self.embedder = embedder if description.embedder is not None else None
        self.store = PageStore(folder / STORE_FILE)
        self._indexes: dict[PassageKind, Index] = {}
        self._lock = threading.Lock()

    @classmethod
    def open(cls, folder: Path, embedder: Embedder | None) -> "Corpus":
        """Opens a corpus; without an embedder it is searched by BM25 alone.

        Raises:
            MissingError: there is no corpus in that folder.
            InputError: another process adds to it.
            CorpusError: it is unfinished, was built with another embedder or by another version, or a file is missing or
                truncated.
        """
        read_description(folder)
        hold = lock_for_reading(folder)
        try:
            refuse_links(folder)
            description = read_description(folder)
            refuse_unfinished(folder, description)
            if embedder is not None:
                refuse_other_embedder(folder, description, embedder.identity)
            refuse_missing_files(folder, description.files, unfinished=False)
        except BaseException:
            release(hold)
            raise
        return cls(folder, description, embedder, hold)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Releases the lock, so that others can add to the corpus; it must not be read any more."""
        self._release()

    def index(self, kind: PassageKind) -> Index:
        """The index over passages of that kind, mapped into memory at the first call.

        Raises:
            InputError: the corpus was built without that kind. CorpusError: the index is damaged.
        """
        if kind not in self.description.segments:
            raise InputError(
                f"The corpus {self.folder} has no passages of the kind '{kind}'. "
                f"`localfact corpus merge {self.folder} --passages {kind}` adds them."
            )
        with self._lock:
            if kind not in self._indexes:
                self._indexes[kind] = self._load(kind)
            return self._indexes[kind]

    def search(self, text: str, kind: PassageKind, count: int) -> list[tuple[Passage, float]]:
        """The best `count` passages of that kind for the text with their scores (see Index.search), best first."""
        vector = self.embedder.encode([text], role="query")[0] if self.embedder is not None else None
        index = self.index(kind)
        with index_damage(self.folder, kind):
            found = index.search(text, vector, count)
        passages = self.store.passages(passage for passage, _ in found)
        return [(passages[passage], score) for passage, score in found]

    def _load(self, kind: PassageKind) -> Index:
        with index_damage(self.folder, kind):
            segments = Segments(self.folder / SEGMENTS_FOLDER, kind)
            return segments.open(self.description.embedder is not None, generation_of(self.description.files, kind))


@contextmanager
def index_damage(folder: Path, kind: PassageKind) -> Iterator[None]:
    """Turns what libraries raise inside the block, where files of an index are not what they were, into a CorpusError."""
    try:
        yield
    except (*DAMAGE, OSError, RuntimeError) as error:
        raise index_error(folder, kind, error) from error


def index_error(folder: Path, kind: PassageKind, error: Exception) -> CorpusError:
    """The error for an index that some library could not read."""
    why = " ".join(str(error).split())[:LONGEST_REASON] or type(error).__name__
    return CorpusError(f"The index over {kind} of {folder} is damaged: {why}. {cure(folder)}")


def content_hash(store: PageStore, embedder: str | None, kinds: Iterable[PassageKind]) -> str:
    """Hash of what decides which passages are found; without the vectors, whose last bits depend on the machine."""
    settings = {"format": FINDING, "chunking": Chunking().model_dump(), "embedder": embedder, "kinds": sorted(kinds)}
    return hashlib.sha256(f"{json.dumps(settings, sort_keys=True)} {store.digest()}".encode()).hexdigest()


def release(hold: int | None) -> None:
    """Releases a lock from `lock_for_reading`; does nothing for None."""
    if hold is not None:
        os.close(hold)


def refuse_unfinished(folder: Path, description: CorpusDescription) -> None:
    """Raises CorpusError for a corpus that is being added to, or was when its process was killed."""
    if description.unfinished:
        raise CorpusError(
            f"The corpus {folder} is unfinished: a run that adds to it is at work, or was killed. Let it end, give its command "
            f"again, or finish with what is there: localfact corpus merge {folder}"
        )


def refuse_other_embedder(folder: Path, description: CorpusDescription, identity: str) -> None:
    """Raises CorpusError for a corpus whose vectors another embedder made."""
    if description.embedder not in (None, identity):
        raise CorpusError(
            f"The corpus {folder} was built with the embedder {description.embedder}, not {identity}. "
            "Name its own with --embedder, or remove it and build it again: "
            f"localfact corpus build PAGES --out {folder} --embedder {identity.split('@')[0]}"
        )


def refuse_no_embedder(folder: Path, description: CorpusDescription) -> None:
    """Raises CorpusError for a corpus with vectors, which adding to it without an embedder would drop."""
    if description.embedder is not None:
        raise CorpusError(
            f"The corpus {folder} was built with the embedder {description.embedder}, without which its vectors would be lost. "
            f"Name it: --embedder {description.embedder.split('@')[0]}"
        )


def read_description(folder: Path) -> CorpusDescription:
    """The content of the folder's corpus.yaml.

    Raises:
        MissingError: there is no corpus. CorpusError: the description is damaged or of another format.
    """
    file = folder / DESCRIPTION_FILE
    if not file.is_file():
        raise MissingError(
            f"There is no corpus in {folder}. Build one from your pages: localfact corpus build PAGES --out {folder}; or from "
            f"the web: localfact corpus fetch --data RESPONSES --out {folder}"
        )
    try:
        content = read_yaml(file.read_bytes())
        if isinstance(content, dict) and content.get("format") not in (None, FORMAT):
            again = f"Remove it and build it again: localfact corpus build PAGES --out {folder}"
            raise CorpusError(other_format(f"The corpus {folder}", content["format"], FORMAT, again))
        return CorpusDescription.model_validate(content)
    except (OSError, ValueError) as error:
        raise CorpusError(f"{file} is damaged and cannot be read. {cure(folder)}") from error


def description_to_add_to(folder: Path, embedder: str | None) -> CorpusDescription:
    """The description of the corpus in a folder, before adding to it with that embedder; a new one for an empty folder.

    Raises:
        InputError: the folder holds something else. CorpusError: a damaged corpus, or one of another embedder.
    """
    if (folder / DESCRIPTION_FILE).is_file():
        description = read_description(folder)
        if embedder is not None:
            refuse_other_embedder(folder, description, embedder)
        else:
            refuse_no_embedder(folder, description)
        refuse_missing_files(folder, description.files, unfinished=description.unfinished)
        if not (folder / STORE_FILE).is_file() and any((folder / ARCHIVE_FOLDER).glob("*.warc.gz")):
            raise CorpusError(f"The corpus {folder} lacks its file {STORE_FILE}. {cure(folder)}")
        return description
    strange = [item.name for item in folder.iterdir() if item.name != DESCRIPTION_FILE + NEW]
    if strange:
        raise InputError(f"{folder} holds other files ({strange[0]}, ...) and no corpus. Name an empty folder.")
    return CorpusDescription(format=FORMAT, embedder=embedder)


def read_recorded_id(folder: Path) -> str | None:
    """The id of a corpus in which searches are recorded; None where there is no corpus, or one without an id.

    Raises:
        CorpusError: its description is damaged or of another format.
    """
    return read_description(folder).id if (folder / DESCRIPTION_FILE).is_file() else None


def corpus_identity(folder: Path) -> str:
    """The content hash of the corpus in that folder, from its description alone.

    Raises:
        MissingError: there is no corpus. CorpusError: it is unfinished, or its description damaged or of another format.
    """
    description = read_description(folder)
    refuse_unfinished(folder, description)
    return description.content


def embedder_name(description: CorpusDescription) -> str:
    """The user's name for the embedder that made the corpus's vectors; NO_EMBEDDER for a corpus without vectors."""
    return description.embedder.split("@")[0] if description.embedder is not None else NO_EMBEDDER
