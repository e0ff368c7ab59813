"""All providers against engines on loopback: what becomes of good answers, and of each kind of failure.

The answers of the engines are hand-made (tests/support/loopback_search.py); sockets, HTTP clients and ddgs are real.
"""

import asyncio
import json
from collections.abc import Callable

import pytest
from loopback_search import LoopbackSearch, Misbehaviour, Result, serving
from provider_tests import JSON_PROVIDERS, RESULTS, Hurry, failure

from localfact.web.http_headers import user_agent
from localfact.web.searching.provider_chain import TRIES
from localfact.web.searching.providers import PROVIDERS, json_answers
from localfact.web.searching.providers.json_answers import MAX_ANSWER_BYTES, JsonClient
from localfact.web.searching.search import FailureKind, ProviderError, SearchProvider


@pytest.mark.parametrize("name", ["searxng", "serper", "brave", "duckduckgo"])
async def test_an_answer_becomes_ranked_results_in_plain_text(
    name: str, opened: Callable[[str], SearchProvider], engines: LoopbackSearch
) -> None:
    provider = opened(name)
    search = await provider.search("curie", 4)
    await provider.aclose()
    assert [(result.rank, result.link) for result in search.results] == [
        (1, "https://a.example/curie?x=1&y=%26z"),
        (2, "http://b.example/a%20b"),
        (3, "https://c.example/"),
    ]
    first = search.results[0]
    assert (first.title, first.snippet) == ("Marie Curie", "Born in Warsaw & raised there.")
    assert first.date == (None if name == "duckduckgo" else "2020-01-02")
    assert (search.provider, first.provider, search.query, search.count) == (name, name, "curie", 4)
    assert search.time == "2024-05-01T12:00:00+00:00"
    assert engines.count(name) == (2 if name == "searxng" else 1)


async def test_brave_is_asked_for_web_pages_alone_and_for_words_without_marks(
    opened: Callable[[str], SearchProvider], engines: LoopbackSearch
) -> None:
    provider = opened("brave")
    await provider.search("curie", 4)
    await provider.aclose()
    expected = {"q": "curie", "count": "4", "result_filter": "web", "text_decorations": "false"}
    assert engines.asked[0].parameters == expected


@pytest.mark.parametrize("name", PROVIDERS)
async def test_nothing_found_is_an_answer_where_the_provider_says_so(
    name: str, opened: Callable[[str], SearchProvider], engines: LoopbackSearch
) -> None:
    provider = opened(name)
    search = await provider.search("none", 3)
    await provider.aclose()
    assert search.results == ()
    assert engines.count() == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        (Misbehaviour(429), FailureKind.RATE_LIMITED),
        (Misbehaviour(500), FailureKind.UNAVAILABLE),
        (Misbehaviour(503, body=b"<html>busy</html>"), FailureKind.UNAVAILABLE),
        (Misbehaviour(hang_up=True), FailureKind.UNAVAILABLE),
        (Misbehaviour(body=b"[]"), FailureKind.MALFORMED),
        (Misbehaviour(body=b"<html><body>Welcome</body></html>"), FailureKind.MALFORMED),
        (Misbehaviour(body=b"\xff\x00\xfe"), FailureKind.MALFORMED),
        (Misbehaviour(endless=True), FailureKind.MALFORMED),
    ],
    ids=lambda value: str(value) if isinstance(value, FailureKind) else "",
)
async def test_a_failure_is_never_nothing_found_and_is_tried_again(
    name: str, wrong: Misbehaviour, kind: FailureKind, opened: Callable[[str], SearchProvider], engines: LoopbackSearch
) -> None:
    engines.always = wrong
    assert (await failure(opened(name), "none")).kind is kind
    assert engines.count() == TRIES


@pytest.mark.parametrize("name", PROVIDERS)
async def test_an_empty_body_is_no_answer(name: str, opened: Callable[[str], SearchProvider], engines: LoopbackSearch) -> None:
    engines.always = Misbehaviour(body=b" ")
    assert (await failure(opened(name), "none")).kind is FailureKind.MALFORMED


@pytest.mark.parametrize("name", PROVIDERS)
async def test_a_passing_failure_leaves_no_trace(
    name: str, opened: Callable[[str], SearchProvider], engines: LoopbackSearch, hurry: Hurry
) -> None:
    engines.table = lambda query: [Result("A title", "https://a.example/")]
    engines.script += [Misbehaviour(503), Misbehaviour(429, retry_after="7"), None]
    provider = opened(name)
    assert len((await provider.search("curie", 1)).results) == 1
    await provider.aclose()
    assert engines.count() == 3
    assert hurry.slept == [0.5, 7.0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "part"),
    [("searxng", "results"), ("serper", "organic"), ("wikipedia", "query"), ("brave", "web")],
)
@pytest.mark.parametrize("value", [None, "text", 7, {"results": None}, [1], [{"title": "no link"}], [[]]])
async def test_an_answer_of_another_shape_is_malformed(
    name: str, part: str, value: object, opened: Callable[[str], SearchProvider], engines: LoopbackSearch
) -> None:
    engines.always = Misbehaviour(body=json.dumps({part: value}).encode())
    assert (await failure(opened(name))).kind is FailureKind.MALFORMED


@pytest.mark.parametrize("name", JSON_PROVIDERS)
async def test_json_made_to_break_the_parser_is_malformed(
    name: str, opened: Callable[[str], SearchProvider], engines: LoopbackSearch
) -> None:
    for body in (b"[" * 200_000, b'{"results": ' + b"9" * 10_000 + b"}", b'{"a": NaN}'):
        engines.always = Misbehaviour(body=body)
        assert (await failure(opened(name))).kind in (FailureKind.MALFORMED, FailureKind.LEFT_ASIDE)


@pytest.mark.parametrize("name", JSON_PROVIDERS)
async def test_a_compressed_answer_cannot_get_round_the_size_limit(
    name: str, opened: Callable[[str], SearchProvider], engines: LoopbackSearch
) -> None:
    engines.always = Misbehaviour(body=b"\x1f\x8b", headers={"Content-Encoding": "gzip"})
    refused = await failure(opened(name))
    assert (refused.kind, "compressed" in refused.detail) == (FailureKind.MALFORMED, True)
    assert engines.asked[0].headers["accept-encoding"] == "identity"


async def test_an_answer_may_be_as_large_as_the_limit(opened: Callable[[str], SearchProvider], engines: LoopbackSearch) -> None:
    body = json.dumps({"results": []}).encode()
    engines.script.append(Misbehaviour(body=body + b" " * (MAX_ANSWER_BYTES - len(body))))
    provider = opened("searxng")
    assert (await provider.search("q", 1)).results == ()
    await provider.aclose()


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [Misbehaviour(delay=20.0), Misbehaviour(drip=0.1)], ids=["silence", "drip"])
@pytest.mark.parametrize("name", PROVIDERS)
async def test_an_engine_that_does_not_answer_is_given_up_in_time(
    name: str,
    wrong: Misbehaviour,
    opened: Callable[[str], SearchProvider],
    engines: LoopbackSearch,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(json_answers, "TIME_LIMIT", 0.3)
    engines.always = wrong
    refused = await asyncio.wait_for(failure(opened(name)), 19)
    assert refused.kind is FailureKind.UNAVAILABLE
    assert "no answer within" in refused.detail


@pytest.mark.parametrize("name", PROVIDERS)
async def test_a_redirect_is_not_followed(name: str, opened: Callable[[str], SearchProvider], engines: LoopbackSearch) -> None:
    with serving(LoopbackSearch({"curie": RESULTS})) as elsewhere:
        engines.always = Misbehaviour(302, headers={"Location": f"{elsewhere.url}/search?q=curie&format=json"})
        await failure(opened(name))
        assert elsewhere.count() == 0


@pytest.mark.parametrize("name", PROVIDERS)
async def test_no_proxy_of_the_environment_is_asked(
    name: str, opened: Callable[[str], SearchProvider], engines: LoopbackSearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    engines.table = lambda query: [Result("A", "https://a.example/")]
    for variable in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "PRIMP_PROXY"):
        monkeypatch.setenv(variable, "http://127.0.0.3:1")
    provider = opened(name)
    assert len((await provider.search("curie", 1)).results) == 1
    await provider.aclose()
    assert engines.count() == 1


@pytest.mark.parametrize("name", JSON_PROVIDERS)
async def test_requests_to_an_api_say_truthfully_who_asks(
    name: str, opened: Callable[[str], SearchProvider], engines: LoopbackSearch
) -> None:
    provider = opened(name)
    await provider.search("none", 1)
    await provider.aclose()
    assert engines.asked[0].headers["user-agent"] == user_agent()


@pytest.mark.parametrize("name", JSON_PROVIDERS)
async def test_a_bad_request_is_refused_and_not_repeated(
    name: str, opened: Callable[[str], SearchProvider], engines: LoopbackSearch
) -> None:
    engines.always = Misbehaviour(400, body=b'{"message": "Query too odd."}')
    refused = await failure(opened(name))
    assert (refused.kind, refused.detail) == (FailureKind.REFUSED, "HTTP 400 (Query too odd)")
    assert engines.count() == 1


async def test_used_up_credits_of_serper_concern_all_queries(
    opened: Callable[[str], SearchProvider], engines: LoopbackSearch
) -> None:
    engines.always = Misbehaviour(400, body=b'{"message": "Not enough credits", "statusCode": 400}')
    refused = await failure(opened("serper"))
    assert refused.kind is FailureKind.FORBIDDEN
    assert "SERPER_API_KEY" in refused.detail


@pytest.mark.parametrize("name", PROVIDERS)
async def test_a_claim_sets_no_parameter_and_gives_no_order(
    name: str, opened: Callable[[str], SearchProvider], engines: LoopbackSearch
) -> None:
    engines.table = lambda query: [Result("A", "https://a.example/")]
    provider = opened(name)
    claim = '!g "A & B"\n&format=html&num=99 :fr site:x'
    search = await provider.search(claim, 3)
    await provider.aclose()
    assert engines.asked[0].query == 'g "A & B" &format=html&num=99 fr site x'
    # A corpus looks a search up by the words that it was asked for with.
    assert search.query == claim
    assert engines.asked[0].parameters.get("format") in (None, "json")


async def test_a_retry_after_that_names_a_date_is_waited_for(
    opened: Callable[[str], SearchProvider], engines: LoopbackSearch, hurry: Hurry
) -> None:
    engines.script.append(Misbehaviour(503, retry_after="Wed, 01 May 2024 12:00:40 GMT"))
    provider = opened("searxng")
    await provider.search("curie", 1)
    await provider.aclose()
    assert hurry.slept == [40.0]


async def test_results_that_repeat_the_key_are_none() -> None:
    client = JsonClient("serper", secret="s3cret-Key")
    with pytest.raises(ProviderError, match="repeats the key"):
        client._object(b'{"organic": [{"title": "\\u0073 3cret key", "link": "https://a.example"}]}')
    assert client._object(b'{"organic": []}') == {"organic": []}
    await client.aclose()
