import asyncio

import pytest
from fetching_pages import ADMITTED, failing
from loopback_pages import LoopbackPages, Reply, article
from loopback_streams import GOOD, LONGEST

from localfact.web.fetching.failures import Reason
from localfact.web.fetching.fetch import Fetcher


async def test_a_page_comes_with_all_that_was_exchanged_for_it(site: LoopbackPages, fetcher: Fetcher) -> None:
    link = site.url("/article/7#part", ADMITTED)
    fetched = await fetcher.fetch(link)
    assert fetched.body == article(ADMITTED, 7).encode()
    assert (fetched.link, fetched.final_link) == (link, site.url("/article/7", ADMITTED))
    robots, page = fetched.exchanges
    assert (robots.url, robots.status) == (site.url("/robots.txt", ADMITTED), 404)
    assert page is fetched.exchange
    assert (page.status, page.reason, page.protocol, page.address) == (200, "Loopback", "HTTP/1.1", ADMITTED)
    assert page.header("CONTENT-TYPE") == "text/html; charset=utf-8"
    assert page.payload == fetched.body
    assert page.truncated is None


async def test_requests_say_truthfully_who_asks_and_what_is_taken(site: LoopbackPages, fetcher: Fetcher) -> None:
    fetched = await fetcher.fetch(site.url("/article/1", ADMITTED))
    sent = site.asked[-1].headers
    assert sent == {name.lower(): value for name, value in fetched.exchange.request_headers}
    assert set(sent) == {"host", "user-agent", "accept", "accept-encoding"}
    assert sent["user-agent"].startswith("localfact/")
    assert "https://github.com/localfact/localfact" in sent["user-agent"]
    assert "research software" in sent["user-agent"]
    assert "Mozilla" not in sent["user-agent"]
    assert sent["accept-encoding"] == "gzip, deflate"


@pytest.mark.parametrize("coding", ["gzip", "deflate", "raw-deflate", "members", "padded"])
async def test_a_compressed_page_is_decoded_and_its_payload_kept_as_received(
    site: LoopbackPages, fetcher: Fetcher, coding: str
) -> None:
    fetched = await fetcher.fetch(site.url(f"/encoded/{coding}", ADMITTED))
    assert fetched.body == GOOD
    assert fetched.exchange.payload != GOOD
    assert fetched.exchange.header("content-encoding") in ("gzip", "deflate")


@pytest.mark.parametrize("coding", ["br", "zstd"])
async def test_a_coding_that_was_not_asked_for_is_unreadable_and_named(
    site: LoopbackPages, fetcher: Fetcher, coding: str
) -> None:
    error = await failing(fetcher, site.url(f"/encoded/{coding}", ADMITTED))
    assert error.failure.reason is Reason.UNREADABLE
    assert coding in error.failure.detail


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "reason", "truncated"),
    [
        ("/slow-drip", Reason.TIMED_OUT, "time"),
        ("/slow-headers", Reason.TIMED_OUT, None),
        ("/silent", Reason.TIMED_OUT, None),
        ("/stalled", Reason.TIMED_OUT, "time"),
        ("/tiny-chunks", Reason.TIMED_OUT, "time"),
        ("/never-ending", Reason.TOO_LARGE, "length"),
        ("/large", Reason.TOO_LARGE, "length"),
        ("/large?stated=no", Reason.TOO_LARGE, "length"),
        ("/gzip-bomb", Reason.TOO_LARGE, "length"),
        ("/gzip-bomb?coding=deflate", Reason.TOO_LARGE, "length"),
        ("/gzip-members", Reason.UNREADABLE, "length"),
        ("/corrupt-gzip", Reason.UNREADABLE, "length"),
        ("/corrupt-gzip?cut=yes", Reason.UNREADABLE, None),
        ("/header-bomb", Reason.CONNECTION_FAILED, None),
        ("/not-http", Reason.CONNECTION_FAILED, None),
        ("/reset", Reason.CONNECTION_FAILED, None),
        ("/cut", Reason.CONNECTION_FAILED, "disconnect"),
        ("/typed?type=image/png", Reason.MEDIA_TYPE_REFUSED, "length"),
        ("/typed?type=application/zip", Reason.MEDIA_TYPE_REFUSED, "length"),
        ("/typed/binary", Reason.MEDIA_TYPE_REFUSED, "length"),
        ("/status/401", Reason.HTTP_STATUS, None),
        ("/status/403", Reason.HTTP_STATUS, None),
        ("/status/404", Reason.HTTP_STATUS, None),
        ("/status/418", Reason.HTTP_STATUS, None),
        ("/status/304", Reason.HTTP_STATUS, None),
    ],
)
async def test_a_bad_page_ends_within_its_limits_with_its_reason(
    site: LoopbackPages, hasty: Fetcher, path: str, reason: Reason, truncated: str | None
) -> None:
    async with asyncio.timeout(LONGEST / 4):
        error = await failing(hasty, site.url(path, ADMITTED))
    assert error.failure.reason is reason
    assert (error.exchanges[-1].truncated if error.exchanges else None) == truncated
    if reason is Reason.HTTP_STATUS:
        assert error.failure.detail == path.rpartition("/")[2]
    assert sum(len(exchange.payload) for exchange in error.exchanges) <= 10_000_000


@pytest.mark.parametrize(
    "path",
    [
        "/login",
        "/empty",
        "/wrong-charset",
        "/invalid-html",
        "/pdf",
        "/order",
        "/typed",
        "/typed/pdf",
        "/typed?type=application/xhtml%2Bxml",
    ],
)
async def test_what_a_page_says_is_not_judged_here(site: LoopbackPages, hasty: Fetcher, path: str) -> None:
    fetched = await hasty.fetch(site.url(path, ADMITTED))
    assert fetched.exchange.status == 200
    assert fetched.body == fetched.exchange.payload


async def test_a_refused_type_is_refused_before_its_body_is_read(site: LoopbackPages, hasty: Fetcher) -> None:
    error = await failing(hasty, site.url("/typed?type=video/mp4", ADMITTED))
    assert error.exchanges[0].payload == b""
    assert error.failure.detail == "video/mp4"


async def test_the_limit_on_size_counts_what_comes_out_of_compression(site: LoopbackPages) -> None:
    fetcher = Fetcher(host_delay=0, max_bytes=len(GOOD) - 1, allow_hosts=[ADMITTED], robots=False)
    assert (await failing(fetcher, site.url("/encoded/gzip", ADMITTED))).failure.reason is Reason.TOO_LARGE
    assert len(GOOD) > 100 > len((await failing(fetcher, site.url("/large?bytes=5000", ADMITTED))).exchanges[0].payload)
    await fetcher.aclose()


async def test_no_cookie_goes_back_and_no_proxy_of_the_environment_is_asked(
    site: LoopbackPages, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.3:1")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    site.pages["/cookie"] = Reply(b"<p>x</p>", headers=(("Content-Type", "text/html"), ("Set-Cookie", "who=me")))
    fetcher = Fetcher(host_delay=0, allow_hosts=[ADMITTED], robots=False)
    for _ in range(2):
        await fetcher.fetch(site.url("/cookie", ADMITTED))
    assert all("cookie" not in asked.headers for asked in site.asked)
    await fetcher.aclose()
