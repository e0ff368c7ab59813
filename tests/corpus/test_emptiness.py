"""A corpus whose pages were all removed says so, with what to do, wherever it is looked into."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from localfact.cli.main import app
from localfact.corpus.build import build_corpus
from localfact.corpus.corpus import read_description
from localfact.corpus.emptiness import note_on_emptiness
from localfact.corpus.store import Fetch
from localfact.corpus.writer import CorpusWriter
from localfact.errors import InputError
from localfact.web.pages import WEB, Page
from localfact.web.searching.results import Search, SearchResult

LINK = "https://bird.example/puffins"
TOLD = (
    "All pages of the corpus corpus were removed: add some (localfact corpus add corpus PAGES), or remove the folder and "
    "build or fetch it again."
)
RESULT = SearchResult(title="Puffins", link=LINK, snippet="Puffins nest.", rank=1, provider="searxng")
SEARCH = Search(query="puffins", count=5, provider="searxng", time="2024-01-01T00:00:00+00:00", results=(RESULT,))


@pytest.fixture(params=["built", "fetched"])
def emptied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A corpus whose one page was removed."""
    monkeypatch.chdir(tmp_path)
    page = Page(link=LINK, text="Puffins nest.", provider=WEB)
    if request.param == "built":
        build_corpus([page], Path("corpus"), None)
    with CorpusWriter(Path("corpus"), None) as writer:
        if request.param == "fetched":
            writer.add_search(SEARCH)
            writer.add_fetch(Fetch(link=LINK, final_link=LINK, time="now", page=page))
            writer.finish(("pages", "chunks"))
        writer.remove([LINK])
        writer.finish(())
    return Path("corpus")


@pytest.mark.parametrize("words", [("info", "corpus"), ("verify", "corpus")])
def test_who_looks_at_it_is_told(emptied: Path, words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, ["corpus", *words])
    assert done.exit_code == 0
    assert TOLD in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    "words",
    [
        ("corpus", "export", "corpus", "--out", "out.jsonl"),
        ("corpus", "search", "corpus", "puffins"),
        ("eval", "--data", "data.jsonl", "--corpus", "corpus", "--embedder", "none", "--out", "run"),
    ],
    ids=["export", "search", "eval"],
)
def test_who_wants_something_of_it_is_refused_in_one_sentence(emptied: Path, words: tuple[str, ...]) -> None:
    Path("data.jsonl").write_text(json.dumps({"prompt": "Puffins?", "response": "Puffins nest."}))
    done = CliRunner().invoke(app, list(words))
    assert isinstance(done.exception, InputError), done.output
    assert str(done.exception) == TOLD
    assert not Path("out.jsonl").exists()


def test_it_is_filled_again_by_what_the_sentence_says(emptied: Path) -> None:
    Path("pages.jsonl").write_text(json.dumps({"url": LINK, "text": "Puffins have nested."}))
    assert CliRunner().invoke(app, ["corpus", "add", "corpus", "pages.jsonl"]).exit_code == 0
    assert CliRunner().invoke(app, ["corpus", "export", "corpus", "--out", "out.jsonl"]).exit_code == 0
    assert "Puffins have nested." in Path("out.jsonl").read_text()


def test_searches_that_found_nothing_are_something(tmp_path: Path) -> None:
    with CorpusWriter(tmp_path / "corpus", None) as writer:
        writer.add_search(SEARCH.model_copy(update={"results": ()}))
        writer.finish(("pages",))
    assert note_on_emptiness(tmp_path / "corpus", read_description(tmp_path / "corpus")) is None
