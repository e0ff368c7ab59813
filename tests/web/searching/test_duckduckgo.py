"""DuckDuckGo against its page on loopback: what is a result, and what is a refusal in disguise.

The answers of the engines are hand-made (tests/support/loopback_search.py); sockets, HTTP clients and ddgs are real.
"""

from collections.abc import Callable

import pytest
from loopback_search import LoopbackSearch, Misbehaviour, Result
from provider_tests import failure

from localfact.web.searching.search import FailureKind, SearchProvider


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<html><body><form id='challenge-form'></form></body></html>", FailureKind.RATE_LIMITED),
        (b"<html><body><div class='anomaly-modal__title'>bots</div></body></html>", FailureKind.RATE_LIMITED),
        (b"<html><body><div id='links'></div></body></html>", FailureKind.MALFORMED),
        (b"<html><body>No results found.</body></html>", FailureKind.MALFORMED),
    ],
)
async def test_a_page_of_duckduckgo_without_results_is_a_failure_unless_it_says_that_there_are_none(
    body: bytes, kind: FailureKind, opened: Callable[[str], SearchProvider], engines: LoopbackSearch
) -> None:
    engines.always = Misbehaviour(body=body)
    assert (await failure(opened("duckduckgo"))).kind is kind


@pytest.mark.parametrize("status", [202, 403])
async def test_duckduckgo_limits_with_other_statuses_too(
    status: int, opened: Callable[[str], SearchProvider], engines: LoopbackSearch
) -> None:
    engines.always = Misbehaviour(status, body=b"<html></html>")
    assert (await failure(opened("duckduckgo"))).kind is FailureKind.RATE_LIMITED


async def test_duckduckgo_keeps_the_order_unwraps_redirects_and_drops_advertisements(
    opened: Callable[[str], SearchProvider], engines: LoopbackSearch
) -> None:
    engines.table = {
        "q": [
            Result("Ad", "https://duckduckgo.com/y.js?ad_domain=x.example", "Buy."),
            Result("Wrapped", "//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2Fx%3Fy%3D1&rut=2", "s"),
            Result("Wiki", "https://en.wikipedia.org/wiki/Q", "q q"),
        ]
    }
    provider = opened("duckduckgo")
    search = await provider.search("q", 5)
    await provider.aclose()
    assert [result.link for result in search.results] == ["https://a.example/x?y=1", "https://en.wikipedia.org/wiki/Q"]
