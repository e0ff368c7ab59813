"""A web of made-up islands on loopback, and responses about them: for tests that search, fetch and judge."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from loopback_pages import LoopbackPages, Reply, island
from loopback_pages import serving as serving_pages
from loopback_search import LoopbackSearch, Result
from loopback_search import serving as serving_search

#: Addresses on loopback that stand for as many hosts.
HOSTS = tuple(f"127.0.0.{number}" for number in range(2, 8))


@dataclass
class SmallWeb:
    """Pages at HOSTS, a search engine that finds them, and a file of responses about them."""

    site: LoopbackPages
    engine: LoopbackSearch
    data: Path

    @property
    def words(self) -> tuple[str, ...]:
        """What the command line must be told to use it."""
        allowed = [word for host in HOSTS for word in ("--allow-host", host)]
        return ("--provider", "searxng", "--searxng-url", self.engine.url, "--host-delay", "0", *allowed)


def results_of(site: LoopbackPages, query: str) -> list[Result]:
    """The articles about the islands that the query names, then two pages that everything finds, one of them missing."""
    named = [
        Result(island(host, 1), site.url("/article/1", host), f"{island(host, 1)} is an island. Snippet of {host}.")
        for host in HOSTS
        if island(host, 1) in query
    ]
    everywhere = [
        Result("Gone", site.url("/gone", HOSTS[0]), "Islands of Suderoy have sheep."),
        Result("Atlas", site.url("/atlas", HOSTS[1]), "An atlas of islands.", "2019-05-04"),
    ]
    return [*named, *everywhere]


def responses() -> list[dict[str, object]]:
    """One response an island: some of what it says is on its page, some is not."""
    rows = []
    for number, host in enumerate(HOSTS):
        name = island(host, 1)
        text = (
            f"{name} is an island of 4 square kilometres off the coast of Suderoy. It was settled in 1707 by families of "
            f"fishermen. {name} has 113 sheep. The lighthouse of {name} was first lit in {1767 + number}."
        )
        rows.append({"id": name.lower(), "topic": name, "response": text})
    return rows


@contextmanager
def small_web(folder: Path, *, delay: float = 0.0) -> Iterator[SmallWeb]:
    """Serves it until the block ends; responses.jsonl is written to `folder`."""
    data = folder / "responses.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in responses()))
    sentences = " ".join(f"{island(host, 1)} is on page {host[-1]} of the atlas." for host in HOSTS)
    atlas = Reply(f"<html><body><article><h1>Atlas</h1><p>{sentences}</p></article></body></html>".encode())
    with ExitStack() as stack:
        site = stack.enter_context(serving_pages(LoopbackPages(HOSTS, delay=delay, pages={"/atlas": atlas})))
        engine = stack.enter_context(serving_search(LoopbackSearch(lambda query: results_of(site, query))))
        yield SmallWeb(site, engine, data)
