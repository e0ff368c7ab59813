"""The web of `web.py`: pages on a server of loopback, a process of its own, and a provider whose searches find them."""

import json
import runpy
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from localfact.evidence.web_collector import now
from localfact.web.searching.results import Search, SearchResult

TESTS = Path(__file__).parents[2] / "tests/support"
#: What a Fetcher must admit.
NETWORK = "127.0.0.0/8"
#: Pages of a host at least.
PAGES_PER_HOST = 5
RESULTS = 5
START_SECONDS = 60.0


class Listed:
    """A search provider that answers at once. A query is a number: it finds RESULTS pages from there on."""

    name = "listed"

    def __init__(self, links: Sequence[str]) -> None:
        self.queries = [str(begin) for begin in range(0, len(links), RESULTS)]
        self._links = links

    async def search(self, query: str, count: int) -> Search:
        """What the query finds."""
        links = self._links[int(query) :][: min(count, RESULTS)]
        results = tuple(
            SearchResult(title=f"Page {rank}", link=link, snippet=f"What {link} says.", rank=rank, provider=self.name)
            for rank, link in enumerate(links, start=1)
        )
        return Search(query=query, count=count, provider=self.name, time=now(), results=results)

    async def aclose(self) -> None:
        """Has nothing to close."""


def articles(count: int) -> list[str]:
    """HTML pages of some 40 kB, each another, as sites serve articles."""
    article = runpy.run_path(str(TESTS / "article_pages.py"))["article"]
    return [article(seed)[0] for seed in range(count)]


@contextmanager
def serving(pages: Sequence[str], hosts: int, latency: float, pages_per_host: int = PAGES_PER_HOST) -> Iterator[list[str]]:
    """Links to the pages, at hosts from 127.0.0.1 on in turn, each answered after `latency` seconds, until the block ends."""
    with tempfile.TemporaryDirectory(prefix="localfact-bench-") as folder:
        table, port = Path(folder) / "pages.json", Path(folder) / "port"
        table.write_text(json.dumps({f"/{number}": {"text": page} for number, page in enumerate(pages)}), encoding="utf-8")
        command = [sys.executable, str(TESTS / "loopback_pages.py"), "--port-file", str(port), "--pages", str(table)]
        server = subprocess.Popen([*command, "--hosts", str(hosts), "--delay", str(latency)])
        try:
            wait_for(port, server)
            at = port.read_text()
            places = [(turn, host) for turn in range(pages_per_host) for host in range(hosts)]
            yield [f"http://127.0.0.{host + 1}:{at}/{(turn * hosts + host) % len(pages)}?{turn}" for turn, host in places]
        finally:
            server.terminate()
            server.wait()


def wait_for(port: Path, server: "subprocess.Popen[bytes]") -> None:
    """Returns once the server listens.

    Raises:
        RuntimeError: it ended, or does not listen after START_SECONDS.
    """
    deadline = time.monotonic() + START_SECONDS
    while not port.exists():
        if server.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError("the server of pages does not start")
        time.sleep(0.02)
