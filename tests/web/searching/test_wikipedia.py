"""Wikipedia's search against one on loopback: links, and errors that come with status 200.

The answers of the engines are hand-made (tests/support/loopback_search.py); sockets, HTTP clients and ddgs are real.
"""

import json
from collections.abc import Callable

import pytest
from loopback_search import LoopbackSearch, Misbehaviour, Result
from provider_tests import Hurry, failure

from localfact.web.searching.search import FailureKind, SearchProvider


async def test_wikipedia_links_to_its_articles(opened: Callable[[str], SearchProvider], engines: LoopbackSearch) -> None:
    engines.table = {
        "q": [
            Result("AC/DC", "", '<span class="searchmatch">Rock</span> band', "2024-01-01T00:00:00Z"),
            Result("Who's Afraid? 100% C# & Łódź", "", ""),
        ]
    }
    provider = opened("wikipedia")
    search = await provider.search("q", 3)
    await provider.aclose()
    assert [result.link for result in search.results] == [
        "https://en.wikipedia.org/wiki/AC/DC",
        "https://en.wikipedia.org/wiki/Who%27s_Afraid%3F_100%25_C%23_%26_%C5%81%C3%B3d%C5%BA",
    ]
    assert (search.results[0].snippet, search.results[0].date) == ("Rock band", "2024-01-01T00:00:00Z")
    asked = engines.asked[0]
    assert asked.headers["user-agent"].startswith("localfact/")
    assert (asked.parameters["srlimit"], asked.parameters["maxlag"]) == ("3", "5")


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("maxlag", FailureKind.UNAVAILABLE),
        ("internal_api_error_DBQueryError", FailureKind.UNAVAILABLE),
        ("ratelimited", FailureKind.RATE_LIMITED),
        ("cirrussearch-too-busy-error", FailureKind.RATE_LIMITED),
        ("badvalue", FailureKind.REFUSED),
    ],
)
async def test_an_error_of_mediawiki_comes_with_status_200_and_is_one(
    code: str, kind: FailureKind, opened: Callable[[str], SearchProvider], engines: LoopbackSearch
) -> None:
    engines.error = {"code": code, "info": "Waiting for a database server."}
    refused = await failure(opened("wikipedia"), "none")
    assert (refused.kind, refused.detail) == (kind, f"{code} (Waiting for a database server)")


async def test_a_lagging_wiki_is_given_the_time_that_it_asks_for(
    opened: Callable[[str], SearchProvider], engines: LoopbackSearch, hurry: Hurry
) -> None:
    lag = json.dumps({"error": {"code": "maxlag", "info": "lagged"}}).encode()
    engines.script.append(Misbehaviour(body=lag, retry_after="5"))
    engines.table = {"q": [Result("A", "")]}
    provider = opened("wikipedia")
    assert len((await provider.search("q", 1)).results) == 1
    await provider.aclose()
    assert hurry.slept == [5.0]
