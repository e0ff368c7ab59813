"""What `make bench` says of the web: every page that it counts was really had, and its bounds are those of its settings."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from localfact.corpus.writer import CorpusWriter
from localfact.web.archiving.warc_reading import read_warc
from localfact.web.fetching.exchange import Exchange
from localfact.web.fetching.fetched import FetchError
from scripts.bench import collecting, fetching, web
from scripts.bench.fetching import Cost
from scripts.bench.loopback import PAGES_PER_HOST, Listed, Site, articles, serving

HOSTS = 3


def missing(link: str) -> str:
    """An address of the same host without a page."""
    return f"{link.rpartition('/')[0]}/missing"


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with serving(articles(4), HOSTS, 0.001) as running:
        yield running


def test_hosts_take_turns_and_every_address_is_another(site: Site) -> None:
    assert len(set(site.links)) == len(site.links) == HOSTS * PAGES_PER_HOST
    hosts = [link.split(":")[1] for link in site.links]
    assert hosts[:HOSTS] == hosts[HOSTS : 2 * HOSTS] == [f"//127.0.0.{number}" for number in range(1, HOSTS + 1)]


def test_few_pages_are_all_pages_of_few_hosts(site: Site) -> None:
    few = site.few(2 * PAGES_PER_HOST)
    assert len(set(few)) == 2 * PAGES_PER_HOST
    assert {link.split(":")[1] for link in few} == {"//127.0.0.1", "//127.0.0.2"}
    assert set(site.few(10_000)) == set(site.links)


@pytest.mark.parametrize("robots", [False, True])
def test_pages_that_are_fetched_are_counted(site: Site, robots: bool) -> None:
    cost = asyncio.run(fetching.fetched(site, site.links, 4, robots=robots))
    assert cost.pages == len(site.links)
    assert cost.rate == cost.pages / cost.seconds
    assert cost.processor > 0


def test_a_page_that_is_missing_ends_the_measurement_instead_of_making_it_faster(site: Site) -> None:
    links = [*site.links[:2], missing(site.links[0])]
    with pytest.raises(FetchError):
        asyncio.run(fetching.fetched(site, links, 4, robots=False))
    with pytest.raises(Exception, match="404"):
        asyncio.run(fetching.by_httpx(site, links, 4))
    with pytest.raises(RuntimeError, match="no page"):
        asyncio.run(fetching.by_sockets(site, links, 4))


def test_the_bound_is_concurrency_by_latency_as_far_as_there_are_hosts() -> None:
    assert fetching.bound(64) == 1_280
    assert fetching.bound(200) == 4_000
    assert fetching.bound(64, hosts=10) == 10 * fetching.PER_HOST / fetching.LATENCY


def test_the_queries_find_every_page_once() -> None:
    links = [f"http://host.example/{number}" for number in range(12)]
    listed = Listed(links)
    found = [result.link for query in listed.queries for result in listed.found(query, 5).results]
    assert found == links
    assert asyncio.run(listed.search(listed.queries[0], 2)).results == listed.found(listed.queries[0], 2).results


@pytest.mark.slow
def test_the_collector_is_measured_over_a_corpus_that_has_all_pages(site: Site, tmp_path: Path) -> None:
    links = site.few(PAGES_PER_HOST)
    cost = asyncio.run(collecting.collected(site, links, tmp_path / "whole", 1))
    assert cost.pages == len(links)
    with CorpusWriter(tmp_path / "whole", None) as writer:
        assert {page.link for page in writer.store.pages()} == set(links)
        archived = [entry for file in writer.archive.folder.iterdir() for entry in read_warc(file)]
        assert sum(isinstance(entry, Exchange) for entry in archived) == len(links)
    with pytest.raises(RuntimeError, match="pages were to be collected"):
        asyncio.run(collecting.collected(site, [*links, missing(links[0])], tmp_path / "less", 1))


@pytest.mark.slow
def test_the_steps_alone_leave_what_the_collector_leaves(site: Site, tmp_path: Path) -> None:
    links = site.few(PAGES_PER_HOST)
    asyncio.run(collecting.collected(site, links, tmp_path / "whole", 1))
    pages = asyncio.run(collecting.some(links))
    collecting.record_all(pages, [collecting.document_of(page) for page in pages], tmp_path / "steps")
    with CorpusWriter(tmp_path / "whole", None) as whole, CorpusWriter(tmp_path / "steps", None) as steps:
        by_collector, by_steps = ({page.link: page.text for page in writer.store.pages()} for writer in (whole, steps))
        assert by_collector == by_steps
        assert whole.store.counts() == steps.store.counts()


@pytest.mark.parametrize(
    ("own", "serving", "cores", "least"),
    [
        ({"fetch": 1.0, "archive": 2.0, "extract": 20.0}, 1.0, 2, 12.0),  # the cores
        ({"fetch": 9.0, "archive": 2.0, "extract": 4.0}, 0.0, 8, 11.0),  # one process
        ({"fetch": 0.0, "archive": 0.0, "extract": 30.0}, 0.0, 2, 15.0),  # the workers
    ],
)
def test_the_slowest_resource_bounds_the_collector(own: dict[str, float], serving: float, cores: int, least: float) -> None:
    assert collecting.lower_bound(own, serving, cores) == least


def test_rates_stand_beside_their_own_yardstick() -> None:
    table = web.table_of_rates({"plain": (50.0, "plain", 1.0), "ours": (25.0, "plain", None)})
    assert [list(column.cells) for column in table.columns][1:] == [
        ["50.0", "25.0"],
        ["1.000", "0.500"],
        ["1.00", "as the disk is"],
    ]


def test_the_table_of_fetching_compares_with_the_lower_of_both_bounds() -> None:
    costs = {"by latency": (64, Cost(640, 1.0, 0.32, 0.064)), "by one core": (64, Cost(640, 1.0, 0.8, 0.0))}
    columns = [list(column.cells) for column in fetching.table_of(costs).columns]
    assert columns[1:] == [
        ["640", "640"],
        ["1,280", "1,280"],
        ["0.500", "0.500"],
        ["2,000", "800"],
        ["0.500", "0.800"],
        ["0.50", "1.25"],
        ["0.10", "0.00"],
    ]


def test_archiving_and_extraction_are_measured_on_pages_as_sites_serve_them() -> None:
    pages = [page.encode() for page in articles(2)]
    _, table = web.archived(pages)
    assert list(table.columns[0].cells)[-1] == "read"
    assert table.row_count == 5
    assert all(float(str(rate).replace(",", "")) > 0 for rate in table.columns[1].cells)
    assert len(pages[0]) > 20_000
    assert pages[0] != pages[1]
