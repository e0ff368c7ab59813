import asyncio
import gc
import subprocess
import sys
import warnings
from dataclasses import dataclass

import pytest
from fetching_pages import ADMITTED, Naps, failing
from loopback_pages import LoopbackPages, serving
from loopback_streams import GOOD, LONGEST

from localfact.web.fetching.failures import Reason
from localfact.web.fetching.fetch import Fetcher


@pytest.mark.parametrize("status", [429, 503])
async def test_a_retry_after_is_waited_for_and_then_asked_again(
    site: LoopbackPages, fetcher: Fetcher, naps: Naps, status: int
) -> None:
    fetched = await fetcher.fetch(site.url(f"/status/{status}?retry=7&times=2", ADMITTED))
    assert fetched.body == GOOD
    assert naps.taken == [7, 7]
    assert [exchange.status for exchange in fetched.exchanges] == [404, status, status, 200]


@pytest.mark.parametrize(
    ("path", "waits"),
    [("/status/429?retry=7", [7, 7]), ("/status/429?retry=3600", []), ("/status/503?retry=21", []), ("/status/429", [])],
)
async def test_a_host_that_keeps_refusing_or_asks_for_too_long_limits_the_rate(
    site: LoopbackPages, fetcher: Fetcher, naps: Naps, path: str, waits: list[float]
) -> None:
    error = await failing(fetcher, site.url(path, ADMITTED))
    assert error.failure.reason is Reason.RATE_LIMITED
    assert naps.taken == waits


async def test_a_servers_error_and_a_broken_connection_are_tried_once_more(
    site: LoopbackPages, fetcher: Fetcher, naps: Naps
) -> None:
    assert (await fetcher.fetch(site.url("/status/500?times=1", ADMITTED))).body == GOOD
    assert (await fetcher.fetch(site.url("/reset?times=1", ADMITTED))).body == GOOD
    error = await failing(fetcher, site.url("/status/502", ADMITTED))
    assert (error.failure.reason, error.failure.detail) == (Reason.HTTP_STATUS, "502")
    assert naps.taken == [1, 1, 1]


@dataclass
class Together(LoopbackPages):
    """Answers with no page before every host has been asked for one."""

    def __post_init__(self) -> None:
        self.everybody = asyncio.Barrier(len(self.hosts))

    async def _answer(self, request: bytes, writer: asyncio.StreamWriter) -> bool:
        if not request.startswith(b"GET /robots.txt "):
            await self.everybody.wait()
        return await super()._answer(request, writer)


async def test_many_hosts_are_asked_at_once() -> None:
    hosts = [f"127.0.0.{number}" for number in range(10, 40)]
    with serving(Together(hosts)) as site:
        fetcher = Fetcher(allow_hosts=["127.0.0.0/8"], at_once=len(hosts))
        fetched = await asyncio.gather(*(fetcher.fetch(site.url("/article/1", host)) for host in hosts))
        assert len({page.body for page in fetched}) == len(hosts)
        await fetcher.aclose()


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/silent", "/slow-drip", "/never-ending", "/status/429?retry=15"])
async def test_a_fetch_that_is_cancelled_leaves_nothing_behind(site: LoopbackPages, path: str) -> None:
    fetcher = Fetcher(allow_hosts=[ADMITTED], total_seconds=LONGEST, read_seconds=LONGEST, max_bytes=10**9)
    before = asyncio.all_tasks()
    waiting = asyncio.create_task(fetcher.fetch(site.url(path, ADMITTED)))
    while not site.paths():
        await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        await fetcher.aclose()
        gc.collect()
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == before


FETCH_ALL = """
import asyncio, resource, sys
from localfact.web.fetching.fetch import Fetcher
from localfact.web.fetching.fetched import FetchError

async def main(links):
    fetcher = Fetcher(host_delay=0, total_seconds=2, read_seconds=1, allow_hosts=["127.0.0.2"])
    await fetcher.fetch(links[0])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for link in links[1:]:
        try:
            await fetcher.fetch(link)
        except FetchError:
            pass
    await fetcher.aclose()
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)

asyncio.run(main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_no_bad_page_takes_two_hundred_megabytes(site: LoopbackPages) -> None:
    paths = ["/article/1", "/never-ending", "/large", "/large?stated=no", "/gzip-bomb", "/gzip-bomb?coding=deflate"]
    paths += ["/gzip-members", "/tiny-chunks", "/header-bomb", "/slow-drip", "/large?bytes=10000000"]
    command = [sys.executable, "-c", FETCH_ALL, *(site.url(path, ADMITTED) for path in paths)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""
    assert int(ended.stdout) < 200
