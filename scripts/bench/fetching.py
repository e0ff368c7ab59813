"""Fetching pages from a server on loopback that takes 50 ms for an answer, beside what the latency and one core let through."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from rich.table import Table

from localfact.runtime.tasks import together
from localfact.web.fetching.fetch import Fetcher
from scripts.bench import measure
from scripts.bench.loopback import NETWORK, Site

HOSTS = 200
LATENCY = 0.05
AT_ONCE = (64, 200)
#: How many requests a fetcher has at one host at once.
PER_HOST = 2
TRIES = 2
#: The way that the collector goes.
AS_COLLECTED = f"Fetcher, robots.txt, {AT_ONCE[0]} at once"


@dataclass(frozen=True)
class Cost:
    """What the handling of pages took, in seconds: by the clock, of this process's time, and of the server's."""

    pages: int
    seconds: float
    processor: float
    server: float = 0.0

    @property
    def rate(self) -> float:
        """Pages per second by the clock."""
        return self.pages / self.seconds

    @property
    def milliseconds(self) -> float:
        """Of this process's time, a page."""
        return self.processor / self.pages * 1e3


def best(tries: Sequence[Cost]) -> Cost:
    """The one that was done first."""
    return min(tries, key=lambda cost: cost.seconds)


def bound(at_once: int, hosts: int = HOSTS) -> float:
    """Pages per second that the latency lets through."""
    return min(at_once, PER_HOST * hosts) / LATENCY


async def timed(pages: int, site: Site, work: Coroutine[Any, Any, object]) -> Cost:
    server, processor, started = site.processor(), time.process_time(), time.perf_counter()
    await work
    seconds = time.perf_counter() - started
    return Cost(pages, seconds, time.process_time() - processor, site.processor() - server)


async def fetched(site: Site, links: Sequence[str], at_once: int, *, robots: bool) -> Cost:
    """Each page by a new Fetcher, which knows no host yet."""
    fetcher = Fetcher(at_once=at_once, per_host=PER_HOST, host_delay=0, robots=robots, allow_hosts=[NETWORK])
    try:
        return await timed(len(links), site, together(fetcher.fetch(link) for link in links))
    finally:
        await fetcher.aclose()


async def by_httpx(site: Site, links: Sequence[str], at_once: int) -> Cost:
    """Each page by httpx's client, without any check, robots.txt or record of what was exchanged."""
    import httpx

    limits = httpx.Limits(max_connections=at_once, max_keepalive_connections=at_once)
    async with httpx.AsyncClient(limits=limits, timeout=30, trust_env=False) as client:
        room = asyncio.Semaphore(at_once)

        async def get(link: str) -> None:
            async with room:
                (await client.get(link)).raise_for_status()

        return await timed(len(links), site, together(get(link) for link in links))


async def by_sockets(site: Site, links: Sequence[str], at_once: int) -> Cost:
    """Each page over a connection of its own, its bytes read and left: what the server and the event loop can do."""
    room = asyncio.Semaphore(at_once)

    async def get(link: str) -> None:
        host, _, path = link.removeprefix("http://").partition("/")
        async with room:
            reader, writer = await asyncio.open_connection(*host.split(":"))
            writer.write(f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
            if not (await reader.read()).startswith(b"HTTP/1.1 200 "):
                raise RuntimeError(f"no page at {link}")
            writer.close()

    return await timed(len(links), site, together(get(link) for link in links))


def costs(site: Site, links: Sequence[str]) -> dict[str, tuple[int, Cost]]:
    """Way -> how many at once, and what it cost."""
    first = AT_ONCE[0]
    ways: dict[str, tuple[int, Callable[[], Coroutine[Any, Any, Cost]]]] = {
        f"for comparison: sockets, nothing parsed, {first} at once": (first, partial(by_sockets, site, links, first)),
        f"for comparison: httpx.AsyncClient, {first} at once": (first, partial(by_httpx, site, links, first)),
    }
    for at_once in AT_ONCE:
        for robots in (False, True):
            name = f"Fetcher, {'robots.txt, ' * robots}{at_once} at once"
            ways[name] = (at_once, partial(fetched, site, links, at_once, robots=robots))
    tries: dict[str, list[Cost]] = {name: [] for name in ways}
    for _ in range(TRIES):
        for name, (_, work) in ways.items():
            tries[name].append(asyncio.run(work()))
    return {name: (at_once, best(tries[name])) for name, (at_once, _) in ways.items()}


def table_of(costs: dict[str, tuple[int, Cost]]) -> Table:
    """Rates beside both bounds: what the latency lets through, and what one core does at that cost a page."""
    caption = "bound: at once / latency; one core: 1 / ms of this process a page; ms: of processor time, a page"
    columns = ("pages/s", "bound", "ratio", "one core", "ratio to the lower", "ms of this process", "ms of the server")
    table = measure.table_of("path", *columns, caption=caption)
    for name, (at_once, cost) in costs.items():
        allowed, able = bound(at_once), 1e3 / cost.milliseconds
        figures = (cost.rate, allowed, able)
        rate, limit, core = (f"{figure:,.0f}" for figure in figures)
        lower, served = cost.rate / min(allowed, able), cost.server / cost.pages * 1e3
        ratio = f"{cost.rate / allowed:.3f}"
        table.add_row(name, rate, limit, ratio, core, f"{lower:.3f}", f"{cost.milliseconds:.2f}", f"{served:.2f}")
    return table
