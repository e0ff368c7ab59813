"""Texts of passages are read from the store as they are asked for: ahead where all are, singly where few are."""

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from localfact.corpus import passage_texts
from localfact.corpus.indexing.index import Index
from localfact.corpus.indexing.segments import Segments
from localfact.corpus.passage_reader import PassageReader
from localfact.corpus.passage_texts import PassageTexts
from localfact.corpus.recorder import Recorder
from localfact.corpus.store import PageStore
from localfact.errors import CorpusError
from localfact.web.pages import Page


@pytest.fixture
def store(tmp_path: Path) -> PageStore:
    recorder = Recorder(tmp_path / "corpus.sqlite")
    recorder.add_pages(Page(link=str(number), text=f"Fact {number} of {number % 7}.") for number in range(300))
    recorder.cut("pages")
    recorder.close()
    return PageStore(tmp_path / "corpus.sqlite")


@pytest.fixture
def reader(store: PageStore) -> Iterator[PassageReader]:
    with store.reader() as opened:
        yield opened


def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many texts each reading of the store asks for, as it happens."""
    asked: list[int] = []
    texts_of = PassageReader.texts_of

    def counted(self: PassageReader, ids: Sequence[str]) -> dict[str, str]:
        asked.append(len(ids))
        return texts_of(self, ids)

    monkeypatch.setattr(PassageReader, "texts_of", counted)
    return asked


def test_it_is_the_mapping_of_all_texts_read_ahead_within_bounds(
    store: PageStore, reader: PassageReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passage_texts, "MOST_AHEAD", 50)
    asked = read(monkeypatch)
    texts = PassageTexts(reader, "pages")
    assert (len(texts), asked) == (300, [])
    assert dict(texts) == {passage.id: passage.text for passage in store.passages(texts).values()}
    assert list(texts) == sorted(texts)
    assert max(asked) == 50
    assert sum(asked) == 300
    assert len(asked) < 15


def test_who_asks_for_few_has_few_read(reader: PassageReader, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = PassageTexts(reader, "pages")
    some = list(texts)[5::40]
    asked = read(monkeypatch)
    assert [texts[passage] for passage in some] == list(reader.texts_of(some).values())
    assert asked[:-1] == [1] * len(some)


def test_a_passage_that_is_none_or_has_no_text_is_told(tmp_path: Path, reader: PassageReader) -> None:
    texts = PassageTexts(reader, "pages")
    with pytest.raises(KeyError):
        texts["nothing"]
    with sqlite3.connect(tmp_path / "corpus.sqlite") as database:
        database.execute("DELETE FROM passages WHERE id = ?", (min(texts),))
    database.close()
    with pytest.raises(CorpusError, match="lacks texts"):
        texts[min(texts)]


def test_an_index_over_it_is_that_over_all_texts_at_once(tmp_path: Path, reader: PassageReader) -> None:
    texts = PassageTexts(reader, "pages")
    Segments(tmp_path / "segments", "pages").add(texts, None)
    grown, at_once = Segments(tmp_path / "segments", "pages").open(dense=False), Index.of(dict(texts), None)
    assert grown.search("fact 7", None, 20) == at_once.search("fact 7", None, 20)
