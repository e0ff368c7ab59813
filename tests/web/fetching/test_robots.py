import asyncio
import subprocess
import sys
from datetime import UTC, datetime

import httpx
import protego
import pytest

from localfact.web.fetching.exchange import Exchange
from localfact.web.fetching.failures import PageError, PageFailure, Reason
from localfact.web.fetching.robots import (
    KEEP_FAILED_SECONDS,
    KEEP_SECONDS,
    MOST_RULES,
    ROBOTS_BYTES,
    Robots,
    RobotsRules,
    Visit,
    rules_in,
)

PAGE = httpx.URL("http://a.example/private/page?q=1")


def allowed(robots: str | bytes, url: str = "http://a.example/private/page?q=1") -> bool:
    content = robots.encode() if isinstance(robots, str) else robots
    try:
        RobotsRules.parse(content, "localfact").check(httpx.URL(url))
    except PageError as error:
        return error.failure.reason is not Reason.ROBOTS_DISALLOWED
    return True


@pytest.mark.parametrize(
    ("robots", "passes"),
    [
        ("", True),
        ("User-agent: *\nDisallow: /", False),
        ("User-agent: *\nDisallow: /other", True),
        ("User-agent: *\nDisallow: /private\nAllow: /private/page", True),
        ("User-agent: *\nDisallow: /*?q=", False),
        ("User-agent: *\nDisallow: /\n\nUser-agent: LocalFact\nDisallow:", True),
        ("User-agent: localfact\nDisallow: /\n\nUser-agent: *\nAllow: /", False),
        ("User-agent: otherbot\nDisallow: /", True),
        ("\ufeffUser-agent: *\r\nDisallow: /private\r\n", False),
        ("<html><body>Not found</body></html>", True),
        (b"\x00\xff\xfe\x80" * 500, True),
    ],
)
def test_the_rules_for_this_robot_or_else_for_all_decide(robots: str | bytes, passes: bool) -> None:
    assert allowed(robots) is passes


def test_a_crawl_delay_is_kept_to_up_to_ten_seconds() -> None:
    def delay(value: str) -> float:
        return RobotsRules.parse(f"User-agent: *\nCrawl-delay: {value}".encode(), "localfact").delay

    assert [delay(value) for value in ("2.5", "3600", "soon", "-1", "nan", "inf")] == [2.5, 10.0, 0.0, 0.0, 0.0, 0.0]


def test_what_stands_beyond_the_first_500_kib_is_not_read() -> None:
    padding = b"# padding\n" * (ROBOTS_BYTES // 10 + 1)
    assert allowed(padding + b"User-agent: *\nDisallow: /")
    assert not allowed(b"User-agent: *\nDisallow: /\n" + padding)


def test_a_robots_txt_made_to_take_time_is_given_up_on_unread_and_forbids(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(content: str) -> None:
        raise AssertionError("it was read")

    monkeypatch.setattr(protego.Protego, "parse", parse)
    crossed = "".join(f"User-agent: bot{n}\n" for n in range(10_000)) + "".join(f"Disallow: /{n}\n" for n in range(15_000))
    with pytest.raises(PageError, match=f"more than {MOST_RULES:,} rules") as caught:
        RobotsRules.parse(crossed.encode(), "localfact").check(PAGE)
    assert caught.value.failure.reason is Reason.ROBOTS_DISALLOWED


@pytest.mark.slow
def test_a_large_robots_txt_of_many_groups_is_read() -> None:
    groups = "".join(f"User-agent: bot{n}\nDisallow: /{n}\nDisallow: /x{n}\n\n" for n in range(5_000))
    assert rules_in(groups) < 50_000
    assert not allowed(groups + "User-agent: *\nDisallow: /private")


MATCH_WILDCARDS = """
import httpx
from localfact.web.fetching.robots import RobotsRules

wildcards = "User-agent: *\\n" + "".join(f"Disallow: /*a*a*a*a*a*a*a*{n}$\\n" for n in range(15_000))
RobotsRules.parse(wildcards.encode(), "localfact").check(httpx.URL("http://a.example/" + "a" * 7_900))
"""


@pytest.mark.slow
def test_wildcards_made_to_take_time_take_little() -> None:
    """Nothing in this process could end a match that goes on and on."""
    subprocess.run([sys.executable, "-c", MATCH_WILDCARDS], timeout=60, check=True)


@pytest.mark.parametrize(
    ("reason", "status", "expected"),
    [
        (Reason.HTTP_STATUS, 404, None),
        (Reason.HTTP_STATUS, 401, None),
        (Reason.HTTP_STATUS, 500, Reason.ROBOTS_DISALLOWED),
        (Reason.HTTP_STATUS, 503, Reason.ROBOTS_DISALLOWED),
        (Reason.TOO_MANY_REDIRECTS, 302, None),
        (Reason.RATE_LIMITED, 429, Reason.RATE_LIMITED),
        (Reason.CONNECTION_FAILED, None, Reason.CONNECTION_FAILED),
        (Reason.TIMED_OUT, 200, Reason.TIMED_OUT),
        (Reason.ADDRESS_REFUSED, None, Reason.ADDRESS_REFUSED),
        (Reason.ADDRESS_REFUSED, 302, Reason.ROBOTS_DISALLOWED),
        (Reason.UNREADABLE, 200, Reason.ROBOTS_DISALLOWED),
    ],
)
def test_without_a_robots_txt_a_refusal_allows_all_and_anything_unsure_forbids(
    reason: Reason, status: int | None, expected: Reason | None
) -> None:
    rules = RobotsRules.without(PageFailure(reason=reason, detail="why"), status, "localfact")
    if expected is None:
        rules.check(PAGE)
    else:
        with pytest.raises(PageError) as caught:
            rules.check(PAGE)
        assert caught.value.failure.reason is expected


class Site:
    """Counts the visits, which wait until they may go on."""

    def __init__(self, failure: PageFailure | None = None) -> None:
        self.asked: list[str] = []
        self.go_on = asyncio.Event()
        self.failure = failure

    async def visit(self, url: httpx.URL) -> Visit:
        self.asked.append(str(url))
        await self.go_on.wait()
        return Visit(
            RobotsRules("localfact", failure=self.failure), (Exchange(str(url), datetime(2024, 5, 1, tzinfo=UTC), 200),)
        )


async def test_one_robots_txt_is_fetched_per_origin_however_many_pages_wait_for_it() -> None:
    site = Site()
    robots = Robots(site.visit)
    links = ["http://a.example/1", "http://a.example:80/2?x", "https://a.example/3", "http://a.example:8080/4"]
    tasks = [asyncio.create_task(robots.visit(httpx.URL(link))) for link in links * 10]
    await asyncio.sleep(0)
    site.go_on.set()
    visits = await asyncio.gather(*tasks)
    assert site.asked == ["http://a.example/robots.txt", "https://a.example/robots.txt", "http://a.example:8080/robots.txt"]
    claimed = [exchange.url for visit in visits for exchange in visit.claim()]
    assert sorted(claimed) == sorted(site.asked)


async def test_a_page_that_is_given_up_leaves_the_visit_to_the_others() -> None:
    site = Site()
    robots = Robots(site.visit)
    first, second = (asyncio.create_task(robots.visit(PAGE)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    site.go_on.set()
    assert len((await second).claim()) == 1
    assert len(site.asked) == 1


@pytest.mark.parametrize("failed", [False, True])
async def test_a_robots_txt_stands_for_a_day_and_a_failure_for_minutes(failed: bool) -> None:
    time = [0.0]
    site = Site(PageFailure(reason=Reason.TIMED_OUT) if failed else None)
    site.go_on.set()
    robots = Robots(site.visit, lambda: time[0])
    keep = KEEP_FAILED_SECONDS if failed else KEEP_SECONDS
    for time[0] in (0.0, keep - 1, keep + 1):
        await robots.visit(PAGE)
    assert len(site.asked) == 2


async def test_closing_ends_the_visits_under_way() -> None:
    robots = Robots(Site().visit)
    waiting = asyncio.create_task(robots.visit(PAGE))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    await robots.aclose()
    assert isinstance((await asyncio.gather(waiting, return_exceptions=True))[0], asyncio.CancelledError)
