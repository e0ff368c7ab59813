"""Evidence fetched ahead: what the method's claims need, once, with what went wrong counted and tried again."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback_pages import Reply
from loopback_search import LoopbackSearch, Misbehaviour
from loopback_search import serving as searching
from small_web import HOSTS, SmallWeb, small_web

from localfact.api.evaluate import prepare
from localfact.api.fetch import FetchResult, fetch, summary_of
from localfact.corpus.corpus import read_description
from localfact.errors import InputError, MissingError
from localfact.methods.options import Options
from localfact.web.searching.providers import open_provider

pytestmark = pytest.mark.slow


@pytest.fixture
def web(tmp_path: Path) -> Iterator[SmallWeb]:
    with small_web(tmp_path) as web:
        yield web


def options_for(web: SmallWeb, **chosen: object) -> Options:
    live = {
        "corpus": web.data.parent / "web",
        "providers": ("searxng",),
        "searxng_url": web.engine.url,
        "embedder": "none",
    }
    if chosen.get("evidence") != "snippet":
        live |= {"allow_hosts": HOSTS, "host_delay": 0.0}
    return Options(**{**live, **chosen})  # type: ignore[arg-type]


def fetched(web: SmallWeb, *, retry_failed: bool = False, **chosen: object) -> FetchResult:
    return fetch(prepare(web.data, options=options_for(web, **chosen)), retry_failed=retry_failed)


def test_what_was_fetched_is_not_asked_for_again(web: SmallWeb) -> None:
    first = fetched(web)
    assert (first.responses, first.claims, first.unanswered, first.failed) == (6, 24, 0, False)
    assert first.sent == {"searches": 24, "pages": 7, "pages_failed": 1}
    assert first.without_page == {"http_status": 1}
    assert first.corpus is not None
    again = fetched(web)
    assert again.sent == {}
    assert again.corpus == first.corpus


def test_rows_that_cannot_be_used_are_counted_and_stop_nobody(web: SmallWeb) -> None:
    with web.data.open("a") as file:
        file.write("{broken\n")
    done = fetched(web)
    assert (done.responses, done.responses_failed, done.failed) == (7, 1, True)
    assert done.sent["searches"] == 24
    assert done.problems[0].startswith("row-7: The line is not JSON")


def test_responses_that_bring_their_own_passages_are_not_searched_for(web: SmallWeb) -> None:
    row = {"id": "own", "topic": "Orm", "response": "Orm is a cape.", "passages": [{"text": "Orm is a cape."}]}
    web.data.write_text(json.dumps(row) + "\n")
    done = fetched(web)
    assert (done.responses, done.claims, done.sent) == (1, 0, {})


def test_a_search_that_nobody_answered_is_counted_and_asked_by_the_next_run(web: SmallWeb) -> None:
    web.engine.script.append(Misbehaviour(400))
    first = fetched(web)
    assert (first.unanswered, first.failed, first.sent["searches"]) == (1, True, 23)
    assert "400" in first.problems[0]
    again = fetched(web)
    assert (again.unanswered, again.sent["searches"]) == (0, 1)


def test_an_answer_that_concerns_every_search_is_told_and_the_corpus_stays_to_go_on_with(web: SmallWeb) -> None:
    web.engine.always = Misbehaviour(403)
    with pytest.raises(MissingError, match="JSON"):
        fetched(web)
    web.engine.always = None
    assert fetched(web).sent["searches"] == 24


def test_pages_that_a_limit_withheld_are_asked_for_again_when_wanted_and_others_are_not(web: SmallWeb) -> None:
    web.site.pages["/article/1"] = Reply(b"", 429)
    first = fetched(web)
    assert first.without_page == {"http_status": 1, "rate_limited": 6}
    web.site.pages.pop("/article/1")
    assert fetched(web).without_page == first.without_page, "a recorded failure stands"
    asked = len(web.site.asked)
    mended = fetched(web, retry_failed=True)
    assert mended.without_page == {"http_status": 1}
    assert mended.sent == {"pages": 6}
    assert [one.path for one in web.site.asked[asked:]].count("/gone") == 0


def test_snippets_alone_are_fetched_without_fetching(web: SmallWeb) -> None:
    done = fetched(web, evidence="snippet")
    assert done.sent == {"searches": 24}
    assert web.site.asked == []
    assert set(read_description(web.data.parent / "web").segments) == {"snippets"}


def test_fetching_without_a_provider_is_refused(web: SmallWeb) -> None:
    fetched(web)
    with pytest.raises(InputError, match="--provider"):
        fetched(web, providers=())


def test_the_summary_is_plain(web: SmallWeb) -> None:
    told = json.loads(json.dumps(summary_of(fetched(web), options_for(web))))
    assert (told["claims"], told["searches"], told["pages"], told["failures"]) == (24, 24, 7, 1)


def test_a_provider_that_refused_for_good_is_told_and_the_next_one_searched(
    web: SmallWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    with searching(LoopbackSearch(always=Misbehaviour(403))) as refusing:
        addresses = {"wikipedia": web.engine.url}
        chain = open_provider(("searxng", "wikipedia"), searxng_url=refusing.url, addresses=addresses)
        monkeypatch.setattr("localfact.methods.web.open_provider", lambda *_, **__: chain)
        web.data.write_text(web.data.read_text().splitlines(keepends=True)[0])
        done = fetched(web, evidence="snippet", claims="extract")
    assert (done.sent["searches"], done.failed) == (4, False)
    assert any("searxng" in problem and "JSON" in problem for problem in done.problems)
