"""Checks every file of a corpus."""

from localfact.corpus.corpus import Corpus, content_hash
from localfact.corpus.files import ARCHIVE_FOLDER, DESCRIPTION_FILE, STORE_FILE
from localfact.corpus.indexing.passage_ids import PassageIds
from localfact.errors import CorpusError
from localfact.runtime.files import file_digest
from localfact.web.archiving.archive import Archive


def verify(corpus: Corpus) -> list[str]:
    """Reads every file and compares hashes, counts and places; returns a sentence for each problem."""
    changed = [
        f"The file {name} is not the one that was built: its SHA-256 differs."
        for name, mark in corpus.description.files.items()
        if file_digest(corpus.folder / name) != mark.sha256
    ]
    return changed or [*miscounts(corpus), *unreadable_answers(corpus), *unknown_files(corpus)]


def miscounts(corpus: Corpus) -> list[str]:
    """Descriptions of disagreements between the store, the indexes and the corpus description."""
    description, counts = corpus.description, corpus.store.counts()
    problems = [
        f"{STORE_FILE} has {counts[name]} {name}, not {getattr(description, name)}."
        for name in counts
        if counts[name] != getattr(description, name)
    ]
    if content_hash(corpus.store, description.embedder, description.segments) != description.content:
        problems.append(f"{STORE_FILE} does not hold the content that {DESCRIPTION_FILE} names.")
    for kind, counted in description.segments.items():
        index = corpus.index(kind)
        with corpus.store.reader() as reader:
            ids = PassageIds.of(reader.passage_ids(kind))
        if index.ids != ids:
            problems.append(f"The index over {kind} is not over the passages in {STORE_FILE}.")
        if index.counts != (counted.passages, counted.vectors):
            problems.append(f"The index over {kind} holds {index.counts} passages and vectors, not {counted}.")
    return problems


def unreadable_answers(corpus: Corpus) -> list[str]:
    """Problems with archived answers that the store refers to."""
    archive, problems = Archive(corpus.folder / ARCHIVE_FOLDER), []
    for fetch in corpus.store.fetches():
        if fetch.location is not None:
            try:
                archive.read(fetch.location)
            except CorpusError as error:
                problems.append(f"{fetch.link}: {error}")
    return problems


def unknown_files(corpus: Corpus) -> list[str]:
    """Files in the folder that the description does not list."""
    known = {*corpus.description.files, DESCRIPTION_FILE}
    there = (file.relative_to(corpus.folder).as_posix() for file in corpus.folder.rglob("*") if file.is_file())
    return [f"The file {name} is no part of the corpus." for name in sorted(set(there) - known)]
