"""What tests of search providers share besides fixtures: results, time that jumps, and the failure of a search."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from loopback_search import Result

from localfact.web.searching.provider_chain import Timing
from localfact.web.searching.search import ProviderError, SearchProvider

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
RESULTS = [
    Result(
        "Marie <b>Curie</b>",
        "https://a.example/curie?x=1&y=%26z",
        "Born in <em>Warsaw</em> &amp; raised\u202e there.",
        "2020-01-02",
    ),
    Result("Warsaw", "http://b.example/a%20b", "A city."),
    Result("Bad", "javascript:alert(1)", "No page."),
    Result("Radium", "https://c.example/", "An element."),
]
JSON_PROVIDERS = ["searxng", "serper", "wikipedia", "brave"]


@dataclass
class Hurry:
    """Time that jumps instead of passing, and what was waited for."""

    seconds: float = 0.0
    slept: list[float] = field(default_factory=list)

    @property
    def timing(self) -> Timing:
        async def sleep(seconds: float) -> None:
            self.slept.append(seconds)
            self.seconds += seconds
            await asyncio.sleep(0)

        return Timing(lambda: self.seconds, lambda: NOON + timedelta(seconds=self.seconds), sleep, lambda: 0.5)


async def failure(provider: SearchProvider, query: str = "curie") -> ProviderError:
    try:
        with pytest.raises(ProviderError) as raised:
            await provider.search(query, 3)
    finally:
        await provider.aclose()
    return raised.value
