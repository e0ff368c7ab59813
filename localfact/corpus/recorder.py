"""Writes the SQLite file of a corpus: pages, searches and fetches as they come, and passages when they are cut.

Each call is one transaction: after a kill it has happened completely or not at all. `store.py` reads the file.
"""

import sqlite3
import threading
import time
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from localfact.corpus import extents
from localfact.corpus.passages import PassageKind, passages_of
from localfact.corpus.store import Fetch, PageStore
from localfact.corpus.tables import LEAVES, SCHEMA, describe_damage, page_digest, page_of_row
from localfact.errors import CorpusError
from localfact.runtime.sqlite import PATIENCE_SECONDS, connect, is_empty, transaction
from localfact.web.fetching.failures import Reason
from localfact.web.pages import WEB, Page
from localfact.web.searching.results import Search

#: How many pages are added in one transaction.
PAGES_AT_ONCE = 1_000
#: How many pages are cut in one transaction; their texts are in memory together, up to 5 MB each.
PAGES_CUT_AT_ONCE = 100
#: Between two attempts to end the write-ahead log.
RETRY_SECONDS = 0.01
#: SQL conditions for the pages that are cut into a kind: snippets for their own kind, and for the others where the page itself
#: could not be fetched.
WANTED = {
    "snippets": "snippet",
    "pages": """(NOT snippet OR NOT EXISTS (
        SELECT 1 FROM fetches WHERE fetches.link = pages.link AND fetches.page IS NOT NULL))""",
}
WANTED["chunks"] = WANTED["pages"]


class Recorder:
    """Writes the file, which is made if missing. One process at a time may, with any of its threads.

    Raises:
        CorpusError: it is no such file, or damaged. sqlite3.OperationalError: it cannot be written.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        try:
            self._database = connect(file.absolute().as_uri())
            # With a write-ahead log a transaction is one write; `close` folds it in, so that the corpus is one file.
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
            if is_empty(self._database):
                self._database.executescript(f"BEGIN; {SCHEMA} PRAGMA application_id = 1; COMMIT;")
            self._database.execute(LEAVES)
            self._database.execute(extents.TABLE)
        except sqlite3.OperationalError:  # a full disk, for example: the caller has an error for that
            raise
        except sqlite3.DatabaseError as error:
            raise CorpusError(describe_damage(file, error)) from error

    def add_pages(self, pages: Iterable[Page], known: Iterable[int] = ()) -> int:
        """Adds the pages that are not there yet, and returns how many those were.

        Args:
            known: numbers of pages that were given before these; `older` tells what all of them replace.
        """
        with self._lock:
            self._database.execute("CREATE TEMP TABLE IF NOT EXISTS given (page INTEGER PRIMARY KEY)")
            self._database.execute("DELETE FROM given")
            self._database.executemany("INSERT OR IGNORE INTO given VALUES (?)", ((number,) for number in known))
        added, rest = 0, iter(pages)
        while some := list(islice(rest, PAGES_AT_ONCE)):
            added += self._add(some)
        with self._lock, transaction(self._database):  # what was removed, and no search found, is simply there again
            self._database.execute(
                """
                DELETE FROM fetches WHERE reason = ? AND link NOT IN (SELECT link FROM results)
                    AND link IN (SELECT link FROM pages WHERE NOT snippet)
                """,
                (Reason.WITHDRAWN,),
            )
        return added

    def older(self) -> list[Page]:
        """The pages at addresses of the web that `add_pages` gave other texts for; what was fetched is not among them."""
        with self._lock:
            rows = self._database.execute(
                """
                SELECT DISTINCT old.link, old.title, old.date, old.language, old.provider, old.text
                FROM given JOIN pages AS new ON new.id = given.page JOIN pages AS old ON old.link = new.link
                WHERE (new.link GLOB 'http://*' OR new.link GLOB 'https://*') AND NOT old.snippet
                    AND old.id NOT IN (SELECT page FROM given) AND NOT EXISTS (SELECT 1 FROM fetches WHERE page = old.id)
                ORDER BY old.digest
                """
            ).fetchall()
        return [page_of_row(row) for row in rows]

    def remove(self, pages: Iterable[Page]) -> None:
        """Removes pages that were not fetched."""
        with self._lock, transaction(self._database):
            for page in pages:
                self._database.execute("DELETE FROM pages WHERE digest = ?", (page_digest(page),))

    def withdraw(self, links: Iterable[str]) -> int:
        """Removes everything that stands at these addresses, what searches show of it too; returns how many pages those were.

        The addresses are recorded as withdrawn, and so are not fetched again, and known to whoever removes them again.
        """
        removed = 0
        with self._lock, transaction(self._database):
            for link in links:
                statement = """
                    SELECT link FROM fetches WHERE link = :link OR page IN (SELECT id FROM pages WHERE link = :link)
                    UNION SELECT link FROM results WHERE link = :link
                """
                for (address,) in self._database.execute(statement, {"link": link}).fetchall():
                    self._database.execute(
                        """
                        INSERT INTO fetches (link, time, final_link, reason, detail) VALUES (?, '', ?, ?, '')
                        ON CONFLICT (link) DO UPDATE SET page = NULL, reason = excluded.reason, detail = ''
                        """,
                        (address, address, Reason.WITHDRAWN),
                    )
                    self._database.execute("UPDATE results SET snippet = '', title = '' WHERE link = ?", (address,))
                    self._database.execute("DELETE FROM pages WHERE link = ? AND snippet", (address,))
                cursor = self._database.execute("DELETE FROM pages WHERE link = ? AND NOT snippet", (link,))
                removed += cursor.rowcount
                self._database.execute(
                    "INSERT OR IGNORE INTO fetches (link, time, final_link, reason, detail) VALUES (?, '', ?, ?, '')",
                    (link, link, Reason.WITHDRAWN),
                )
        return removed

    def add_search(self, search: Search) -> None:
        """Records what a search found, unless the same query was recorded with the same count; its snippets become pages."""
        with self._lock, transaction(self._database):
            cursor = self._database.execute(
                "INSERT OR IGNORE INTO searches (query, count, provider, time) VALUES (?, ?, ?, ?)",
                (search.query, search.count, search.provider, search.time),
            )
            if not cursor.rowcount:
                return
            for result in search.results:
                self._database.execute(
                    "INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (cursor.lastrowid, result.rank, result.link, result.title, result.snippet, result.date, result.provider),
                )
                if result.snippet:
                    self._insert(result.as_page(), snippet=True)

    def add_fetch(self, fetch: Fetch) -> None:
        """Records the result of fetching an address, in place of an earlier one."""
        with self._lock, transaction(self._database):
            (before,) = self._database.execute("SELECT page FROM fetches WHERE link = ?", (fetch.link,)).fetchone() or (None,)
            page = self._insert(fetch.page, snippet=False) if fetch.page is not None else None
            at = fetch.location
            place = (at.file, at.offset, at.length) if at is not None else (None, None, None)
            why = (fetch.failure.reason, fetch.failure.detail) if fetch.failure is not None else (None, None)
            self._database.execute(
                "INSERT OR REPLACE INTO fetches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (fetch.link, fetch.time, fetch.final_link, *place, page, *why),
            )
            self._remove_replaced(before, page)

    def replace_page(self, link: str, page: Page) -> None:
        """Replaces the text of the page that an address gave; pages that other addresses gave stay."""
        with self._lock, transaction(self._database):
            (before,) = self._database.execute("SELECT page FROM fetches WHERE link = ?", (link,)).fetchone() or (None,)
            number = self._insert(page, snippet=False)
            self._database.execute("UPDATE fetches SET page = ?, reason = NULL, detail = NULL WHERE link = ?", (number, link))
            self._remove_replaced(before, number)

    def cut(self, kind: PassageKind) -> None:
        """Cuts the pages that have no passages of that kind yet, and drops passages of pages that are not wanted any more.

        Every few pages are one transaction: after a kill those that were cut need not be cut again.
        """
        with self._lock, transaction(self._database):
            wanted = self._numbers(f"SELECT id FROM pages INDEXED BY pages_without_texts WHERE {WANTED[kind]}")
            cut = self._numbers("SELECT DISTINCT page FROM places WHERE kind = ?", kind)
            unwanted = ((kind, number) for number in np.setdiff1d(cut, wanted, assume_unique=True).tolist())
            self._database.executemany("DELETE FROM places WHERE kind = ? AND page = ?", unwanted)
        uncut = np.setdiff1d(wanted, cut, assume_unique=True).tolist()
        for begin in range(0, len(uncut), PAGES_CUT_AT_ONCE):
            with self._lock, transaction(self._database):
                self._cut_some(kind, uncut[begin : begin + PAGES_CUT_AT_ONCE])
        with self._lock, transaction(self._database):
            self._database.execute(
                "DELETE FROM passages WHERE NOT EXISTS (SELECT 1 FROM places WHERE places.passage = passages.id)"
            )

    def close(self) -> None:
        """Folds the log into the file and closes it."""
        with self._lock:
            self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._leave_log()
            self._database.close()

    def store(self) -> PageStore:
        """The store that reads what was written so far."""
        return PageStore(self._file, finished=False)

    def _leave_log(self) -> None:
        """Ends the write-ahead log. Readers that an interrupted search left behind are gone in moments, and are waited for.

        SQLite waits for others wherever it needs a lock, but not here.
        """
        patience = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                self._database.execute("PRAGMA journal_mode = DELETE")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > patience:
                    raise
                time.sleep(RETRY_SECONDS)
            else:
                return

    def _numbers(self, statement: str, *values: str) -> NDArray[np.int64]:
        """The numbers that a statement finds, ascending."""
        return np.sort(np.fromiter((number for (number,) in self._database.execute(statement, values)), dtype=np.int64))

    def _cut_some(self, kind: PassageKind, numbers: Sequence[int]) -> None:
        """Cuts the pages of these numbers."""
        statement = f"SELECT id, link, title, text FROM pages WHERE id IN ({','.join('?' * len(numbers))}) ORDER BY id"
        for number, link, title, text in self._database.execute(statement, tuple(numbers)).fetchall():
            for position, passage in enumerate(passages_of(Page(link=link, title=title, text=text), kind)):
                self._database.execute("INSERT OR IGNORE INTO passages VALUES (?, ?)", (passage.id, passage.text))
                self._database.execute("INSERT INTO places VALUES (?, ?, ?, ?)", (kind, number, position, passage.id))

    def _remove_replaced(self, before: int | None, now: int | None) -> None:
        """Removes a page from the corpus once the address that gave it gives another page, or none.

        The page stays if another address gave it too, or if a user added it.

        Args:
            before: the number of the page that the address gave before; None for none.
            now: the number of the page that it gives now; None for none. Where both are equal, nothing is removed.
        """
        if before in (None, now):
            return
        self._database.execute(
            "DELETE FROM pages WHERE id = ? AND provider = ? AND NOT EXISTS (SELECT 1 FROM fetches WHERE page = ?)",
            (before, WEB, before),
        )
        self._database.execute("DELETE FROM places WHERE page NOT IN (SELECT id FROM pages)")

    def _add(self, pages: Iterable[Page]) -> int:
        statement = "SELECT COALESCE(MAX(id), 0) FROM pages"  # numbers go up by one
        with self._lock, transaction(self._database):
            (before,) = self._database.execute(statement).fetchone()
            for page in pages:
                number = self._insert(page, snippet=False)
                self._database.execute("INSERT OR IGNORE INTO given VALUES (?)", (number,))
            (after,) = self._database.execute(statement).fetchone()
        return int(after - before)

    def _insert(self, page: Page, *, snippet: bool) -> int:
        """Adds the page unless it is there, and returns its number.

        Of several providers of a page the first by name is recorded.
        """
        # A snippet and a page with the same text are different pages.
        digest = ("snippet:" if snippet else "") + page_digest(page)
        if page.extent is not None:
            extents.record_extent(self._database, digest, page.extent)
        known = self._database.execute("SELECT id, provider FROM pages WHERE digest = ?", (digest,)).fetchone()
        if known is None:
            cursor = self._database.execute(
                """
                INSERT INTO pages (link, title, date, language, provider, text, snippet, digest)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
                (page.link, page.title, page.date, page.language, page.provider, page.text, int(snippet), digest),
            )
            return int(cursor.lastrowid or 0)
        number, provider = known
        if page.provider < provider:
            self._database.execute("UPDATE pages SET provider = ? WHERE id = ?", (page.provider, number))
        return int(number)
