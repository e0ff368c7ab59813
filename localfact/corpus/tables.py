"""The SQLite file of a corpus, which `recorder.py` writes and `store.py` reads: its tables, opening it, a page as a row."""

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from localfact.errors import CorpusError, WriteError
from localfact.runtime.sqlite import connect, primary_code
from localfact.web.pages import Page

SCHEMA = """
    -- A page once for each text it was seen with; `snippet` marks what a search engine shows of a page in place of the page.
    CREATE TABLE pages (
        id INTEGER PRIMARY KEY, link TEXT, title TEXT, date TEXT, language TEXT, provider TEXT, text TEXT,
        snippet INTEGER, digest TEXT UNIQUE
    ) STRICT;
    CREATE INDEX pages_of_link ON pages (link);
    CREATE TABLE passages (id TEXT PRIMARY KEY, text TEXT) STRICT, WITHOUT ROWID;
    CREATE TABLE places (
        kind TEXT, page INTEGER REFERENCES pages, position INTEGER, passage TEXT REFERENCES passages,
        PRIMARY KEY (kind, page, position)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX places_of_passage ON places (passage);
    CREATE TABLE searches (
        id INTEGER PRIMARY KEY, query TEXT, count INTEGER, provider TEXT, time TEXT, UNIQUE (query, count)
    ) STRICT;
    CREATE TABLE results (
        search INTEGER REFERENCES searches, rank INTEGER, link TEXT, title TEXT, snippet TEXT, date TEXT, provider TEXT,
        PRIMARY KEY (search, rank)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX results_of_link ON results (link);
    -- One row an address, with the page it gave or the reason why none; file, offset, length say where the archive has it.
    CREATE TABLE fetches (
        link TEXT PRIMARY KEY, time TEXT, final_link TEXT, file TEXT, offset INTEGER, length INTEGER,
        page INTEGER REFERENCES pages, reason TEXT, detail TEXT
    ) STRICT, WITHOUT ROWID;
"""
#: What is asked of all pages but for their texts, which lie in the way in the table: an index that answers by itself. Whoever
#: writes to a corpus makes it; one that is only read, as the sample that ships, does without.
LEAVES = "CREATE INDEX IF NOT EXISTS pages_without_texts ON pages (digest, snippet, link)"


@contextmanager
def open_to_read(file: Path, *, finished: bool) -> Iterator[sqlite3.Connection]:
    """The SQLite file of a corpus, opened to be read; finished: False while it may be written to.

    Raises:
        CorpusError: it is damaged. WriteError: it is being written to, and the disk has no room to read it beside that.
    """
    # Immutable is without lock and journal, so that a corpus on a read-only medium can be read.
    try:
        with closing(connect(f"{file.absolute().as_uri()}?mode=ro{'&immutable=1' if finished else ''}")) as database:
            yield database
    except sqlite3.DatabaseError as error:
        # SQLITE_ERROR is of a question that these tables cannot answer: another file, or a damaged schema.
        if not finished and isinstance(error, sqlite3.OperationalError) and primary_code(error) != sqlite3.SQLITE_ERROR:
            raise WriteError(f"{file} cannot be read while it is written: {error}. Make room on the disk.") from error
        raise CorpusError(describe_damage(file, error)) from error


def describe_damage(file: Path, error: sqlite3.DatabaseError) -> str:
    """What a user reads of a file of a corpus that SQLite cannot read."""
    return f"{file} is damaged: {error}. Copy or build the corpus again."


def page_of_row(row: Sequence[str | None]) -> Page:
    """The page of (link, title, date, language, provider, text)."""
    link, title, date, language, provider, text = row
    return Page(link=link or "", title=title or "", date=date, language=language, provider=provider or "", text=text or "")


def page_digest(page: Page) -> str:
    """SHA-256 that identifies a page, whichever provider found it and whatever its extraction left out."""
    return hashlib.sha256(page.model_dump_json(exclude={"provider", "extent"}).encode()).hexdigest()
