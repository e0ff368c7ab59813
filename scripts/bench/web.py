"""What making text of web pages costs, four fifths of the road from the web: in this process, and by worker processes."""

import asyncio
import runpy
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from rich.table import Table

from localfact.runtime.tasks import together
from localfact.web.extracting import extraction
from localfact.web.extracting.extractors import Extractors
from scripts.bench import measure

#: Pages at --size 1, and how many workers extract them.
PAGES = 30
WORKERS = (1, 2)
HTML = ("text/html", "utf-8", "https://site.example/article")


def articles(count: int) -> list[bytes]:
    """HTML pages of some 40 kB, each another, as sites serve articles."""
    article = runpy.run_path(str(Path(__file__).parents[2] / "tests/support/article_pages.py"))["article"]
    return [article(seed)[0].encode() for seed in range(count)]


def tables(size: float) -> Iterator[tuple[str, Table]]:
    """The title and its table."""
    pages = articles(max(2, int(PAGES * size)))
    with ExitStack() as stack:
        paths = {"this process": measure.Path(lambda: [extraction.extract(page, *HTML) for page in pages], len(pages))}
        for workers in WORKERS:
            run = extract_by(stack.enter_context(Extractors(workers)), pages)
            paths[f"{workers} worker{'s' * (workers > 1)}"] = measure.Path(run, len(pages))
        yield measure.measure_section(
            f"pages extracted, {sum(map(len, pages)) / len(pages) / 1e3:.0f} kB each", "this process", paths
        )


def extract_by(extractors: Extractors, pages: Sequence[bytes]) -> Callable[[], object]:
    async def work() -> None:
        await together(extractors.extract(page, *HTML) for page in pages)

    return lambda: asyncio.run(work())
