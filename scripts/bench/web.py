"""What pages of the web cost: fetched, brought into a corpus, extracted, archived.

Beside each stands a bound, or the ratio that was reckoned before anything was measured.
"""

import asyncio
import gzip
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from rich.table import Table

from localfact.runtime.tasks import together
from localfact.web.archiving.archive import Archive
from localfact.web.extracting import extraction
from localfact.web.extracting.extractors import Extractors
from localfact.web.fetching.exchange import Exchange
from scripts.bench import collecting, fetching, measure
from scripts.bench.loopback import PAGES_PER_HOST, RESULTS, articles, serving

#: Pages that differ; the server has each at several addresses.
ARTICLES = 100
#: Sizes at --size 1.
FETCHED = 1_000
COLLECTED = 250
EXTRACTED = 30
ARCHIVED = 100
WORKERS = (1, 2)
HTML = ("text/html", "utf-8", "https://site.example/article")

#: A way of doing something: its rate, the name of the way it is compared with, the ratio that was reckoned.
Row = tuple[float, str, float | None]


def extracted(pages: Sequence[bytes]) -> tuple[str, Table]:
    """Pages made text of: in this process, and by worker processes."""
    plain = "extraction.extract, this process"
    reckoned = {plain: 1.0}
    with ExitStack() as stack:
        paths = {plain: measure.Path(lambda: [extraction.extract(page, *HTML) for page in pages], len(pages))}
        for workers in WORKERS:
            name = f"Extractors, {workers} worker{'s' * (workers > 1)}"
            paths[name] = measure.Path(by_workers(stack.enter_context(Extractors(workers)), pages), len(pages))
            # Handing a page over should take a fiftieth of what extracting it does.
            reckoned[name] = 0.98 * min(workers, len(os.sched_getaffinity(0)))
        measured = measure.rates(paths)
    kilobytes = sum(map(len, pages)) / len(pages) / 1e3
    title = f"Pages extracted, {kilobytes:.0f} kB each; ratio to: {plain}"
    return title, table_of_rates({name: (rate, plain, reckoned[name]) for name, rate in measured.items()})


def by_workers(extractors: Extractors, pages: Sequence[bytes]) -> Callable[[], object]:
    async def work() -> None:
        await together(extractors.extract(page, *HTML) for page in pages)

    return lambda: asyncio.run(work())


def archived(pages: Sequence[bytes]) -> tuple[str, Table]:
    """Pages put into an archive and read from it, against zipping them alone."""
    exchanges = [exchange(number, page) for number, page in enumerate(pages)]
    zipped = [gzip.compress(page, 9) for page in pages]
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
            "gunzip alone": lambda: [gzip.decompress(page) for page in zipped],
            "read": lambda: [there.read(place) for place in places],
        }
        measured = measure.rates({name: measure.Path(work, len(pages)) for name, work in paths.items()})
    # Zipping is nearly all of an append but for waiting for the disk. Reading opens the file, takes two records apart and
    # checks their digests, where unzipping 40 kB takes a tenth of a millisecond.
    reckoned = {"append, the disk not waited for": 0.75, "append": None, "read": 0.2}
    rows = {
        name: (rate, "gunzip alone" if name in ("gunzip alone", "read") else "gzip alone, level 9", reckoned.get(name, 1.0))
        for name, rate in measured.items()
    }
    return "Pages archived and read back; ratio to: zipping alone, and unzipping alone", table_of_rates(rows)


def exchange(number: int, page: bytes) -> Exchange:
    """A request for a page, and the answer."""
    headers = (("Content-Type", "text/html; charset=utf-8"), ("Content-Length", str(len(page))))
    asked = (("Host", "site.example"), ("User-Agent", "bench"))
    return Exchange(f"https://site.example/{number}", datetime.now(UTC), 200, page, headers, "OK", request_headers=asked)


def table_of_rates(rows: Mapping[str, Row]) -> Table:
    """Rates, and their ratios to those they are compared with, beside what was reckoned."""
    table = measure.table_of("path", "pages/s", "ratio", "reckoned")
    for name, (rate, plain, reckoned) in rows.items():
        expected = f"{reckoned:.2f}" if reckoned is not None else "as the disk is"
        table.add_row(name, f"{rate:,.1f}", f"{rate / rows[plain][0]:.3f}", expected)
    return table


def tables(size: float) -> Iterator[tuple[str, Table]]:
    pages = articles(ARTICLES)
    wanted = max(RESULTS, int(FETCHED * size))
    with serving(pages, fetching.HOSTS, fetching.LATENCY, max(PAGES_PER_HOST, -(-wanted // fetching.HOSTS))) as site:
        links = site.links[:wanted]
        costs = fetching.costs(site, links)
        title = f"{len(links):,} pages of {fetching.HOSTS} hosts fetched, {fetching.LATENCY * 1e3:.0f} ms an answer"
        yield title, fetching.table_of(costs)
        _, fetch = costs[fetching.AS_COLLECTED]
        yield collecting.collected_beside_steps(site, max(RESULTS, int(COLLECTED * size)), fetch)
    encoded = [page.encode() for page in pages]
    yield extracted(encoded[: max(2, int(EXTRACTED * size))])
    yield archived(encoded[: max(2, int(ARCHIVED * size))])
