"""What is searched and fetched is kept, once, and read back as it was; order, time and kills decide nothing."""

import random
import sqlite3
import threading
from array import array
from contextlib import closing
from pathlib import Path

import pytest

from localfact.corpus import recorder as module
from localfact.corpus.known_pages import from_first_new
from localfact.corpus.passages import PassageKind, passages_of
from localfact.corpus.recorder import Recorder
from localfact.corpus.store import Fetch, PageStore
from localfact.errors import CorpusError
from localfact.records import Passage
from localfact.runtime.sqlite import connect
from localfact.web.archiving.archive import Location
from localfact.web.fetching.failures import PageFailure, Reason
from localfact.web.pages import Page
from localfact.web.searching.results import Search, SearchResult, address

LINK = "https://norvik.example/harbour"
PAGE = Page(link=LINK, title="Harbour", text="The harbour was dredged in 1884.", date="2020-01-01", provider="web")


def search(query: str = "harbour", count: int = 5, provider: str = "searxng", links: tuple[str, ...] = (LINK,)) -> Search:
    results = tuple(
        SearchResult(title=f"T{rank}", link=link, snippet=f"{query}: snippet {rank}", rank=rank, provider=provider)
        for rank, link in enumerate(links, start=1)
    )
    return Search(query=query, count=count, provider=provider, time="2026-01-01T00:00:00+00:00", results=results)


def texts(recorder: Recorder, kind: PassageKind) -> list[str]:
    """Of the passages that were cut into that kind."""
    with recorder.store().reader() as reader:
        return list(reader.texts_of(reader.passage_ids(kind)).values())


def fetch(link: str = LINK, page: Page | None = PAGE, reason: Reason = Reason.TIMED_OUT) -> Fetch:
    failure = None if page is not None else PageFailure(reason=reason, detail="30 s")
    location = Location(file="pages-00001.warc.gz", offset=7, length=9)
    return Fetch(link=link, final_link=link, time="now", page=page, failure=failure, location=location)


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return Recorder(tmp_path / "corpus.sqlite")


def test_a_search_is_read_back_as_it_was_found(recorder: Recorder) -> None:
    recorder.add_search(search())
    assert recorder.store().search("harbour", 5) == search()
    assert recorder.store().search("other", 5) is None


def test_a_search_without_results_is_recorded_as_one(recorder: Recorder) -> None:
    recorder.add_search(search(links=()))
    found = recorder.store().search("harbour", 3)
    assert found is not None
    assert found.results == ()


def test_fewer_results_than_were_asked_for_are_the_first_ones_and_more_were_not_asked(recorder: Recorder) -> None:
    links = tuple(f"https://norvik.example/{number}" for number in range(5))
    recorder.add_search(search(count=5, links=links))
    found = recorder.store().search("harbour", 3)
    assert found is not None
    assert [result.link for result in found.results] == list(links[:3])
    assert recorder.store().search("harbour", 6) is None


def test_a_longer_search_later_changes_nothing_for_the_shorter_one(recorder: Recorder) -> None:
    recorder.add_search(search(count=3, links=("https://a.example/", "https://b.example/")))
    recorder.add_search(search(count=9, links=("https://c.example/",)))
    shorter, longer = (recorder.store().search("harbour", count) for count in (2, 4))
    assert shorter is not None
    assert longer is not None
    assert [result.link for result in shorter.results] == ["https://a.example/", "https://b.example/"]
    assert [result.link for result in longer.results] == ["https://c.example/"]


def test_the_first_answer_to_a_query_stands(recorder: Recorder) -> None:
    recorder.add_search(search(provider="searxng"))
    recorder.add_search(search(provider="serper", links=("https://other.example/",)))
    found = recorder.store().search("harbour", 5)
    assert found is not None
    assert (found.provider, found.results[0].link) == ("searxng", LINK)


def test_a_fetched_page_and_a_failure_are_read_back_with_their_place_in_the_archive(recorder: Recorder) -> None:
    recorder.add_fetch(fetch())
    recorder.add_fetch(fetch("https://norvik.example/slow", None))
    assert recorder.store().fetch(LINK) == fetch()
    missed = recorder.store().fetch("https://norvik.example/slow")
    assert missed is not None
    assert str(missed.failure) == "timed out: 30 s"
    assert recorder.store().fetch("https://norvik.example/never") is None
    assert recorder.store().failures() == {"timed_out": 1}
    assert recorder.store().counts() == {"pages": 1, "searches": 0, "failures": 1}


def test_a_fetched_page_is_of_whoevers_search_found_it(recorder: Recorder) -> None:
    recorder.add_fetch(fetch())
    recorder.add_search(search("one", provider="serper"))
    recorder.add_search(search("two", provider="brave"))
    (page,) = recorder.store().pages()
    assert page.provider == "brave"


def test_a_snippet_stands_in_for_a_page_that_could_not_be_had_and_goes_when_it_could(recorder: Recorder) -> None:
    recorder.add_search(search())
    recorder.add_fetch(fetch(page=None))
    recorder.cut("pages")
    assert texts(recorder, "pages") == ["harbour: snippet 1"]
    recorder.add_fetch(fetch())
    recorder.cut("pages")
    recorder.cut("snippets")
    assert texts(recorder, "pages") == [PAGE.text]
    assert texts(recorder, "snippets") == ["harbour: snippet 1"]


def test_a_page_is_there_once_however_often_it_is_added(recorder: Recorder) -> None:
    pages = [Page(link=str(number), text=f"Text {number}.") for number in range(1_500)]
    assert recorder.add_pages(pages) == 1_500
    assert recorder.add_pages([*pages[:10], Page(link="0", text="Another text.")]) == 1
    assert recorder.store().page_at("7") == pages[7]
    assert recorder.store().page_at("x") is None


def test_a_page_that_several_brought_is_one_and_of_the_first_of_them_by_name(tmp_path: Path) -> None:
    brought = [PAGE.model_copy(update={"provider": provider}) for provider in ("web", "local", "zim")]
    for order in (brought, brought[::-1]):
        recorder = Recorder(tmp_path / f"{order[0].provider}.sqlite")
        assert [recorder.add_pages([page]) for page in order] == [1, 0, 0]
        assert list(recorder.store().pages()) == [brought[1]]
        recorder.close()


def test_a_page_put_in_the_place_of_another_takes_its_passages_with_it(recorder: Recorder) -> None:
    recorder.add_pages([PAGE.model_copy(update={"provider": "local"})])
    recorder.add_fetch(fetch())
    recorder.cut("chunks")
    better = PAGE.model_copy(update={"text": "It was dredged by Tilda Brandt."})
    recorder.replace_page(LINK, better)
    recorder.cut("chunks")
    found = recorder.store().fetch(LINK)
    assert found is not None
    assert found.page == better
    assert sorted(texts(recorder, "chunks")) == sorted([better.text, PAGE.text]), "the imported page stays"


def test_a_cut_that_is_killed_keeps_what_was_cut(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAGES_CUT_AT_ONCE", 10)
    pages = [Page(link=str(number), text=f"Text {number}.") for number in range(35)]
    recorder.add_pages(pages)
    cut: list[str] = []

    def killing(page: Page, kind: PassageKind) -> list[Passage]:
        if len(cut) == 25:
            raise KeyboardInterrupt
        cut.append(page.link)
        return passages_of(page, kind)

    monkeypatch.setattr(module, "passages_of", killing)
    with pytest.raises(KeyboardInterrupt):
        recorder.cut("pages")
    with recorder.store().reader() as reader:
        assert len(reader.passage_ids("pages")) == 20
    cut.clear()
    recorder.cut("pages")
    assert cut == [page.link for page in pages[20:]]
    with recorder.store().reader() as reader:
        found = reader.texts_of(reader.passage_ids("pages"))
    assert sorted(found.values()) == sorted(page.text for page in pages)


def test_pages_that_are_there_are_left_out_up_to_the_first_that_is_not(tmp_path: Path, recorder: Recorder) -> None:
    pages = [Page(link=str(number), text=f"Text {number}.") for number in range(9)]
    recorder.add_pages(pages[:4])
    for given, left in ((pages[:4], []), ([*pages[:6], pages[0]], [*pages[4:6], pages[0]])):
        known = array("q")
        assert list(from_first_new(tmp_path / "corpus.sqlite", iter(given), known)) == left
        assert len(known) == 4


def test_the_digest_depends_on_content_and_on_neither_order_nor_time(tmp_path: Path) -> None:
    steps = [
        lambda recorder: recorder.add_search(search("one")),
        lambda recorder: recorder.add_search(search("two", links=(LINK, "https://b.example/"))),
        lambda recorder: recorder.add_fetch(fetch()),
        lambda recorder: recorder.add_fetch(fetch("https://b.example/", None)),
        lambda recorder: recorder.add_pages([Page(link="x", text="X.")]),
    ]
    digests = set()
    for seed in range(6):
        recorder = Recorder(tmp_path / f"{seed}.sqlite")
        for step in random.Random(seed).sample(steps, len(steps)):
            step(recorder)
        recorder.add_search(search("one").model_copy(update={"time": "later"}))
        digests.add(recorder.store().digest())
        recorder.close()
        assert PageStore(tmp_path / f"{seed}.sqlite").digest() in digests, "the same when it is a finished file"
    assert len(digests) == 1
    other = Recorder(tmp_path / "0.sqlite")
    other.add_pages([Page(link="y", text="Y.")])
    assert other.store().digest() not in digests


def test_a_closed_file_has_no_others_beside_it(tmp_path: Path, recorder: Recorder) -> None:
    recorder.add_pages([PAGE])
    recorder.close()
    assert [file.name for file in tmp_path.iterdir()] == ["corpus.sqlite"]


def test_closing_waits_for_a_reader_that_an_interrupted_search_left_behind(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "store.sqlite")
    recorder.add_pages([Page(text="Ice floats.", link="https://a.example")])
    reader = connect(f"{(tmp_path / 'store.sqlite').as_uri()}?mode=ro")
    reader.execute("SELECT * FROM pages").fetchall()  # while it is open, the log cannot end
    with closing(connect((tmp_path / "store.sqlite").as_uri())) as other, pytest.raises(sqlite3.OperationalError):
        other.execute("PRAGMA journal_mode = DELETE")  # whoever does not wait
    later = threading.Timer(0.3, reader.close)
    later.start()
    recorder.close()
    later.join()
    assert [file.name for file in tmp_path.iterdir()] == ["store.sqlite"]


def test_a_file_of_noise_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "corpus.sqlite").write_bytes(b"?" * 5_000)
    with pytest.raises(CorpusError, match="is damaged"):
        Recorder(tmp_path / "corpus.sqlite")


@pytest.mark.parametrize(
    ("link", "same"),
    [
        ("HTTPS://Norvik.Example/Harbour#quay", "https://norvik.example/Harbour"),
        ("https://norvik.example", "https://norvik.example/"),
        (" https://norvik.example/?q=1#x ", "https://norvik.example/?q=1"),
        ("https://[broken/", "https://[broken/"),
    ],
)
def test_one_page_has_one_address_however_it_is_written(link: str, same: str) -> None:
    assert address(link) == same
