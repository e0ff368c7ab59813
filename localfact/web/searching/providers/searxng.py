"""The user's own SearXNG (https://docs.searxng.org): it asks other engines, and answers as JSON where its settings allow it."""

from urllib.parse import urlsplit

from localfact.errors import InputError
from localfact.web.searching.provider_chain import Limit, RateLimiter
from localfact.web.searching.provider_setup import ProviderSetup
from localfact.web.searching.providers.json_answers import JsonClient, entries
from localfact.web.searching.results import Search
from localfact.web.searching.search import FailureKind, Found, ProviderError, plain, query_of, search_of, web_link

NAME = "searxng"
LIMIT = Limit(at_once=4)
#: A page has some ten to thirty results, as many as its engines give.
MOST_PAGES = 5

_FORBIDDEN = {
    401: "it wants a password, which localfact cannot send",
    403: "JSON is not enabled; add json to search.formats in its settings.yml",
    404: "there is no SearXNG at this address; check --searxng-url",
}


class SearXNG:
    """One SearXNG (GET /search, format=json), by the address of its start page; that may be on loopback or in an intranet.

    Raises:
        InputError: the address is none.
    """

    name = NAME

    def __init__(self, address: str, limiter: RateLimiter) -> None:
        try:
            usable = urlsplit(address).scheme in ("http", "https") and bool(urlsplit(address).hostname)
        except ValueError:
            usable = False
        if not usable:
            raise InputError(f"{address!r} is no address of a SearXNG: give one like http://127.0.0.1:8080.")
        self._limiter = limiter
        self._url = f"{address.rstrip('/')}/search"
        self._client = JsonClient(NAME)

    async def search(self, query: str, count: int) -> Search:
        """Returns the results of as many pages as `count` needs, at most five.

        Raises:
            ProviderError: it was not answered, or there are no results while engines behind it failed.
        """
        sent = query_of(NAME, query)
        found: list[Found] = []
        links: set[str | None] = {None}
        for page in range(1, MOST_PAGES + 1):
            more = await self._page(sent, page)
            fresh = [entry for entry in more if web_link(entry.link) not in links]
            found += more
            links |= {web_link(entry.link) for entry in fresh}
            if not fresh or len(links) > count:
                break
        return search_of(NAME, query, count, found, self._limiter.timing.now())

    async def _page(self, query: str, page: int) -> list[Found]:
        return await self._limiter.request(lambda: self._ask(query, page))

    async def _ask(self, query: str, page: int) -> list[Found]:
        params: dict[str, str | int] = {"q": query, "format": "json", "pageno": page}
        now = self._limiter.timing.now()
        value = (await self._client.ask("GET", self._url, params=params, forbidden=_FORBIDDEN, now=now)).value
        found = entries(NAME, value.get("results"), title="title", link="url", snippet="content", date="publishedDate")
        unresponsive = value.get("unresponsive_engines")
        if not found and unresponsive and page == 1:
            raise ProviderError(NAME, FailureKind.UNAVAILABLE, f"no result, and engines failed: {_engines(unresponsive)}")
        return found

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.aclose()


def _engines(unresponsive: object) -> str:
    """Which engines failed and why, from a list of pairs or names; the first five."""
    first = unresponsive[:5] if isinstance(unresponsive, list) else [unresponsive]
    named = [": ".join(map(str, entry)) if isinstance(entry, list) else str(entry) for entry in first]
    return ", ".join(plain(name, 80) for name in named)


def open_provider(setup: ProviderSetup) -> SearXNG:
    """The user's own SearXNG.

    Raises:
        InputError: its address is not given.
    """
    address = setup.searxng_url or setup.addresses.get(NAME)
    if not address:
        raise InputError("searxng is asked at an address of your own: give it with --searxng-url, http://127.0.0.1:8080 say.")
    return SearXNG(address, setup.limiter(NAME, LIMIT))
