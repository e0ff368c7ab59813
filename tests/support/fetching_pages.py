"""What tests of fetching share besides fixtures: the hosts, sleeps that take no time, and the error of a fetch."""

import pytest

from localfact.web.fetching.fetch import Fetcher
from localfact.web.fetching.fetched import FetchError

HOSTS = ["127.0.0.1", "127.0.0.2", "127.0.0.3"]
#: Of loopback, the tests admit this host alone.
ADMITTED = "127.0.0.2"


class Naps:
    """Sleeps that take no time and are noted."""

    def __init__(self) -> None:
        self.taken: list[float] = []
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.taken.append(round(seconds, 3))
        self.now += seconds


async def failing(fetcher: Fetcher, link: str) -> FetchError:
    with pytest.raises(FetchError) as caught:
        await fetcher.fetch(link)
    return caught.value
