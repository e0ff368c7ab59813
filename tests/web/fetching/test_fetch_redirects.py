import pytest
from fetching_pages import ADMITTED, Naps, failing
from loopback_pages import LoopbackPages, Reply
from loopback_streams import GOOD

from localfact.web.fetching import request as module
from localfact.web.fetching.failures import Reason
from localfact.web.fetching.fetch import Fetcher


async def test_redirects_are_followed_and_kept(site: LoopbackPages, fetcher: Fetcher) -> None:
    fetched = await fetcher.fetch(site.url("/redirect/10", ADMITTED))
    assert fetched.body == GOOD
    assert fetched.final_link == site.url("/redirect/0", ADMITTED)
    assert [exchange.status for exchange in fetched.exchanges] == [404, *[302] * 10, 200]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_every_kind_of_redirect_leads_on(site: LoopbackPages, hasty: Fetcher, status: int) -> None:
    fetched = await hasty.fetch(site.url(f"/redirect?status={status}&to=../article/1%23part", ADMITTED))
    assert fetched.final_link == site.url("/article/1", ADMITTED)


@pytest.mark.parametrize("path", ["/redirect/11", "/redirect-loop"])
async def test_redirects_without_end_are_too_many(site: LoopbackPages, hasty: Fetcher, path: str) -> None:
    error = await failing(hasty, site.url(path, ADMITTED))
    assert error.failure.reason is Reason.TOO_MANY_REDIRECTS
    assert len(site.asked) <= 11


@pytest.mark.parametrize(
    ("target", "named"),
    [
        ("file:///etc/passwd", "file:"),
        ("http://127.0.0.1:{port}/article/1", "127.0.0.1"),
        ("//127.0.0.1:{port}/article/1", "127.0.0.1"),
        ("http://localhost:{port}/article/1", "127.0.0.1"),
        ("http://2130706433:{port}/article/1", "127.0.0.1"),
        ("http://[::ffff:127.0.0.2]:{port}/article/1", "::ffff:127.0.0.2"),
        ("http://user:secret@127.0.0.2:{port}/article/1", "credentials"),
        ("http://169.254.169.254/latest/meta-data/", "169.254.169.254"),
        ("ftp://127.0.0.2/file", "ftp:"),
        ("http://[broken", "broken"),
        ("http://127.0.0.2:notaport/", "notaport"),
        ("mailto:editor@a.example", "mailto:"),
    ],
)
async def test_a_redirect_to_where_no_page_may_be_is_refused_and_named(
    site: LoopbackPages, fetcher: Fetcher, target: str, named: str
) -> None:
    site.pages["/away"] = Reply(status=302, headers=(("Location", target.format(port=site.port)),))
    error = await failing(fetcher, site.url("/away", ADMITTED))
    assert error.failure.reason is Reason.ADDRESS_REFUSED
    assert named in error.failure.detail
    assert site.paths() == ["/away"]
    assert {asked.host for asked in site.asked} == {ADMITTED}


async def test_a_refused_address_is_not_even_asked_for_its_robots_txt(site: LoopbackPages, fetcher: Fetcher) -> None:
    error = await failing(fetcher, site.url("/article/1", "127.0.0.1"))
    assert (error.failure.reason, error.exchanges) == (Reason.ADDRESS_REFUSED, ())
    assert site.asked == []


async def test_the_connection_goes_to_the_address_that_was_checked_whatever_the_name_says_next(site: LoopbackPages) -> None:
    answers = iter([["127.0.0.2"], ["127.0.0.1"], ["127.0.0.1"]])

    async def resolve(host: str, port: int) -> list[str]:
        assert host == "rebinding.example"
        return next(answers)

    fetcher = Fetcher(host_delay=0, allow_hosts=["127.0.0.2"], resolve=resolve, robots=False)
    link = f"http://rebinding.example:{site.port}/article/1"
    fetched = await fetcher.fetch(link)
    assert fetched.exchange.address == "127.0.0.2"
    assert site.asked[0].host == "rebinding.example"
    await fetcher._connections.aclose()  # so that the name is resolved again
    error = await failing(fetcher, link)
    assert error.failure.reason is Reason.ADDRESS_REFUSED
    assert "127.0.0.1" in error.failure.detail
    assert len(site.asked) == 1
    await fetcher.aclose()


async def test_an_address_that_does_not_answer_leaves_the_next_one_to_be_tried(site: LoopbackPages) -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.9", "127.0.0.2"]

    fetcher = Fetcher(host_delay=0, allow_hosts=["127.0.0.0/8"], resolve=resolve, robots=False)
    fetched = await fetcher.fetch(f"http://two.example:{site.port}/article/1")
    assert fetched.exchange.address == "127.0.0.2"
    await fetcher.aclose()


@pytest.mark.parametrize("robots", [True, False])
async def test_a_name_that_does_not_resolve_and_a_port_that_is_closed_are_told(robots: bool, naps: Naps) -> None:
    async def resolve(host: str, port: int) -> list[str]:
        raise OSError("no such name")

    fetcher = Fetcher(host_delay=0, allow_hosts=["127.0.0.9"], resolve=resolve, robots=robots, sleep=naps.sleep, clock=naps)
    error = await failing(fetcher, "http://no.example/")
    assert (error.failure.reason, error.failure.detail) == (Reason.NAME_NOT_RESOLVED, "no.example")
    assert (await failing(fetcher, "http://127.0.0.9:9/")).failure.reason is Reason.CONNECTION_FAILED
    await fetcher.aclose()


async def test_a_redirect_whose_own_body_never_ends_is_followed(
    site: LoopbackPages, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ASIDE_SECONDS", 0.3)
    fetched = await fetcher.fetch(site.url("/redirect-drip", ADMITTED))
    assert fetched.body == GOOD
    assert fetched.exchanges[1].truncated == "time"
