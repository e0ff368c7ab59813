"""What is searched and fetched makes a corpus evidence: it has an id, and each answer is where the store says it is."""

import shutil
from pathlib import Path

import pytest
from puffins import LINK, SEARCH, exchange

from localfact.corpus.build import build_corpus
from localfact.corpus.corpus import Corpus, read_description, read_recorded_id
from localfact.corpus.store import Fetch
from localfact.corpus.verify import verify
from localfact.corpus.writer import CorpusWriter
from localfact.web.archiving.archive import Location
from localfact.web.archiving.warc_reading import read_warc
from localfact.web.fetching.exchange import Exchange
from localfact.web.fetching.failures import PageFailure, Reason
from localfact.web.pages import Page


def test_a_corpus_has_an_id_once_searches_are_recorded_and_keeps_it_where_it_is_carried(tmp_path: Path) -> None:
    assert read_recorded_id(tmp_path / "web") is None
    with CorpusWriter(tmp_path / "web", None, identity="planned") as writer:
        writer.add_search(SEARCH)
        description = writer.finish(("pages",))
    assert description.id == "planned"
    assert (description.searches, description.pages) == (1, 0)
    shutil.copytree(tmp_path / "web", tmp_path / "carried")
    assert read_recorded_id(tmp_path / "carried") == "planned"
    ((passage, _),) = Corpus.open(tmp_path / "carried", None).search("puffins", "pages", 5)
    assert (passage.text, passage.provider) == ("Puffins nest.", "searxng")


def test_an_id_is_random_kept_while_a_corpus_grows_and_another_when_pages_are_replaced(tmp_path: Path) -> None:
    ids = []
    for name in ("one", "two"):
        with CorpusWriter(tmp_path / name, None) as writer:
            writer.add_search(SEARCH)
            writer.add_fetch(Fetch(link=LINK, final_link=LINK, time="now", page=Page(link=LINK, text="Puffins.")))
            ids.append(writer.finish(("pages",)).id)
    with CorpusWriter(tmp_path / "one", None, identity="of nobody") as writer:
        writer.add_pages([Page(link="x", text="X.")])
        ids.append(read_recorded_id(tmp_path / "one"))
        assert writer.finish(("pages",)).id == ids[0] == ids[2]
        for text in ("Puffins nest.", "Puffins nest again."):
            writer.replace_page(LINK, Page(link=LINK, text=text))
            ids.append(read_recorded_id(tmp_path / "one"))
        assert writer.finish(("pages",)).id == ids[3] == ids[4]
        writer.replace_page(LINK, Page(link=LINK, text="Puffins do not nest."))
        ids.append(writer.finish(("pages",)).id)
    assert None not in ids
    assert len(set(ids)) == 4


def test_a_corpus_has_no_id_before_a_search_is_recorded_unless_one_is_given(tmp_path: Path, pages: list[Page]) -> None:
    with CorpusWriter(tmp_path / "corpus", None) as writer:
        writer.add_pages(pages)
        assert read_recorded_id(tmp_path / "corpus") is None
        assert writer.finish(("pages",)).id is None
        writer.add_search(SEARCH)
        assert writer.finish(("pages",)).id is not None


def test_a_given_id_is_kept_from_the_opening_on_although_nothing_was_found(tmp_path: Path, pages: list[Page]) -> None:
    build_corpus(pages, tmp_path / "built", None)
    before = read_description(tmp_path / "built")
    shutil.copytree(tmp_path / "built", tmp_path / "killed")
    with CorpusWriter(tmp_path / "killed", None) as writer:
        writer.add_pages([Page(link="x", text="X.")])
    CorpusWriter(tmp_path / "killed", None, identity="planned").close()
    assert read_description(tmp_path / "killed").unfinished
    for name in ("built", "new"):
        CorpusWriter(tmp_path / name, None, identity="planned").close()
        assert read_recorded_id(tmp_path / name) == "planned", "a run that is killed here is known by its corpus"
        with CorpusWriter(tmp_path / name, None, identity="another") as writer:
            assert writer.finish(("pages",)).id == "planned"
    assert read_description(tmp_path / "built") == before.model_copy(update={"id": "planned"})


def test_a_fetch_is_where_its_answer_is_whatever_else_was_exchanged(tmp_path: Path) -> None:
    robots, first, answer, last = (exchange(f"https://bird.example/{name}") for name in ("robots.txt", "1", "2", "3"))
    fetch = Fetch(link=LINK, final_link=LINK, time="now", page=Page(link=LINK, text="Puffins."))
    missed = Fetch(link="m", final_link="m", time="now", failure=PageFailure(reason=Reason.TIMED_OUT))
    with CorpusWriter(tmp_path / "corpus", None) as writer:
        writer.add_fetch(fetch, [robots, first, answer, last], answer)
        found = writer.store.fetch(LINK)
        assert found is not None
        assert found.location is not None
        assert writer.archive.read(found.location) == answer
        writer.add_fetch(missed, [robots])
        unanswered = writer.store.fetch("m")
        assert unanswered is not None
        assert unanswered.location is None
        with pytest.raises(ValueError, match="not among"):
            writer.add_fetch(fetch, [robots], exchange(robots.url))
        writer.finish(("pages",))
    (file,) = (tmp_path / "corpus" / "pages").iterdir()
    read = [entry.url for entry in read_warc(file) if isinstance(entry, Exchange)]
    assert read == [each.url for each in (robots, first, answer, last, robots)], "all are archived"
    assert verify(Corpus.open(tmp_path / "corpus", None)) == []


def test_verify_reads_every_answer_where_the_store_says_it_is(tmp_path: Path) -> None:
    wrong = Location(file="pages-00001.warc.gz", offset=7, length=9)
    fetch = Fetch(link=LINK, final_link=LINK, time="now", page=Page(link=LINK, text="Puffins."))
    with CorpusWriter(tmp_path / "corpus", None) as writer:
        writer.add_fetch(fetch, [answer := exchange(LINK)], answer)
        writer._recording().add_fetch(fetch.model_copy(update={"location": wrong}))
        writer.finish(("pages",))
    (problem,) = verify(Corpus.open(tmp_path / "corpus", None))
    assert LINK in problem
    assert "byte 7" in problem
