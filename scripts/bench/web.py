"""What pages of the web cost: fetched, brought into a corpus, extracted, archived."""

import asyncio
import gzip
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from rich.table import Table

from localfact.corpus.writer import CorpusWriter
from localfact.evidence.web_collector import WebCollector
from localfact.runtime.tasks import together
from localfact.web.archiving.archive import Archive
from localfact.web.extracting import extraction
from localfact.web.extracting.extractors import Extractors
from localfact.web.fetching.exchange import Exchange
from localfact.web.fetching.fetch import Fetcher
from scripts.bench import measure
from scripts.bench.loopback import NETWORK, PAGES_PER_HOST, RESULTS, Listed, articles, serving

#: Hosts of the server, its seconds an answer, and how many pages are fetched at once.
HOSTS, LATENCY, AT_ONCE = 200, 0.05, 64
#: Pages that differ; the server has each at several addresses.
ARTICLES = 100
#: Sizes at --size 1.
FETCHED = 1_000
COLLECTED = 250
EXTRACTED = 30
ARCHIVED = 100
WORKERS = (1, 2)
HTML = ("text/html", "utf-8", "https://site.example/article")


async def fetch_all(links: Sequence[str], *, robots: bool) -> None:
    """Each page by a new Fetcher, which knows no host yet."""
    fetcher = Fetcher(at_once=AT_ONCE, host_delay=0, robots=robots, allow_hosts=[NETWORK])
    try:
        await together(fetcher.fetch(link) for link in links)
    finally:
        await fetcher.aclose()


async def collect_all(links: Sequence[str], folder: Path) -> None:
    """All pages into a new corpus, by all their queries at once.

    Raises:
        RuntimeError: the corpus lacks some.
    """
    with CorpusWriter(folder, None) as writer, Extractors(len(os.sched_getaffinity(0))) as extractors:
        provider, fetcher = Listed(links), Fetcher(at_once=AT_ONCE, host_delay=0, allow_hosts=[NETWORK])
        collector = WebCollector(writer, provider, fetcher, extractors, results=RESULTS)
        try:
            await together(collector.collect(query) for query in provider.queries)
        finally:
            await collector.aclose()
        counts = writer.store.counts()
    if counts["pages"] != len(links) or counts["failures"]:
        raise RuntimeError(f"{len(links)} pages were to be collected, and the corpus has {counts}")


def measure_roads(links: Sequence[str], collected: int) -> tuple[str, Table]:
    """Pages fetched, with robots.txt or without, and pages through the whole collector, each once: they take seconds."""
    with tempfile.TemporaryDirectory(prefix="localfact-bench-") as folder:
        some = links[:collected]
        roads: Mapping[str, tuple[int, Callable[[], object]]] = {
            "Fetcher": (len(links), lambda: asyncio.run(fetch_all(links, robots=False))),
            "Fetcher, robots.txt": (len(links), lambda: asyncio.run(fetch_all(links, robots=True))),
            "the whole collector": (len(some), lambda: asyncio.run(collect_all(some, Path(folder) / "corpus"))),
        }
        table = measure.table_of("road", "pages", "pages/s", "ms of this process a page")
        for name, (pages, work) in roads.items():
            processor, started = time.process_time(), time.perf_counter()
            work()
            seconds = time.perf_counter() - started
            own = (time.process_time() - processor) / pages * 1e3
            table.add_row(name, f"{pages:,}", f"{pages / seconds:,.0f}", f"{own:.2f}")
    at_most = f"{AT_ONCE / LATENCY:,.0f}"
    return f"Pages of {HOSTS} hosts that take {LATENCY * 1e3:.0f} ms, {AT_ONCE} at once: at most {at_most} a second", table


def measure_extraction(pages: Sequence[bytes]) -> tuple[str, Table]:
    """Pages made text of: in this process, and by worker processes."""
    with ExitStack() as stack:
        paths = {"this process": measure.Path(lambda: [extraction.extract(page, *HTML) for page in pages], len(pages))}
        for workers in WORKERS:
            run = extract_by(stack.enter_context(Extractors(workers)), pages)
            paths[f"{workers} worker{'s' * (workers > 1)}"] = measure.Path(run, len(pages))
        measured = measure.rates(paths)
    kilobytes = sum(map(len, pages)) / len(pages) / 1e3
    return f"Pages extracted, {kilobytes:.0f} kB each; ratio to: this process", table_of_rates(measured)


def extract_by(extractors: Extractors, pages: Sequence[bytes]) -> Callable[[], object]:
    async def work() -> None:
        await together(extractors.extract(page, *HTML) for page in pages)

    return lambda: asyncio.run(work())


def measure_archive(pages: Sequence[bytes]) -> tuple[str, Table]:
    """Pages put into an archive and read from it, against zipping them alone."""
    exchanges = [exchange(number, page) for number, page in enumerate(pages)]
    with tempfile.TemporaryDirectory(prefix="localfact-bench-") as folder, ExitStack() as stack:
        tries = count()

        def append(sync: bool) -> None:
            with Archive(Path(folder) / f"appended-{next(tries)}", sync=sync) as archive:
                for each in exchanges:
                    archive.append(each)

        there = stack.enter_context(Archive(Path(folder) / "read", sync=False))
        places = [there.append(each) for each in exchanges]
        paths = {
            "gzip alone, level 9": lambda: [gzip.compress(page, 9) for page in pages],
            "append, the disk not waited for": lambda: append(False),
            "append": lambda: append(True),
            "read": lambda: [there.read(place) for place in places],
        }
        measured = measure.rates({name: measure.Path(work, len(pages)) for name, work in paths.items()})
    return "Pages archived and read back; ratio to: gzip alone", table_of_rates(measured)


def exchange(number: int, page: bytes) -> Exchange:
    """A request for a page, and the answer."""
    headers = (("Content-Type", "text/html; charset=utf-8"), ("Content-Length", str(len(page))))
    asked = (("Host", "site.example"), ("User-Agent", "bench"))
    return Exchange(f"https://site.example/{number}", datetime.now(UTC), 200, page, headers, "OK", request_headers=asked)


def table_of_rates(rates: Mapping[str, float]) -> Table:
    """Rates, and their ratios to the first."""
    table = measure.table_of("path", "pages/s", "ratio")
    first = next(iter(rates.values()))
    for name, rate in rates.items():
        table.add_row(name, f"{rate:,.1f}", f"{rate / first:.3f}")
    return table


def tables(size: float) -> Iterator[tuple[str, Table]]:
    pages = articles(ARTICLES)
    wanted = max(RESULTS, int(FETCHED * size))
    with serving(pages, HOSTS, LATENCY, max(PAGES_PER_HOST, -(-wanted // HOSTS))) as links:
        yield measure_roads(links[:wanted], max(RESULTS, int(COLLECTED * size)))
    encoded = [page.encode() for page in pages]
    yield measure_extraction(encoded[: max(2, int(EXTRACTED * size))])
    yield measure_archive(encoded[: max(2, int(ARCHIVED * size))])
