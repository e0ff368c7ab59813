"""Searches the web and fetches what it finds into a corpus: each query and each address once, however many claims ask.

query -> recorded? -> search -> results -> each address: there? -> fetch -> archive -> extract -> page, or the reason
"""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from functools import partial
from typing import Any

from localfact.corpus.store import Fetch
from localfact.corpus.writer import CorpusWriter
from localfact.evidence.admission import EVERYTHING, Admission
from localfact.runtime.addresses import host_of
from localfact.runtime.tasks import together
from localfact.runtime.usage import count
from localfact.web.extracting.extractors import PageExtractors
from localfact.web.fetching.failures import TRANSIENT, PageError, PageFailure
from localfact.web.fetching.fetch import Fetcher
from localfact.web.fetching.fetched import Fetched, FetchError
from localfact.web.pages import WEB, Page
from localfact.web.searching.dates import iso_date
from localfact.web.searching.results import Search, SearchResult, address
from localfact.web.searching.search import SearchProvider

#: While more fetched bytes than this wait for extraction, no further pages are fetched.
MAX_WAITING_BYTES = 100_000_000


class WebCollector:
    """Adds to a corpus what queries find on the web.

    Args:
        writer: of the corpus.
        provider: searches.
        extractors: turn fetched bytes into text.
        fetcher: None where only snippets are wanted.
        results: how many results of a search are fetched.
        admission: addresses at hosts that it excludes are not fetched.
        retry_failed: fetches addresses again, once, that gave no page for a transient reason.
    """

    def __init__(
        self,
        writer: CorpusWriter,
        provider: SearchProvider,
        fetcher: Fetcher | None,
        extractors: PageExtractors,
        *,
        results: int = 5,
        admission: Admission = EVERYTHING,
        retry_failed: bool = False,
    ) -> None:
        self._writer = writer
        self._provider = provider
        self._fetcher = fetcher
        self._extractors = extractors
        self._results = results
        self._admission = admission
        self._under_way: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._retry_failed = retry_failed
        self._retried: set[str] = set()
        self._waiting_bytes = 0
        self._room = asyncio.Condition()

    async def collect(self, query: str) -> None:
        """Returns when the corpus has the query's results and, of each, the page or the reason why there is none.

        Raises:
            SearchError: no provider answered the query.
            LocalFactError: one that concerns every query (a missing key, a full disk).
        """
        await self._once("query", query, self._collect)

    async def fetch(self, link: str) -> None:
        """Returns when the corpus has the page at a normalised address, or the reason why there is none.

        Nothing is fetched where only snippets are wanted, or from a host that is left out.
        """
        if self._fetcher is not None and self._admission.admits_host(host_of(link)):
            await self._once("page", link, partial(self._fetch, self._fetcher))

    async def aclose(self) -> None:
        """Closes connections and worker processes. The corpus stays open: its owner finishes it."""
        for task in self._under_way.values():
            task.cancel()
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)
        await self._provider.aclose()
        if self._fetcher is not None:
            await self._fetcher.aclose()
        await asyncio.to_thread(self._extractors.close)

    async def _once(self, what: str, name: str, do: Callable[[str], Coroutine[Any, Any, None]]) -> None:
        """Calls `do`, or waits for another caller's call for the same name.

        Cancelling one waiting caller does not stop the others.
        """
        key = (what, name)
        task = self._under_way.get(key)
        if task is None:
            task = asyncio.create_task(do(name))
            self._under_way[key] = task
            task.add_done_callback(lambda done: self._forget(key, done))
        await asyncio.shield(task)

    def _forget(self, key: tuple[str, str], task: asyncio.Task[None]) -> None:
        self._under_way.pop(key, None)
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not log it where no caller waits any more

    async def _collect(self, query: str) -> None:
        search = await asyncio.to_thread(lambda: self._writer.store.search(query, self._results))
        if search is None:
            search = name_once(await self._provider.search(query, self._results))
            await asyncio.to_thread(self._writer.add_search, search)
            count("searches")
        fetcher = self._fetcher
        if fetcher is None:
            return
        links = [result.link for result in search.results if self._admission.admits_host(host_of(result.link))]
        await together(self._once("page", link, partial(self._fetch, fetcher)) for link in links[: self._results])

    async def _fetch(self, fetcher: Fetcher, link: str) -> None:
        store = self._writer.store
        known = await asyncio.to_thread(store.fetch, link)
        again = self._retry_failed and link not in self._retried
        if known is not None and not (again and known.failure is not None and known.failure.reason in TRANSIENT):
            return
        self._retried.add(link)
        there = await asyncio.to_thread(store.page_at, link)
        if there is not None:
            await asyncio.to_thread(self._writer.add_fetch, Fetch(link=link, final_link=link, time=now(), page=there))
            return
        try:
            fetched = await fetcher.fetch(link, ready=self._until_room)
        except FetchError as error:
            missed = Fetch(link=link, final_link=address(error.final_link), time=now(), failure=error.failure)
            await asyncio.to_thread(self._writer.add_fetch, missed, error.exchanges, error.answer)
            count("pages_failed")
            return
        size = len(fetched.body) + len(fetched.exchange.payload)
        self._waiting_bytes += size
        try:
            await self._keep(link, fetched)
        finally:
            self._waiting_bytes -= size
            async with self._room:
                self._room.notify_all()

    async def _until_room(self) -> None:
        async with self._room:
            await self._room.wait_for(lambda: self._waiting_bytes <= MAX_WAITING_BYTES)

    async def _keep(self, link: str, fetched: Fetched) -> None:
        """Extracts the text of what was fetched, and records both."""
        page, failure = await self._page(fetched)
        final = address(fetched.final_link)
        fetch = Fetch(link=link, final_link=final, time=now(), page=page, failure=failure)
        await asyncio.to_thread(self._writer.add_fetch, fetch, fetched.exchanges, fetched.exchange)
        count("pages" if page is not None else "pages_failed")

    async def _page(self, fetched: Fetched) -> tuple[Page | None, PageFailure | None]:
        exchange = fetched.exchange
        try:
            document = await self._extractors.extract(fetched.body, exchange.media_type, exchange.charset, fetched.final_link)
        except PageError as error:
            return None, error.failure
        # A page is recorded under the address that gave it, as rules about hosts are about who published it.
        return Page(link=address(fetched.final_link), provider=WEB, **document.model_dump()), None


def name_once(search: Search) -> Search:
    """The search with addresses normalised, each named once, and dates in ISO 8601."""
    results: dict[str, SearchResult] = {}
    for result in search.results:
        link = address(result.link)
        date = iso_date(result.date, search.time)
        results.setdefault(link, result.model_copy(update={"link": link, "rank": len(results) + 1, "date": date}))
    return search.model_copy(update={"results": tuple(results.values())})


def now() -> str:
    """The time, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")
