"""What a failed fetch says of itself: whom it asked last for the page, and which answer failed. An archive keeps that one."""

from collections.abc import AsyncIterator

import pytest
from fetching_pages import ADMITTED, Naps, failing
from loopback_pages import LoopbackPages, Reply

from localfact.web.fetching.failures import Reason
from localfact.web.fetching.fetch import Fetcher

#: What never answers, or never ends: only this is asked for with little patience, for a busy machine may be late too.
SILENT = ("/stalled", "/silent", "/redirect?to=/silent")


@pytest.fixture
async def direct(path: str, naps: Naps) -> AsyncIterator[Fetcher]:
    """Asks for no robots.txt, and has time to ask again."""
    made = Fetcher(
        host_delay=0,
        total_seconds=20,
        read_seconds=0.5 if path in SILENT else 10,
        allow_hosts=[ADMITTED],
        robots=False,
        sleep=naps.sleep,
        clock=naps,
    )
    yield made
    await made.aclose()


@pytest.mark.parametrize(
    ("path", "final", "statuses", "answer"),
    [
        ("/status/404", "/status/404", [404], 0),
        ("/status/502", "/status/502", [502, 502], 1),
        ("/stalled", "/stalled", [200], 0),
        ("/large", "/large", [200], 0),
        ("/typed?type=image/png", "/typed?type=image/png", [200], 0),
        ("/silent", "/silent", [], None),
        ("/reset", "/reset", [], None),
        ("/worse", "/worse", [500], None),
        ("/redirect?to=/status/404", "/status/404", [302, 404], 1),
        ("/redirect?to=/reset", "/reset", [302], None),
        ("/redirect?to=/silent", "/silent", [302], None),
        ("/redirect?to=http://169.254.169.254/", "/redirect?to=http://169.254.169.254/", [302], 0),
        ("/redirect-loop", "/redirect-loop/again", [301, 301], 1),
    ],
)
async def test_the_answer_of_a_failed_page_is_its_own(
    site: LoopbackPages, direct: Fetcher, path: str, final: str, statuses: list[int], answer: int | None
) -> None:
    error = await failing(direct, site.url(path, ADMITTED))
    assert error.final_link == site.url(final, ADMITTED)
    assert [exchange.status for exchange in error.exchanges] == statuses
    if answer is None:
        assert error.answer is None
    else:
        assert error.answer is error.exchanges[answer]
        assert error.answer.url == error.final_link


async def test_a_robots_txt_is_never_the_answer_of_a_page(site: LoopbackPages, fetcher: Fetcher) -> None:
    site.robots[ADMITTED] = b"User-agent: *\nDisallow: /article"
    link = site.url("/article/1", ADMITTED)
    error = await failing(fetcher, link)
    assert error.failure.reason is Reason.ROBOTS_DISALLOWED
    assert (error.final_link, error.answer, len(error.exchanges)) == (link, None, 1)


async def test_a_redirect_to_a_page_that_robots_txt_forbids_is_not_that_pages_answer(
    site: LoopbackPages, fetcher: Fetcher
) -> None:
    site.robots[ADMITTED] = b"User-agent: *\nDisallow: /article"
    site.pages["/away"] = Reply(status=302, headers=(("Location", "/article/1"),))
    error = await failing(fetcher, site.url("/away", ADMITTED))
    assert error.failure.reason is Reason.ROBOTS_DISALLOWED
    assert (error.final_link, error.answer) == (site.url("/away", ADMITTED), None)
    assert [exchange.status for exchange in error.exchanges] == [200, 302]


async def test_a_page_that_answers_after_its_robots_txt_fails_by_its_own_answer(site: LoopbackPages, fetcher: Fetcher) -> None:
    error = await failing(fetcher, site.url("/status/410", ADMITTED))
    assert [exchange.status for exchange in error.exchanges] == [404, 410]
    assert error.answer is error.exchanges[1]


async def test_a_refused_address_was_asked_for_nothing(site: LoopbackPages, fetcher: Fetcher) -> None:
    link = site.url("/article/1#part", "127.0.0.1")
    error = await failing(fetcher, link)
    assert (error.final_link, error.answer, error.exchanges) == (link, None, ())


async def test_a_page_is_not_taken_for_its_robots_txt_or_a_redirect(site: LoopbackPages, fetcher: Fetcher) -> None:
    site.robots[ADMITTED] = b"User-agent: *\nAllow: /"
    fetched = await fetcher.fetch(site.url("/redirect/2", ADMITTED))
    assert [exchange.status for exchange in fetched.exchanges] == [200, 302, 302, 200]
    assert fetched.exchange is fetched.exchanges[-1]
    assert fetched.exchange.url == fetched.final_link
