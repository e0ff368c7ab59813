import asyncio
from dataclasses import dataclass, field

import pytest
from fetching_pages import HOSTS
from loopback_pages import LoopbackPages, serving

from localfact.web.fetching import connections as module
from localfact.web.fetching.fetch import Fetcher

pytestmark = pytest.mark.slow


@dataclass
class Connected(LoopbackPages):
    """Notes the host of every connection, and of those that are open."""

    connected: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host = writer.get_extra_info("sockname")[0]
        self.connected.append(host)
        self.open.append(host)
        await super()._serve(reader, writer)
        self.open.remove(host)


async def test_a_connection_is_kept_for_the_next_page_and_of_too_many_the_one_used_longest_ago_goes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_IDLE", 2)
    one, two, three = HOSTS
    fetcher = Fetcher(host_delay=0, allow_hosts=["127.0.0.0/8"], robots=False)
    with serving(Connected(HOSTS)) as site:
        for host in (one, two, one, three, one, two):
            await fetcher.fetch(site.url("/article/1", host))
        assert site.connected == [one, two, three, two]
        async with asyncio.timeout(60):
            while len(site.open) > 2:
                await asyncio.sleep(0.01)
        assert sorted(site.open) == sorted([one, two])
        await fetcher.aclose()
