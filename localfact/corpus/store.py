"""Reads the SQLite file of a corpus: pages, passages, what was searched and fetched. `recorder.py` writes it."""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from localfact.corpus.passage_reader import VALUES_PER_STATEMENT, PassageReader
from localfact.corpus.tables import open_to_read, page_of_row
from localfact.errors import CorpusError
from localfact.records import Passage, Record
from localfact.runtime.addresses import host_of
from localfact.web.archiving.archive import Location
from localfact.web.fetching.failures import PageFailure, Reason
from localfact.web.pages import Page
from localfact.web.searching.results import Search, SearchResult

#: How many rows are hashed together.
ROWS_AT_ONCE = 10_000
#: SQL for the provider of a page: of those whose results name an address that gave it, the first by name.
FOUND_BY = """COALESCE((
    SELECT MIN(results.provider) FROM results JOIN fetches ON fetches.link = results.link WHERE fetches.page = pages.id
), pages.provider)"""

PageRow = tuple[str, str, str | None, str, str]
#: (host, date) -> whether a page of them may be used.
Admits = Callable[[str | None, str | None], bool]


def admit_all(host: str | None, date: str | None) -> bool:
    """Admits every page."""
    return True


class Fetch(Record):
    """The result of fetching one address.

    Attributes:
        page: None where it gave none; then `failure` says why.
        location: where the archive has the answer; None where there was no answer, or the page was there without a request.
    """

    link: str
    final_link: str
    time: str
    page: Page | None = None
    failure: PageFailure | None = None
    location: Location | None = None


class PageStore:
    """Reads the file. Safe to use from several threads: each call opens it anew, which takes a fraction of a millisecond.

    Args:
        file: opened by each call.
        finished: False while the file is being written to.
    """

    def __init__(self, file: Path, *, finished: bool = True) -> None:
        self._file = file
        self._finished = finished

    def passages(self, ids: Iterable[str], admits: Admits = admit_all) -> dict[str, Passage]:
        """The passages of these ids that are on an admitted page; title, date and host are those of the first one by link.

        Args:
            ids: of passages of the corpus.
            admits: called with host and date of each page that holds the text.

        Raises:
            CorpusError: an id is not in the file, or the file is damaged.
        """
        wanted = list(dict.fromkeys(ids))
        rows: dict[str, list[PageRow]] = {}
        known: set[str] = set()
        with self._database() as database:
            for begin in range(0, len(wanted), VALUES_PER_STATEMENT):
                some = wanted[begin : begin + VALUES_PER_STATEMENT]
                statement = f"""
                    SELECT DISTINCT places.passage, link, title, date, {FOUND_BY}, passages.text, pages.digest
                    FROM places JOIN pages ON pages.id = places.page JOIN passages ON passages.id = places.passage
                    WHERE places.passage IN ({",".join("?" * len(some))}) ORDER BY places.passage, pages.link, pages.digest
                """
                for passage, *row, _ in database.execute(statement, some):
                    known.add(passage)
                    if admits(host_of(row[0]), row[2]):
                        rows.setdefault(passage, []).append(tuple(row))
        if len(known) < len(wanted):
            raise CorpusError(f"{self._file} lacks passages that an index beside it names. Copy or build the corpus again.")
        return {passage: join_pages(passage, rows[passage]) for passage in wanted if passage in rows}

    def search(self, query: str, count: int, *, or_fewer: bool = False) -> Search | None:
        """The first `count` results of that query, if it was searched with at least that count; None if it was not.

        Of several recorded searches the one with the smallest count is used, so that a later, longer one changes nothing. With
        `or_fewer`, where there is none, the longest of those with a smaller count is used.
        """
        statement = """
            SELECT id, count, provider, time FROM searches WHERE query = :query AND (count >= :count OR :or_fewer)
            ORDER BY count < :count, CASE WHEN count < :count THEN -count ELSE count END LIMIT 1
        """
        with self._database() as database:
            found = database.execute(statement, {"query": query, "count": count, "or_fewer": or_fewer}).fetchone()
            if found is None:
                return None
            number, asked, provider, time = found
            results = database.execute(
                "SELECT title, link, snippet, rank, provider, date FROM results WHERE search = ? ORDER BY rank LIMIT ?",
                (number, count),
            ).fetchall()
        names = ("title", "link", "snippet", "rank", "provider", "date")
        return Search(
            query=query,
            count=asked,
            provider=provider,
            time=time,
            results=tuple(SearchResult(**dict(zip(names, row, strict=True))) for row in results),
        )

    def search_providers(self) -> set[str]:
        """The providers that the recorded searches were answered by."""
        with self._database() as database:
            return {provider for (provider,) in database.execute("SELECT DISTINCT provider FROM searches")}

    def fetch(self, link: str) -> Fetch | None:
        """The result of fetching the address; None if it was never fetched."""
        return next(self.fetches(link), None)

    def fetches(self, link: str | None = None) -> Iterator[Fetch]:
        """The results of fetching all addresses, or the given one, ordered by link."""
        where, values = ("", ()) if link is None else ("WHERE fetches.link = ?", (link,))
        statement = f"""
            SELECT fetches.link, final_link, time, file, offset, length, reason, detail,
                pages.link, title, date, language, {FOUND_BY}, text
            FROM fetches LEFT JOIN pages ON pages.id = fetches.page {where} ORDER BY fetches.link
        """
        with self._database() as database:
            for address, final, time, file, offset, length, reason, detail, *page in database.execute(statement, values):
                yield Fetch(
                    link=address,
                    final_link=final,
                    time=time,
                    page=page_of_row(page) if reason is None else None,
                    failure=PageFailure(reason=reason, detail=detail) if reason is not None else None,
                    location=Location(file=file, offset=offset, length=length) if file is not None else None,
                )

    def links_of(self, addresses: Iterable[str]) -> tuple[list[str], list[str]]:
        """The links of pages and results that equal one of the addresses or are on one of the hosts; the addresses without any.

        What was withdrawn is none.
        """
        statement = """
            SELECT link FROM pages UNION SELECT link FROM results
            WHERE title || snippet != '' OR link NOT IN (SELECT link FROM fetches WHERE reason = :withdrawn) ORDER BY link
        """
        return self._links_among(statement, addresses)

    def not_withdrawn(self, addresses: Iterable[str]) -> list[str]:
        """The given addresses and hosts whose pages were not withdrawn."""
        return self._links_among("SELECT link FROM fetches WHERE reason = :withdrawn", addresses)[1]

    def last_location(self) -> Location | None:
        """The location in the archive of the last recorded answer; None if there is none."""
        statement = "SELECT file, offset, length FROM fetches WHERE file IS NOT NULL ORDER BY file DESC, offset DESC LIMIT 1"
        with self._database() as database:
            row = database.execute(statement).fetchone()
        return Location(file=row[0], offset=row[1], length=row[2]) if row is not None else None

    def page_at(self, link: str) -> Page | None:
        """A page with exactly that link; of several the first by content; None where there is none."""
        statement = """
            SELECT link, title, date, language, provider, text FROM pages WHERE link = ? AND NOT snippet ORDER BY digest LIMIT 1
        """
        with self._database() as database:
            row = database.execute(statement, (link,)).fetchone()
        return page_of_row(row) if row is not None else None

    def pages(self) -> Iterator[Page]:
        """All pages without snippets, ordered by link and content."""
        statement = f"""
            SELECT link, title, date, language, {FOUND_BY}, text FROM pages WHERE NOT snippet ORDER BY link, digest
        """
        with self._database() as database:
            for row in database.execute(statement):
                yield page_of_row(row)

    def counts(self) -> dict[str, int]:
        """How many pages, searches and failed addresses there are."""
        with self._database() as database:
            return {
                "pages": _count(database, "pages WHERE NOT snippet"),
                "searches": _count(database, "searches"),
                "failures": _count(database, "fetches WHERE page IS NULL"),
            }

    def count_unfetched(self) -> int:
        """How many addresses in search results were never fetched: a run was killed, or wanted snippets, or other hosts."""
        with self._database() as database:
            statement = "SELECT COUNT(DISTINCT link) FROM results WHERE link NOT IN (SELECT link FROM fetches)"
            (count,) = database.execute(statement).fetchone()
        return int(count)

    def failures(self) -> dict[str, int]:
        """Reason -> how many addresses failed for it."""
        statement = "SELECT reason, COUNT(*) FROM fetches WHERE reason IS NOT NULL GROUP BY reason ORDER BY reason"
        with self._database() as database:
            return dict(database.execute(statement).fetchall())

    def digest(self) -> str:
        """Hash of what decides which passages are found: pages, what searches found, which addresses gave which page.

        Independent of times and reasons, and of the order in which anything was added.
        """
        found = hashlib.sha256()
        with self._database() as database:
            pages = database.execute("SELECT digest, snippet FROM pages ORDER BY digest")
            while some := pages.fetchmany(ROWS_AT_ONCE):
                # As JSON, which of hexadecimal digits and a number is made a hundred times as fast like this.
                found.update("".join(f'["{digest}", {snippet}]' for digest, snippet in some).encode())
            statement = """
                SELECT query, count, searches.provider, rank, link, title, snippet, date, results.provider
                FROM searches LEFT JOIN results ON results.search = searches.id ORDER BY query, count, rank
            """
            for row in database.execute(statement):
                found.update(json.dumps(row).encode())
            # A page that was removed, and that no search found, is as if it had never been.
            statement = """
                SELECT fetches.link, digest FROM fetches LEFT JOIN pages ON pages.id = page
                WHERE reason IS NOT :withdrawn OR fetches.link IN (SELECT link FROM results) ORDER BY fetches.link
            """
            for row in database.execute(statement, {"withdrawn": Reason.WITHDRAWN}):
                found.update(json.dumps(row).encode())
        return found.hexdigest()

    def _links_among(self, statement: str, addresses: Iterable[str]) -> tuple[list[str], list[str]]:
        """The links that a statement finds and that are one of the addresses or on a host of them, and addresses of none."""
        wanted = dict.fromkeys(addresses)
        found: dict[str, None] = {}
        used: set[str] = set()
        with self._database() as database:
            for (link,) in database.execute(statement, {"withdrawn": Reason.WITHDRAWN}):
                meant = [address for address in (link, host_of(link)) if address in wanted]
                used.update(address for address in meant if address is not None)
                found |= dict.fromkeys([link] if meant else [])
        return list(found), [address for address in wanted if address not in used]

    def _database(self) -> AbstractContextManager[sqlite3.Connection]:
        return open_to_read(self._file, finished=self._finished)

    @contextmanager
    def reader(self) -> Iterator[PassageReader]:
        """The file opened once, for many short questions."""
        with self._database() as database:
            yield PassageReader(database)


def join_pages(passage: str, rows: Sequence[PageRow]) -> Passage:
    """One passage from the pages that hold its text, given as (link, title, date, provider, text)."""
    link, title, date, provider, text = rows[0]
    links = tuple(dict.fromkeys(row[0] for row in rows))
    return Passage(id=passage, text=text, title=title, links=links, host=host_of(link), date=date, provider=provider)


def _count(database: sqlite3.Connection, where: str) -> int:
    (count,) = database.execute(f"SELECT COUNT(*) FROM {where}").fetchone()
    return int(count)
