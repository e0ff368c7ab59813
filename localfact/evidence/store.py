"""The SQLite file of a corpus: pages, passages, and which passage stands on which page. Written once, then only read."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from localfact.errors import CorpusError
from localfact.evidence.pages import Page
from localfact.evidence.passages import PassageKind, passages_of
from localfact.records import Passage
from localfact.text import host_of

SCHEMA = """
    CREATE TABLE pages (id INTEGER PRIMARY KEY, link TEXT, title TEXT, date TEXT, provider TEXT, text TEXT) STRICT;
    CREATE TABLE passages (id TEXT PRIMARY KEY, text TEXT) STRICT, WITHOUT ROWID;
    CREATE TABLE places (
        kind TEXT, page INTEGER REFERENCES pages, position INTEGER, passage TEXT REFERENCES passages,
        PRIMARY KEY (kind, page, position)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX places_of_passage ON places (passage);
"""
#: SQLite takes a bounded number of values in one statement.
VALUES_PER_STATEMENT = 500


def write_store(file: Path, pages: Sequence[Page], kinds: Sequence[PassageKind]) -> None:
    """Writes all pages, numbered in the order given, and their passages of the given kinds."""
    with closing(sqlite3.connect(file)) as database, database:
        database.executescript(SCHEMA)
        for number, page in enumerate(pages):
            row = (number, page.link, page.title, page.date, page.provider, page.text)
            database.execute("INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?)", row)
            for kind in kinds:
                for position, passage in enumerate(passages_of(page, kind)):
                    database.execute("INSERT OR IGNORE INTO passages VALUES (?, ?)", (passage.id, passage.text))
                    database.execute("INSERT INTO places VALUES (?, ?, ?, ?)", (kind, number, position, passage.id))


class Store:
    """Reads the file. Safe to use from several threads: each call opens it anew, which takes a fraction of a millisecond."""

    def __init__(self, file: Path) -> None:
        """Takes the path; nothing is opened yet."""
        self._file = file

    def texts(self, kind: PassageKind) -> dict[str, str]:
        """All passages of that kind, id -> text, ascending by id."""
        statement = "SELECT id, text FROM passages WHERE id IN (SELECT passage FROM places WHERE kind = ?) ORDER BY id"
        with self._database() as database:
            return dict(database.execute(statement, (kind,)).fetchall())

    def passages(self, ids: Iterable[str]) -> dict[str, Passage]:
        """The passages of these ids; title, date and host are those of the first page that holds the text.

        Raises:
            CorpusError: an id is not in the file, or the file is damaged.
        """
        wanted = list(dict.fromkeys(ids))
        rows: dict[str, list[tuple[str, str, str | None, str, str]]] = {}
        with self._database() as database:
            for begin in range(0, len(wanted), VALUES_PER_STATEMENT):
                some = wanted[begin : begin + VALUES_PER_STATEMENT]
                statement = f"""
                    SELECT DISTINCT places.passage, link, title, date, provider, passages.text, pages.id
                    FROM places JOIN pages ON pages.id = places.page JOIN passages ON passages.id = places.passage
                    WHERE places.passage IN ({",".join("?" * len(some))}) ORDER BY places.passage, pages.id
                """
                for passage, *row, _ in database.execute(statement, some):
                    rows.setdefault(passage, []).append(tuple(row))
        if len(rows) < len(wanted):
            raise CorpusError(f"{self._file} lacks passages that an index beside it names. Copy or build the corpus again.")
        return {passage: joined(passage, rows[passage]) for passage in wanted}

    def page_count(self) -> int:
        """How many pages there are."""
        with self._database() as database:
            (count,) = database.execute("SELECT COUNT(*) FROM pages").fetchone()
        return int(count)

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        # Immutable: no lock and no journal, so a corpus on a read-only medium can be read.
        try:
            with closing(sqlite3.connect(f"{self._file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
                yield database
        except sqlite3.DatabaseError as error:
            raise CorpusError(f"{self._file} is damaged: {error}. Copy or build the corpus again.") from error


def joined(passage: str, rows: Sequence[tuple[str, str, str | None, str, str]]) -> Passage:
    """One passage from the pages that hold its text, as (link, title, date, provider, text)."""
    link, title, date, provider, text = rows[0]
    links = tuple(dict.fromkeys(row[0] for row in rows))
    return Passage(id=passage, text=text, title=title, links=links, host=host_of(link), date=date, provider=provider)
