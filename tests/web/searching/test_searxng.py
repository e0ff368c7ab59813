"""SearXNG against one on loopback: its pages, its engines, its settings.

The answers of the engines are hand-made (tests/support/loopback_search.py); sockets, HTTP clients and ddgs are real.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from loopback_pages import LoopbackPages, Reply, serving
from loopback_search import LoopbackSearch, Misbehaviour, Result
from provider_tests import Hurry, failure

from localfact.web.searching.provider_chain import Limit, RateLimiter
from localfact.web.searching.providers.searxng import SearXNG
from localfact.web.searching.search import FailureKind, SearchProvider


async def test_searxng_pages_until_there_are_enough_results(
    opened: Callable[[str], SearchProvider], engines: LoopbackSearch
) -> None:
    engines.table = {"q": [Result(str(number), f"https://a.example/{number // 2}") for number in range(20)]}
    engines.page_size = 6
    provider = opened("searxng")
    assert [result.rank for result in (await provider.search("q", 7)).results] == list(range(1, 8))
    assert [asked.parameters["pageno"] for asked in engines.asked] == ["1", "2", "3"]
    engines.asked.clear()
    assert len((await provider.search("q", 50)).results) == 10
    assert [asked.parameters["pageno"] for asked in engines.asked] == ["1", "2", "3", "4", "5"]
    await provider.aclose()


async def test_searxng_ends_where_a_page_brings_nothing_new(
    opened: Callable[[str], SearchProvider], engines: LoopbackSearch
) -> None:
    engines.table = {"q": [Result("Same", "https://a.example/")] * 20}
    engines.page_size = 2
    provider = opened("searxng")
    assert len((await provider.search("q", 5)).results) == 1
    await provider.aclose()
    assert engines.count() == 2


async def test_searxng_without_results_whose_engines_failed_has_not_answered(
    opened: Callable[[str], SearchProvider], engines: LoopbackSearch
) -> None:
    engines.unresponsive = [["google", "access denied"], ["brave", "timeout"]]
    refused = await failure(opened("searxng"), "none")
    assert refused.kind is FailureKind.UNAVAILABLE
    assert "google: access denied, brave: timeout" in refused.detail
    provider = opened("searxng")
    assert len((await provider.search("curie", 3)).results) == 3
    await provider.aclose()


@pytest.mark.parametrize(
    ("status", "says"), [(403, "add json to search.formats in its settings.yml"), (404, "--searxng-url"), (301, "redirects")]
)
async def test_a_searxng_that_is_set_up_otherwise_is_told_of_once(
    status: int, says: str, opened: Callable[[str], SearchProvider], engines: LoopbackSearch
) -> None:
    engines.always = Misbehaviour(status, headers={"Location": "/elsewhere"})
    provider = opened("searxng")
    for _ in range(2):
        refused = await failure(provider)
        assert refused.kind is FailureKind.FORBIDDEN
        assert says in refused.detail
    assert engines.count() == 1


async def test_a_searxng_behind_tls_is_trusted_by_the_certificates_that_the_environment_names(
    hurry: Hurry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cryptography")
    from loopback_http2 import certificates

    site = LoopbackPages(["127.0.0.2"], certificates=certificates(tmp_path)[0])
    site.pages["/search"] = Reply(b'{"results": []}')
    limiter = RateLimiter("tested", Limit(at_once=1), hurry.timing)
    with serving(site):
        assert (await failure(SearXNG(site.url(""), limiter))).kind is FailureKind.UNAVAILABLE
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
        provider = SearXNG(site.url(""), limiter)
        assert (await provider.search("q", 1)).results == ()
        await provider.aclose()
