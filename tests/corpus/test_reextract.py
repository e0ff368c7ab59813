"""Pages are made anew from the archive: from answers that gave a page or should have, and from nothing else."""

import gzip
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from localfact.corpus import reextract as module
from localfact.corpus.corpus import read_recorded_id
from localfact.corpus.reextract import Reextracted, body_of, is_extractable, reextract
from localfact.corpus.store import Fetch
from localfact.corpus.writer import CorpusWriter
from localfact.web.archiving.archive import Location
from localfact.web.extracting.extractors import Extractors
from localfact.web.fetching.exchange import Exchange
from localfact.web.fetching.failures import PageError, PageFailure, Reason
from localfact.web.pages import Page
from localfact.web.searching.results import Search

HTML = (("Content-Type", "text/html"),)
TEXT = (
    b"<html><body><article><p>The lighthouse on Cape Orm is made of red granite, cut on the island.</p></article></body></html>"
)
HERE = Location(file="pages-00001.warc.gz", offset=7, length=9)


def exchange(link: str, status: int = 200, payload: bytes = TEXT) -> Exchange:
    return Exchange(url=link, time=datetime(2026, 1, 1, tzinfo=UTC), status=status, headers=HTML, payload=payload)


def fetch(link: str, text: str | None, reason: Reason = Reason.NO_TEXT, final: str | None = None) -> Fetch:
    page = Page(link=final or link, text=text, provider="web") if text is not None else None
    failure = PageFailure(reason=reason) if text is None else None
    return Fetch(link=link, final_link=final or link, time="now", page=page, failure=failure)


async def again(writer: CorpusWriter) -> Reextracted:
    with Extractors(1) as extractors:
        return await reextract(writer, extractors, lambda done, total: None)


@pytest.mark.slow
async def test_pages_change_are_gained_and_stay_where_their_answer_gives_no_text(tmp_path: Path) -> None:
    fetches = {
        fetch("https://a.example/changed", "An older text."): exchange("https://a.example/changed"),
        fetch("https://a.example/gained", None): exchange("https://a.example/gained"),
        fetch("https://a.example/empty", "What was there."): exchange("https://a.example/empty", payload=b""),
        fetch("https://a.example/moved", "Old.", final="https://b.example/"): exchange("https://b.example/"),
    }
    with CorpusWriter(tmp_path / "web", None) as writer:
        writer.add_search(Search(query="orm", count=5, provider="searxng", time="now"))
        for one, answer in fetches.items():
            writer.add_fetch(one, [answer], answer)
        before = writer.finish(("pages",)).id
        assert await again(writer) == Reextracted(answers=4, changed=2, gained=1, failed=1)
        pages = {one.link: one.page for one in writer.store.fetches()}
        granite = "The lighthouse on Cape Orm is made of red granite, cut on the island."
        assert {link: page.text for link, page in pages.items() if page is not None} == {
            "https://a.example/changed": granite,
            "https://a.example/gained": granite,
            "https://a.example/empty": "What was there.",
            "https://a.example/moved": granite,
        }
        moved = pages["https://a.example/moved"]
        assert moved is not None
        assert moved.link == "https://b.example/", "a page is known by the address that gave it"
        changed = writer.finish(("pages",)).id
        assert before != changed == read_recorded_id(tmp_path / "web")
        assert await again(writer) == Reextracted(answers=4, failed=1)
        assert writer.finish(("pages",)).id == changed, "nothing was replaced"


async def test_of_the_pages_to_come_no_more_than_their_links_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[object] = []

    async def held(links: Sequence[object], *_: object) -> None:
        taken.extend(links)

    monkeypatch.setattr(module, "for_each", held)
    with CorpusWriter(tmp_path / "web", None) as writer:
        writer.add_fetch(fetch("l", "Text."), [answer := exchange("l")], answer)
        await again(writer)
    assert taken == ["l"]


async def test_an_answer_that_is_no_page_never_becomes_one(tmp_path: Path) -> None:
    missing, robots = exchange("https://a.example/", 404), exchange("https://a.example/robots.txt")
    with CorpusWriter(tmp_path / "web", None) as writer:
        writer.add_fetch(fetch("https://a.example/", None), [missing], missing)
        writer.add_fetch(fetch("https://a.example/slow", None, Reason.TIMED_OUT), [robots])
        assert await again(writer) == Reextracted(answers=1, failed=1)
        assert list(writer.store.pages()) == []


def test_only_what_extraction_withheld_is_tried_again() -> None:
    here = fetch("l", None).model_copy(update={"location": HERE})
    assert is_extractable(here)
    assert is_extractable(fetch("l", "Text.").model_copy(update={"location": HERE}))
    assert not is_extractable(fetch("l", None))
    assert not is_extractable(fetch("l", None, Reason.HTTP_STATUS).model_copy(update={"location": HERE}))


def test_a_body_is_decoded_and_one_that_is_not_whole_or_no_page_is_refused() -> None:
    packed = Exchange(
        **{**vars(exchange("l", 203)), "payload": gzip.compress(TEXT), "headers": (("Content-Encoding", "gzip"),)}
    )
    assert body_of(packed) == TEXT
    for bad in ({"status": 404}, {"status": 304}, {"truncated": "length"}, {"payload": packed.payload[:20]}):
        with pytest.raises(PageError):
            body_of(Exchange(**{**vars(packed), **bad}))
