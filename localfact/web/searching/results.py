"""What a search engine answers: results in order, and the search that found them."""

from typing import Annotated
from urllib.parse import urldefrag, urlsplit, urlunsplit

from pydantic import Field

from localfact.records import Record
from localfact.web.pages import Page


class SearchResult(Record):
    """One result of a search.

    Attributes:
        title, snippet: plain text, as the provider shows them. link: the address of the page.
        rank: from 1. provider: who found it ("duckduckgo", "searxng", "serper", "wikipedia", ...).
        date: of the page, as the provider states it, where it does.
    """

    title: str
    link: str
    snippet: str
    rank: Annotated[int, Field(ge=1)]
    provider: str
    date: str | None = None

    def as_page(self) -> Page:
        """The snippet in the place of the page: what is known of a page that nobody has fetched."""
        return Page(link=self.link, title=self.title, text=self.snippet, date=self.date, provider=self.provider)


class Search(Record):
    """One search that was answered; without results only if the provider said that there are none.

    Attributes:
        query: as asked for; a provider may send it with fewer signs. count: how many results were asked for.
        time: when, ISO 8601 in UTC.
    """

    query: str
    count: Annotated[int, Field(ge=1)]
    provider: str
    time: str
    results: tuple[SearchResult, ...] = ()


def address(link: str) -> str:
    """The link as it names one page, however it is written: without fragment, scheme and host in lower case.

    What cannot be taken apart is left as it is; whoever fetches it will say what is wrong.
    """
    plain, _ = urldefrag(link.strip())
    try:
        parts = urlsplit(plain)
    except ValueError:
        return plain
    host = parts.netloc.rpartition("@")
    return urlunsplit((parts.scheme.lower(), f"{host[0]}{host[1]}{host[2].lower()}", parts.path or "/", parts.query, ""))
