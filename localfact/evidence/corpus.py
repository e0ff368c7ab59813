"""A corpus: a folder of pages, their passages and the indexes over them, which is built once and copied like any folder.

    corpus.yaml                 what it is: content hash, embedder, chunking, counts, size and SHA-256 of every file
    corpus.sqlite               pages, passages
    segments/KIND-0001/         passages.npy, bm25/, and with an embedder dense.faiss, parts.npy

Opening reads corpus.yaml and checks that the parts are there and belong together; an index is mapped into memory at first use.
"""

import threading
from collections.abc import Mapping
from pathlib import Path

import yaml
from pydantic import ValidationError

from localfact.embedding import Embedder
from localfact.errors import CorpusError, InputError, MissingError
from localfact.evidence.index import Index
from localfact.evidence.passages import PassageKind
from localfact.evidence.store import Store
from localfact.files import file_digest
from localfact.records import Passage, Record

#: Raised whenever a corpus of an older localfact could not be read as it is.
FORMAT = 1
DESCRIPTION_FILE = "corpus.yaml"
STORE_FILE = "corpus.sqlite"


class Chunking(Record):
    """How pages were cut into passages."""

    chunk_words: int
    overlap_words: int
    page_characters: int


class SegmentCounts(Record):
    """How many passages of one kind there are and, with an embedder, how many vectors."""

    passages: int
    vectors: int | None


class FileMark(Record):
    """What a file is known by: a glance at its size, a thorough look at its SHA-256."""

    bytes: int
    sha256: str


class CorpusDescription(Record):
    """What corpus.yaml says.

    Attributes:
        content: hash of everything that decides what is found: pages, chunking, embedder. Another machine gets the same.
        embedder: identity of the model whose vectors the corpus holds; None: BM25 alone.
    """

    format: int
    content: str
    embedder: str | None
    chunking: Chunking
    pages: int
    segments: Mapping[PassageKind, SegmentCounts]
    files: Mapping[str, FileMark]


class Corpus:
    """An opened corpus, read-only. Safe to use from several threads."""

    def __init__(self, folder: Path, description: CorpusDescription, embedder: Embedder | None) -> None:
        """Takes what `open` has checked."""
        self.folder = folder
        self.description = description
        self.embedder = embedder if description.embedder is not None else None
        self.store = Store(folder / STORE_FILE)
        self._indexes: dict[PassageKind, Index] = {}
        self._lock = threading.Lock()

    @classmethod
    def open(cls, folder: Path, embedder: Embedder | None) -> "Corpus":
        """Opens a corpus; without an embedder it is searched by BM25 alone.

        Raises:
            MissingError: there is no corpus in that folder.
            CorpusError: it was built with another embedder or by another version, or a file is missing or cut off.
        """
        description = read_description(folder)
        if embedder is not None and description.embedder not in (None, embedder.identity):
            raise CorpusError(
                f"The corpus {folder} was built with the embedder {description.embedder}, not {embedder.identity}. "
                "Name its own with --embedder, or remove it and build it again: "
                f"localfact corpus build PAGES --out {folder} --embedder {embedder.identity.split('@')[0]}"
            )
        for name, mark in description.files.items():
            file = folder / name
            if not file.is_file():
                raise CorpusError(f"The corpus {folder} lacks its file {name}. {cure(folder)}")
            if file.stat().st_size != mark.bytes:
                raise CorpusError(
                    f"The file {name} of the corpus {folder} has {file.stat().st_size:,} bytes instead of {mark.bytes:,}. "
                    f"{cure(folder)}"
                )
        return cls(folder, description, embedder)

    def index(self, kind: PassageKind) -> Index:
        """The index over passages of that kind, mapped into memory at the first call.

        Raises:
            InputError: the corpus was built without that kind. CorpusError: the index is damaged.
        """
        if kind not in self.description.segments:
            raise InputError(f"The corpus {self.folder} has no passages of the kind '{kind}'. Build one that has them.")
        with self._lock:
            if kind not in self._indexes:
                self._indexes[kind] = self._load(kind)
            return self._indexes[kind]

    def search(self, text: str, kind: PassageKind, count: int) -> list[tuple[Passage, float]]:
        """The best `count` passages of that kind for the text with their scores (see Index.search), best first."""
        vector = self.embedder.encode([text])[0] if self.embedder is not None else None
        found = self.index(kind).search(text, vector, count)
        passages = self.store.passages(passage for passage, _ in found)
        return [(passages[passage], score) for passage, score in found]

    def verify(self) -> list[str]:
        """Reads every file and compares hashes and counts; returns a sentence for each thing that is wrong."""
        changed = [
            f"The file {name} is not the one that was built: its SHA-256 differs."
            for name, mark in self.description.files.items()
            if file_digest(self.folder / name) != mark.sha256
        ]
        return changed or self._miscounts()

    def _miscounts(self) -> list[str]:
        pages = self.store.page_count()
        problems = [] if pages == self.description.pages else [f"{STORE_FILE} has {pages} pages, not {self.description.pages}."]
        for kind, counts in self.description.segments.items():
            index = self.index(kind)
            if index.ids != tuple(self.store.texts(kind)):
                problems.append(f"The index over {kind} is not over the passages in {STORE_FILE}.")
            if index.counts != (counts.passages, counts.vectors):
                problems.append(f"The index over {kind} holds {index.counts} passages and vectors, not {counts}.")
        return problems

    def _load(self, kind: PassageKind) -> Index:
        try:
            return Index.load(segment_folder(self.folder, kind), dense=self.description.embedder is not None)
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise CorpusError(f"The index over {kind} of {self.folder} is damaged: {error}. {cure(self.folder)}") from error


def cure(folder: Path) -> str:
    """What to do about a damaged corpus."""
    return f"Copy it again, or remove it and build it again: localfact corpus build PAGES --out {folder}"


def segment_folder(folder: Path, kind: PassageKind) -> Path:
    """Where the segment of that kind lies. The number leaves room for further ones; this version makes one."""
    return folder / "segments" / f"{kind}-0001"


def read_description(folder: Path) -> CorpusDescription:
    """What corpus.yaml of the folder says.

    Raises:
        MissingError: there is no corpus. CorpusError: the description is damaged or of another format.
    """
    file = folder / DESCRIPTION_FILE
    if not file.is_file():
        raise MissingError(
            f"There is no corpus in {folder}. Build one from your pages: localfact corpus build PAGES --out {folder}"
        )
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
        if isinstance(content, dict) and content.get("format") not in (None, FORMAT):
            raise CorpusError(f"The corpus {folder} has format {content['format']}, not {FORMAT}. {cure(folder)}")
        return CorpusDescription.model_validate(content)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        raise CorpusError(f"{file} is damaged and cannot be read. {cure(folder)}") from error


def corpus_identity(folder: Path) -> str:
    """The content hash of the corpus in that folder, without opening more than its description.

    Raises:
        MissingError: there is no corpus. CorpusError: the description is damaged or of another format.
    """
    return read_description(folder).content
