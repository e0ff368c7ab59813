"""The engines on loopback that the tests of providers ask, and time that jumps."""

from collections.abc import Callable, Iterator

import pytest
from loopback_search import KEY, LoopbackSearch, serving
from provider_tests import RESULTS, Hurry

from localfact.web.searching.provider_chain import Limit, RateLimiter
from localfact.web.searching.providers.brave import Brave
from localfact.web.searching.providers.duckduckgo import DuckDuckGo
from localfact.web.searching.providers.searxng import SearXNG
from localfact.web.searching.providers.serper import Serper
from localfact.web.searching.providers.wikipedia import Wikipedia
from localfact.web.searching.search import SearchProvider


@pytest.fixture
def engines() -> Iterator[LoopbackSearch]:
    with serving(LoopbackSearch({"curie": RESULTS, "none": []})) as running:
        yield running


@pytest.fixture
def hurry() -> Hurry:
    return Hurry()


@pytest.fixture
def opened(engines: LoopbackSearch, hurry: Hurry) -> Callable[[str], SearchProvider]:
    """Opens one provider by name, without its interval and with its time jumping."""
    limiter = RateLimiter("tested", Limit(at_once=4), hurry.timing)
    openers: dict[str, Callable[[], SearchProvider]] = {
        "searxng": lambda: SearXNG(engines.url + "/", limiter),
        "serper": lambda: Serper(KEY, limiter, address=engines.url),
        "wikipedia": lambda: Wikipedia(limiter, address=engines.url),
        "brave": lambda: Brave(KEY, limiter, address=engines.url),
        "duckduckgo": lambda: DuckDuckGo(limiter, address=engines.url + "/html/", time_limit=1),
    }
    return lambda name: openers[name]()
