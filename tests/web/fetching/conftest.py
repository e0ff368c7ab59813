"""What the tests of fetching share: pages on loopback, sleeps that take no time, and fetchers that may ask one host of it."""

from collections.abc import AsyncIterator, Iterator

import pytest
from fetching_pages import ADMITTED, HOSTS, Naps
from loopback_pages import LoopbackPages, serving

from localfact.web.fetching.fetch import Fetcher


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackPages]:
    with serving(LoopbackPages(HOSTS)) as site:
        yield site


@pytest.fixture
def site(server: LoopbackPages) -> LoopbackPages:
    """The server with nothing asked of it yet."""
    server.asked.clear()
    server.tries.clear()
    server.robots.clear()
    server.pages.clear()
    return server


@pytest.fixture
def naps() -> Naps:
    return Naps()


@pytest.fixture
async def fetcher(naps: Naps) -> AsyncIterator[Fetcher]:
    made = Fetcher(host_delay=0, total_seconds=20, read_seconds=5, allow_hosts=[ADMITTED], sleep=naps.sleep, clock=naps)
    yield made
    await made.aclose()


@pytest.fixture
async def hasty(naps: Naps) -> AsyncIterator[Fetcher]:
    made = Fetcher(
        host_delay=0, total_seconds=1, read_seconds=0.4, allow_hosts=[ADMITTED], robots=False, sleep=naps.sleep, clock=naps
    )
    yield made
    await made.aclose()
