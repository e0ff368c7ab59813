"""The user's own SearXNG (https://docs.searxng.org): it asks other engines, and answers as JSON where its settings allow it."""

from functools import partial
from typing import ClassVar
from urllib.parse import urlsplit

from localfact.errors import InputError
from localfact.runtime.addresses import address_without_secrets
from localfact.web.searching.provider_chain import Limit, RateLimiter
from localfact.web.searching.provider_setup import ProviderSetup
from localfact.web.searching.providers.json_answers import JsonProvider, entries
from localfact.web.searching.search import FailureKind, Found, ProviderError, plain, web_link

NAME = "searxng"
LIMIT = Limit(at_once=4)
#: A page has some ten to thirty results, as many as its engines give.
MOST_PAGES = 5


class SearXNG(JsonProvider):
    """One SearXNG (GET /search, format=json), by the address of its start page; that may be on loopback or in an intranet.

    A search reads as many pages as its count needs, at most five. None of them may be without results while engines behind
    SearXNG failed.

    Raises:
        InputError: the address is none.
    """

    name = NAME
    forbidden: ClassVar = {
        401: "it wants a password, which localfact cannot send",
        403: "JSON is not enabled; add json to search.formats in its settings.yml",
        404: "there is no SearXNG at this address; check --searxng-url",
    }

    def __init__(self, address: str, limiter: RateLimiter) -> None:
        try:
            usable = urlsplit(address).scheme in ("http", "https") and bool(urlsplit(address).hostname)
        except ValueError:
            usable = False
        if not usable:
            raise InputError(
                f"{address_without_secrets(address)!r} is no address of a SearXNG: give one like http://127.0.0.1:8080."
            )
        super().__init__(limiter, f"{address.rstrip('/')}/search")

    async def _find(self, query: str, count: int) -> list[Found]:
        found: list[Found] = []
        links: set[str | None] = {None}
        for page in range(1, MOST_PAGES + 1):
            more = await self._limiter.request(partial(self._ask, query, page))
            fresh = [entry for entry in more if web_link(entry.link) not in links]
            found += more
            links |= {web_link(entry.link) for entry in fresh}
            if not fresh or len(links) > count:
                break
        return found

    async def _ask(self, query: str, page: int) -> list[Found]:
        value = (await self._get({"q": query, "format": "json", "pageno": page})).value
        found = entries(NAME, value.get("results"), title="title", link="url", snippet="content", date="publishedDate")
        unresponsive = value.get("unresponsive_engines")
        if not found and unresponsive and page == 1:
            raise ProviderError(NAME, FailureKind.UNAVAILABLE, f"no result, and engines failed: {_engines(unresponsive)}")
        return found


def _engines(unresponsive: object) -> str:
    """Which engines failed and why, from a list of pairs or names; the first five."""
    first = unresponsive[:5] if isinstance(unresponsive, list) else [unresponsive]
    named = [": ".join(map(str, entry)) if isinstance(entry, list) else str(entry) for entry in first]
    return ", ".join(plain(name, 80) for name in named)


def open_provider(setup: ProviderSetup) -> SearXNG:
    """The user's own SearXNG. Raises InputError where its address is not given."""
    address = setup.searxng_url or setup.addresses.get(NAME)
    if not address:
        raise InputError("searxng is asked at an address of your own: give it with --searxng-url, http://127.0.0.1:8080 say.")
    return SearXNG(address, setup.limiter(NAME, LIMIT))
