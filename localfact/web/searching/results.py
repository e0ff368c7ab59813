"""Search results, and the search that found them."""

from typing import Annotated
from urllib.parse import urldefrag, urlsplit, urlunsplit

from pydantic import Field

from localfact.records import Record
from localfact.runtime.addresses import address_without_secrets
from localfact.web.pages import Page


class SearchResult(Record):
    """One result of a search.

    Attributes:
        title, snippet: plain text, as the provider shows them.
        link: the address of the page.
        rank: from 1.
        provider: who found it ("duckduckgo", "searxng", "serper", "wikipedia", ...).
        date: of the page, as the provider states it, where it does.
    """

    title: str
    link: str
    snippet: str
    rank: Annotated[int, Field(ge=1)]
    provider: str
    date: str | None = None

    def as_page(self) -> Page:
        """The snippet as a page, for a page that was not fetched."""
        return Page(link=self.link, title=self.title, text=self.snippet, date=self.date, provider=self.provider)


class Search(Record):
    """One answered search; it has no results only if the provider said that there are none.

    Attributes:
        query: as asked for; what was sent may have fewer characters.
        count: how many results were asked for.
        time: of the answer, ISO 8601 in UTC.
    """

    query: str
    count: Annotated[int, Field(ge=1)]
    provider: str
    time: str
    results: tuple[SearchResult, ...] = ()


def address(link: str) -> str:
    """The link normalised: without secrets and without fragment, scheme and host in lower case.

    A link that cannot be parsed is returned unchanged; fetching it will give the error.
    """
    link = address_without_secrets(link)
    try:
        parts = urlsplit(urldefrag(link.strip()).url)
    except ValueError:
        return link
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), parts.path or "/", parts.query, ""))
