import asyncio

from fetching_pages import ADMITTED, Naps, failing
from loopback_pages import LoopbackPages, Reply
from loopback_streams import GOOD

from localfact.web.fetching.failures import Reason
from localfact.web.fetching.fetch import Fetcher


async def test_robots_txt_is_fetched_once_and_handed_on_with_one_page_alone(site: LoopbackPages, fetcher: Fetcher) -> None:
    fetched = await asyncio.gather(*(fetcher.fetch(site.url(f"/article/{n}", ADMITTED)) for n in range(5)))
    assert [asked.path for asked in site.asked].count("/robots.txt") == 1
    assert sorted(len(page.exchanges) for page in fetched) == [1, 1, 1, 1, 2]


async def test_a_page_that_robots_txt_forbids_is_not_asked_for(site: LoopbackPages, fetcher: Fetcher) -> None:
    site.robots[ADMITTED] = b"User-agent: *\nDisallow: /article"
    error = await failing(fetcher, site.url("/article/1", ADMITTED))
    assert error.failure.reason is Reason.ROBOTS_DISALLOWED
    assert [exchange.status for exchange in error.exchanges] == [200]
    assert site.paths() == []


async def test_a_robots_txt_that_is_broken_forbids_and_says_so(site: LoopbackPages, fetcher: Fetcher) -> None:
    site.robots[ADMITTED] = 500
    error = await failing(fetcher, site.url("/article/1", ADMITTED))
    assert error.failure.reason is Reason.ROBOTS_DISALLOWED
    assert "500" in error.failure.detail
    assert site.paths() == []


async def test_a_robots_txt_larger_than_is_read_still_holds_as_far_as_it_is_read(site: LoopbackPages, fetcher: Fetcher) -> None:
    site.robots[ADMITTED] = b"User-agent: *\nDisallow: /article\n" + b"# padding\n" * 100_000
    error = await failing(fetcher, site.url("/article/1", ADMITTED))
    assert error.failure.reason is Reason.ROBOTS_DISALLOWED
    assert error.exchanges[0].truncated == "length"
    assert len(error.exchanges[0].payload) == 500 * 1024


async def test_a_robots_txt_may_be_elsewhere(site: LoopbackPages, fetcher: Fetcher) -> None:
    site.robots[ADMITTED] = Reply(status=301, headers=(("Location", "/rules"),))
    site.pages["/rules"] = Reply(b"User-agent: localfact\nDisallow: /")
    error = await failing(fetcher, site.url("/article/1", ADMITTED))
    assert error.failure.reason is Reason.ROBOTS_DISALLOWED
    assert [exchange.status for exchange in error.exchanges] == [301, 200]


async def test_the_crawl_delay_of_robots_txt_stands_between_two_pages(
    site: LoopbackPages, fetcher: Fetcher, naps: Naps
) -> None:
    site.robots[ADMITTED] = b"User-agent: *\nCrawl-delay: 4"
    for number in range(3):
        await fetcher.fetch(site.url(f"/article/{number}", ADMITTED))
    assert naps.taken == [4, 4]


async def test_a_slow_robots_txt_is_at_the_expense_of_no_page(site: LoopbackPages, fetcher: Fetcher, naps: Naps) -> None:
    """Of the 20 seconds of a page, 15 for the robots.txt would leave too few for 7 more."""
    site.robots[ADMITTED] = Reply(status=302, headers=(("Location", "/status/503?retry=15&times=1"),))
    links = [site.url(f"/status/429?retry=7&times=1&number={number}", ADMITTED) for number in range(2)]
    fetched = await asyncio.gather(*(fetcher.fetch(link) for link in links))
    assert [page.body for page in fetched] == [GOOD, GOOD]
    assert sum(naps.taken) >= 15 + 7
    assert [asked.path for asked in site.asked].count("/robots.txt") == 1


async def test_a_robots_txt_has_as_long_as_a_page_and_then_fails_for_all_who_wait(site: LoopbackPages, naps: Naps) -> None:
    site.robots[ADMITTED] = Reply(status=302, headers=(("Location", "/slow-drip"),))
    fetcher = Fetcher(host_delay=0, total_seconds=0.5, allow_hosts=[ADMITTED], sleep=naps.sleep, clock=naps)
    links = [site.url(f"/article/{number}", ADMITTED) for number in range(3)]
    errors = await asyncio.gather(*(failing(fetcher, link) for link in links))
    assert {(error.failure.reason, error.failure.detail) for error in errors} == {
        (Reason.TIMED_OUT, "robots.txt: not done within the time limit")
    }
    assert site.paths() == ["/slow-drip"]
    await fetcher.aclose()
