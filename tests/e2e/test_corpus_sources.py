"""What other tools collected comes into a corpus through the command line: wget's WARC, FActScore's Wikipedia, ZIM, folders."""

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import CommandLine
from loopback_pages import LoopbackPages, island, serving

from localfact.corpus.store import Fetch
from localfact.corpus.writer import CorpusWriter
from localfact.web.pages import Page
from localfact.web.searching.results import Search, SearchResult

NONE = ("--embedder", "none")


@pytest.fixture
def site() -> Iterator[LoopbackPages]:
    with serving(LoopbackPages(["127.0.0.2"])) as site:
        yield site


def links(corpus: Path, localfact: CommandLine, query: str) -> list[str]:
    found = json.loads(localfact("corpus", "search", corpus, query, "--passages", "pages", "--json", *NONE).stdout)
    return [link for passage in found for link in passage["links"]]


@pytest.fixture
def corpus(localfact: CommandLine, tmp_path: Path) -> Path:
    (tmp_path / "pages.jsonl").write_text(json.dumps({"url": "https://a.example/", "text": "Puffins nest on cliffs."}) + "\n")
    assert localfact("corpus", "build", "pages.jsonl", "--out", "corpus", *NONE).returncode == 0
    return tmp_path / "corpus"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("wget") is None, reason="wget is not installed")
def test_a_warc_made_by_wget_is_added(localfact: CommandLine, corpus: Path, site: LoopbackPages, tmp_path: Path) -> None:
    wget = ("wget", "--quiet", "--tries=1", "--warc-file=saved", "--delete-after", "-e", "robots=off")
    subprocess.run([*wget, site.url("/article/3"), site.url("/article/4")], cwd=tmp_path, check=True, timeout=60)
    added = localfact("corpus", "add", corpus, "saved.warc.gz", "--json", *NONE)
    assert added.returncode == 0, added.stderr
    told = json.loads(added.stdout)
    assert (told["added"], told["pages"]) == (2, 3)
    assert links(corpus, localfact, f"the lighthouse of {island('127.0.0.2', 3)}")[0] == site.url("/article/3")
    again = json.loads(localfact("corpus", "add", corpus, "saved.warc.gz", "--json", *NONE).stdout)
    assert (again["added"], again["content"]) == (0, told["content"])
    assert localfact("corpus", "verify", corpus).returncode == 0


def test_factscores_wikipedia_is_added(localfact: CommandLine, corpus: Path, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "wiki.db") as database:
        database.execute("CREATE TABLE documents (title PRIMARY KEY, text)")
        text = "Ada Orm kept the lighthouse.####SPECIAL####SEPARATOR####She was born in 1840."
        database.execute("INSERT INTO documents VALUES ('Ada Orm', ?)", (text,))
    database.close()
    added = localfact("corpus", "add", corpus, "wiki.db", "--json", *NONE)
    assert json.loads(added.stdout)["added"] == 1, added.stderr
    assert links(corpus, localfact, "Who kept the lighthouse?")[0] == "https://en.wikipedia.org/wiki/Ada_Orm"


@pytest.mark.slow
def test_a_zim_file_is_added(localfact: CommandLine, corpus: Path, tmp_path: Path) -> None:
    pytest.importorskip("libzim")
    from libzim.writer import Creator, Hint, Item, StringProvider

    class Article(Item):
        def get_path(self) -> str:
            return "Halla"

        def get_title(self) -> str:
            return "Halla"

        def get_mimetype(self) -> str:
            return "text/html"

        def get_contentprovider(self) -> StringProvider:
            return StringProvider("<html><body><p>In Halla wool is spun in a mill by the river.</p></body></html>")

        def get_hints(self) -> dict[Hint, int]:
            return {Hint.FRONT_ARTICLE: 1}

    with Creator(tmp_path / "norvik.zim") as creator:
        creator.add_item(Article())
    added = localfact("corpus", "add", corpus, "norvik.zim", "--json", *NONE)
    assert json.loads(added.stdout)["added"] == 1, added.stderr
    assert links(corpus, localfact, "Where is wool spun?")[0].endswith("Halla")


@pytest.mark.slow
def test_what_cannot_be_read_is_told_and_passed_over(localfact: CommandLine, corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "rows.jsonl").write_text(
        '{"url": "https://b.example/", "text": "Orm is a cape."}\n{broken\n{"url": "x"}\n'
    )
    (tmp_path / "more" / "page.html").write_text("<html><body><p>The storm of 1901 took the roof.</p></body></html>")
    added = localfact("corpus", "add", corpus, "more", "--json", *NONE)
    assert added.returncode == 0, added.stderr
    told = json.loads(added.stdout)
    assert (told["added"], told["passed_over"]) == (2, 2)
    assert "rows.jsonl, line 2" in added.stderr


def test_pages_are_added_to_a_corpus_that_is_there_and_to_no_other(localfact: CommandLine, corpus: Path) -> None:
    missing = localfact("corpus", "add", "nowhere", "pages.jsonl")
    assert missing.returncode == 3
    assert "localfact corpus build" in missing.stderr


def test_a_source_that_cannot_be_read_leaves_a_finished_corpus_as_it_is(
    localfact: CommandLine, corpus: Path, tmp_path: Path
) -> None:
    before = (corpus / "corpus.yaml").read_bytes()
    (tmp_path / "more.jsonl").write_text(json.dumps({"url": "https://b.example/", "text": "Orm is a cape."}) + "\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "other.db").write_bytes(b"SQLite format 3\x00 damaged")
    for bad, code in (("nosuch.jsonl", 3), ("empty", 2), ("other.db", 2)):
        assert localfact("corpus", "add", corpus, "more.jsonl", bad, *NONE).returncode == code
        assert localfact("corpus", "build", "more.jsonl", bad, "--out", "never", *NONE).returncode == code
    assert (corpus / "corpus.yaml").read_bytes() == before
    assert not (tmp_path / "never").exists()


def test_addresses_that_were_found_but_never_asked_for_are_counted(localfact: CommandLine, tmp_path: Path) -> None:
    links = [f"https://{name}.example/" for name in ("asked", "never", "neither")]
    results = tuple(
        SearchResult(title="Orm", link=link, snippet="Orm.", rank=rank, provider="searxng")
        for rank, link in enumerate(links, start=1)
    )
    with CorpusWriter(tmp_path / "web", None) as writer:
        writer.add_search(Search(query="orm", count=5, provider="searxng", time="now", results=results))
        page = Page(link=links[0], text="Orm is a cape.")
        writer.add_fetch(Fetch(link=links[0], final_link=links[0], time="now", page=page))
    assert json.loads(localfact("corpus", "merge", "web", "--json", *NONE).stdout)["never_asked_for"] == 2
    assert json.loads(localfact("corpus", "info", "web", "--json").stdout)["never_asked_for"] == 2


def test_a_further_kind_is_indexed_and_segments_are_merged_on_demand(localfact: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl").write_text(json.dumps({"url": "https://a.example/", "text": "Puffins nest on cliffs."}) + "\n")
    words = ("corpus", "build", "pages.jsonl", "--out", "corpus", "--passages", "pages", *NONE)
    assert localfact(*words).returncode == 0
    lacking = localfact("corpus", "search", "corpus", "puffins", "--passages", "chunks", *NONE)
    assert lacking.returncode == 2
    assert "corpus merge corpus --passages chunks" in lacking.stderr
    assert localfact("corpus", "merge", "corpus", "--passages", "chunks").returncode == 0
    assert localfact("corpus", "search", "corpus", "puffins", "--passages", "chunks", *NONE).returncode == 0
