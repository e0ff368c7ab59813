"""An address of the web, a search that found it, and answers as they came."""

from datetime import UTC, datetime

from localfact.web.fetching.exchange import Exchange
from localfact.web.searching.results import Search, SearchResult

LINK = "https://bird.example/"
SEARCH = Search(
    query="puffins",
    count=5,
    provider="searxng",
    time="2026-01-01T00:00:00+00:00",
    results=(SearchResult(title="Bird", link="https://bird.example/", snippet="Puffins nest.", rank=1, provider="searxng"),),
)


def exchange(url: str) -> Exchange:
    """What was asked of that address and answered: the address itself."""
    return Exchange(url=url, time=datetime(2026, 1, 1, tzinfo=UTC), status=200, payload=url.encode())
