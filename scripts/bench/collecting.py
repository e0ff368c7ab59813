"""Pages through the whole collector into a new corpus, and each step of that by itself: what the parts explain of the whole."""

import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from rich.table import Table

from localfact.corpus.store import Fetch
from localfact.corpus.writer import CorpusWriter
from localfact.evidence.web_collector import WebCollector, now
from localfact.runtime.tasks import together
from localfact.web.archiving.archive import Archive
from localfact.web.extracting import extraction
from localfact.web.extracting.extraction import Document
from localfact.web.extracting.extractors import Extractors
from localfact.web.fetching.fetch import Fetcher
from localfact.web.fetching.fetched import Fetched
from localfact.web.pages import WEB, Page
from scripts.bench import measure
from scripts.bench.fetching import AT_ONCE, TRIES, Cost, best, timed
from scripts.bench.loopback import NETWORK, RESULTS, Listed, Site

#: How many pages are extracted one after the other for the cost of that step.
EXTRACTED = 40
#: What a page of 40 kB should cost, in ms of one core, as reckoned before anything was measured. Fetching: a request and its
#: answer through httpcore and h11. Archiving: gzip, two digests, two records. Recording: one transaction, two look-ups that
#: open the file, a fifth of a search. Handing over: 60 kB through pipes, JSON read back. Extracting: some passes over a tree.
RECKONED = {"fetch": 1.2, "archive": 2.0, "record": 0.8, "hand to a worker": 0.5, "extract": 25.0}
#: The step that is done in the worker processes; this process does all others.
BY_WORKERS = "extract"


async def collected(site: Site, links: Sequence[str], folder: Path, workers: int) -> Cost:
    """All pages into a new corpus, by all their queries at once.

    Raises:
        RuntimeError: the corpus lacks some.
    """
    with CorpusWriter(folder, None) as writer, Extractors(workers) as extractors:
        await started(extractors, workers)
        provider, fetcher = Listed(links), Fetcher(at_once=AT_ONCE[0], host_delay=0, allow_hosts=[NETWORK])
        collector = WebCollector(writer, provider, fetcher, extractors, results=RESULTS)
        try:
            cost = await timed(len(links), site, together(collector.collect(query) for query in provider.queries))
        finally:
            await collector.aclose()
        counts = writer.store.counts()
    if counts["pages"] != len(links) or counts["failures"]:
        raise RuntimeError(f"{len(links)} pages were to be collected, and the corpus has {counts}")
    return cost


async def started(extractors: Extractors, workers: int) -> None:
    """Has every worker load what it needs."""
    await together(extractors.extract(b"<p>A page.</p>", "text/html", None, "") for _ in range(4 * workers))


async def some(links: Sequence[str]) -> list[Fetched]:
    """The pages, with the robots.txt of their hosts."""
    fetcher = Fetcher(host_delay=0, allow_hosts=[NETWORK])
    try:
        return await together(fetcher.fetch(link) for link in links)
    finally:
        await fetcher.aclose()


def document_of(page: Fetched) -> Document:
    return extraction.extract(page.body, page.exchange.media_type, page.exchange.charset, page.final_link)


def alone(work: Callable[[], object], pages: int) -> Cost:
    """What it costs in this process, by itself."""
    processor, started = time.process_time(), time.perf_counter()
    work()
    seconds = time.perf_counter() - started
    return Cost(pages, seconds, time.process_time() - processor)


def archive_all(pages: Sequence[Fetched], folder: Path) -> None:
    """What archiving does in the collector."""
    with Archive(folder) as archive:
        for page in pages:
            for exchange in page.exchanges:
                archive.append(exchange)


def record_all(pages: Sequence[Fetched], documents: Sequence[Document], folder: Path) -> None:
    """What recording does in the collector: look-ups before, a row after each search and each fetch."""
    provider = Listed([page.link for page in pages])
    with CorpusWriter(folder, None) as writer:
        for query in provider.queries:
            if writer.store.search(query, RESULTS) is None:
                writer.add_search(provider.found(query, RESULTS))
        for fetch, document in zip(pages, documents, strict=True):
            if writer.store.fetch(fetch.link) is None and writer.store.page_at(fetch.link) is None:
                page = Page(link=fetch.link, provider=WEB, **document.model_dump())
                writer.add_fetch(Fetch(link=fetch.link, final_link=fetch.final_link, time=now(), page=page))


async def hand_all(site: Site, pages: Sequence[Fetched], workers: int) -> Cost:
    """What it costs this process to have pages extracted by others."""
    with Extractors(workers) as extractors:
        await started(extractors, workers)
        asked = [(page.body, page.exchange.media_type, page.exchange.charset, page.final_link) for page in pages]
        return await timed(len(pages), site, together(extractors.extract(*each) for each in asked))


def steps(site: Site, pages: Sequence[Fetched], folder: Path, workers: int) -> dict[str, Cost]:
    """What each step behind fetching costs by itself."""
    extraction.load_libraries()
    documents, turns, count = [document_of(page) for page in pages], range(TRIES), len(pages)
    few = pages[:EXTRACTED]
    return {
        "archive": best([alone(partial(archive_all, pages, folder / f"archive-{turn}"), count) for turn in turns]),
        "record": best([alone(partial(record_all, pages, documents, folder / f"record-{turn}"), count) for turn in turns]),
        "hand to a worker": asyncio.run(hand_all(site, few, workers)),
        BY_WORKERS: best([alone(lambda: [document_of(page) for page in few], len(few)) for _ in turns]),
    }


def collected_beside_steps(site: Site, count: int, fetch: Cost) -> tuple[str, Table]:
    """The table of steps beside the whole, and its title.

    Args:
        count: how many pages. fetch: what a page costs that is only fetched.
    """
    cores = len(os.sched_getaffinity(0))
    links = site.few(count)
    with tempfile.TemporaryDirectory(prefix="localfact-bench-") as name:
        folder = Path(name)
        own = {"fetch": fetch} | steps(site, asyncio.run(some(links)), folder, cores)
        whole = best([asyncio.run(collected(site, links, folder / f"corpus-{turn}", cores)) for turn in range(TRIES)])
    least = lower_bound({name: cost.milliseconds for name, cost in own.items()}, fetch.server / fetch.pages * 1e3, cores)
    title = (
        f"{len(links)} pages through the collector: {whole.rate:,.1f} a second; with {cores} cores always busy "
        f"{1e3 / least:,.1f}, ratio {whole.rate * least / 1e3:.3f}; fetched alone {fetch.rate:,.1f}"
    )
    return title, table_of_steps(own, whole, least)


def in_this_process(own: Mapping[str, float]) -> float:
    """The sum of all steps but the workers'."""
    return sum(cost for step, cost in own.items() if step != BY_WORKERS)


def lower_bound(own: Mapping[str, float], serving: float, cores: int) -> float:
    """The ms by the clock that a page takes at least, from the ms of a core of each step and of the server.

    A core does one thing at a time, and so does this process, whose threads take turns.
    """
    return max((sum(own.values()) + serving) / cores, in_this_process(own), own[BY_WORKERS] / cores)


def table_of_steps(own: Mapping[str, Cost], whole: Cost, least: float) -> Table:
    """Milliseconds a page: each step alone beside what was reckoned, the whole beside the sum of the steps."""
    caption = "ms of processor time a page, each step by itself; below, the collector beside what the steps add up to"
    table = measure.table_of("step", "expected", "measured", "ratio", caption=caption)

    def add(name: str, expected: float, measured: float) -> None:
        table.add_row(name, f"{expected:.2f}", f"{measured:.2f}", f"{measured / expected:.2f}")

    for step, cost in own.items():
        add(step, RECKONED[step], cost.milliseconds)
    table.add_section()
    here = in_this_process({step: cost.milliseconds for step, cost in own.items()})
    add(f"collector: this process, all but {BY_WORKERS}", here, whole.milliseconds)
    add("collector: by the clock, all cores always busy", least, 1e3 / whole.rate)
    return table
