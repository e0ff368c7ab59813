"""What all search providers share: the protocol, the failures, the query that is sent, the results that are stored.

A claim becomes a query, a provider answers it with results, and the pages behind their links become evidence. Only an answer
that says itself that there are no results counts as one without any; everything else without results is a `ProviderError`.
"""

import html
import re
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from itertools import islice
from typing import NamedTuple, Protocol
from urllib.parse import urldefrag, urlsplit

from localfact.errors import SearchError
from localfact.runtime.addresses import address_without_secrets
from localfact.text import readable
from localfact.web.invisible import JOINERS, remove_invisible
from localfact.web.searching.operators import without_conjunctions, without_fields
from localfact.web.searching.results import Search, SearchResult

#: DuckDuckGo refuses a query from 500 characters on, Brave from 401.
LONGEST_QUERY = 400
LONGEST_LINK = 4_000
LONGEST_TITLE = 500
LONGEST_SNIPPET = 5_000
LONGEST_DATE = 100

# SearXNG takes a token that begins with "!", ":" or "<" as an operator wherever it stands; "-word" and "+word" are operators to
# most engines, and DuckDuckGo follows "!bang" and "\word" to another site.
_ORDERING = re.compile(r"(?<!\S)[!！:：<?\\~^+-]+")
_LETTER = re.compile(r"[^\W_]")

_TAG = re.compile(r"<[A-Za-z/!?][^<>]*>")


class FailureKind(StrEnum):
    """Why a provider gave no answer, as far as it decides what to do next."""

    #: It asks for fewer requests. Another try may help.
    RATE_LIMITED = "rate limited"
    #: A connection, a time limit, an error on its side. Another try may help.
    UNAVAILABLE = "unavailable"
    #: Its answer cannot be read. Another try may help.
    MALFORMED = "malformed answer"
    #: It refuses this query. Another try does not help.
    REFUSED = "refused"
    #: It refuses every query as it is set up (a key, a setting). It is not asked again.
    FORBIDDEN = "forbidden"
    #: It was not asked, as it failed too often before (circuit breaker).
    LEFT_ASIDE = "left aside"


class ProviderError(SearchError):
    """One provider did not answer one query.

    Attributes:
        provider: its name.
        kind: decides what to do next.
        detail: for the user; never holds a key.
        retry_after: seconds after which the provider wants to be asked again; None where it does not say.
    """

    def __init__(self, provider: str, kind: FailureKind, detail: str, *, retry_after: float | None = None) -> None:
        super().__init__(f"{provider}: {kind}: {detail}")
        self.provider = provider
        self.kind = kind
        self.detail = detail
        self.retry_after = retry_after


class SearchProvider(Protocol):
    """A search engine. It belongs to one event loop."""

    @property
    def name(self) -> str:
        """Its name in results and messages."""
        ...

    async def search(self, query: str, count: int) -> Search:
        """Returns up to `count` (from 1) results; none only if the provider itself said that there are none.

        The returned record has the query as it is given here, so that it can be looked up; what is sent is `sendable(query)`.

        Raises:
            SearchError: this query was not answered; the same command asks again.
            MissingError: no query can be answered as the provider is set up.
        """
        ...

    async def aclose(self) -> None:
        """Closes its connections."""
        ...


class Found(NamedTuple):
    """One result as a provider's answer has it, not cleaned: HTML, missing texts."""

    title: object
    link: object
    snippet: object = None
    date: object = None


def sendable(claim: str) -> str:
    """The claim as a query: one line, at most LONGEST_QUERY characters, cut between words, without search operators.

    Words and quotation marks stay. Removed are signs that make a word an operator (a leading "!", ":", "<", "-", ...), colons
    outside times ("site:") and invisible characters; "OR" is put in lower case. Applying it twice changes nothing.
    """
    text = without_fields(plain(claim, markup=False).replace("|", " "))
    text = " ".join(_ORDERING.sub("", text).split())
    text = without_conjunctions(text)
    if len(text) > LONGEST_QUERY:
        text = text[: LONGEST_QUERY + 1].rpartition(" ")[0] or text[:LONGEST_QUERY]
    return text.strip(f" {JOINERS}")


def query_of(provider: str, claim: str) -> str:
    """The query to send. Raises ProviderError (refused) where no letter or digit is left in it."""
    query = sendable(claim)
    if not _LETTER.search(query):
        raise ProviderError(provider, FailureKind.REFUSED, "the query has no word in it")
    return query


def plain(value: object, longest: int = LONGEST_SNIPPET, *, markup: bool = True) -> str:
    """One line of text without tags and entities (`markup`), and without controls, surrogates and invisible characters.

    "" for a value that is no text.
    """
    if not isinstance(value, str):
        return ""
    text = (_TAG.sub("", value) if markup else value)[: 4 * longest]
    if markup:
        text = html.unescape(text)
    text = remove_invisible(readable(" ".join(text.split())).replace("\N{REPLACEMENT CHARACTER}", ""))
    return " ".join(text.split())[:longest].rstrip()


def web_link(value: object) -> str | None:
    """The link without its fragment and secret parameters; None for all but http and https addresses without credentials."""
    if not isinstance(value, str) or len(value) > LONGEST_LINK:
        return None
    link = value.strip()
    if plain(link, LONGEST_LINK, markup=False) != link or " " in link:
        return None
    try:
        parts = urlsplit(link)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
        return urldefrag(address_without_secrets(link)).url if usable and parts.port != 0 else None
    except ValueError:
        return None


def search_of(provider: str, query: str, count: int, found: Iterable[Found], time: datetime) -> Search:
    """The record of an answered search: each link once, the first `count` of them, ranked from 1.

    Args:
        query: as asked for, before `sendable`.
        found: the results, best first; empty only if the provider said that there are none.
        time: of the answer, UTC.

    Raises:
        ProviderError: malformed: there are results, but none with a web address.
    """
    entries = list(found)
    linked: dict[str, Found] = {}
    for entry in entries:
        if link := web_link(entry.link):
            linked.setdefault(link, entry)
    if entries and not linked:
        raise ProviderError(provider, FailureKind.MALFORMED, f"none of its {len(entries)} results has a web address")
    results = tuple(
        SearchResult(
            title=plain(entry.title, LONGEST_TITLE),
            link=link,
            snippet=plain(entry.snippet),
            rank=rank,
            provider=provider,
            date=plain(entry.date, LONGEST_DATE) or None,
        )
        for rank, (link, entry) in enumerate(islice(linked.items(), count), start=1)
    )
    return Search(query=query, count=count, provider=provider, time=time.isoformat(timespec="seconds"), results=results)
