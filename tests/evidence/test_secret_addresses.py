"""What opens an address stays nowhere in a corpus: not from searches, redirects, archives, rows, passages, nor in messages."""

import gzip
import json
from pathlib import Path

import pytest
from loopback_pages import LoopbackPages, Reply, serving
from loopback_search import LoopbackSearch, Result
from loopback_search import serving as searching
from typer.testing import CliRunner
from warc_checks import PAGE, answer, record, zipped
from zim_files import Article, zim_file

from localfact.cli.main import app
from localfact.corpus.corpus import Corpus
from localfact.corpus.verify import verify
from localfact.corpus.writer import CorpusWriter
from localfact.evidence.web_collector import WebCollector
from localfact.inputs.responses import response_of
from localfact.web.archiving.archive import Archive
from localfact.web.extracting.extractors import Extractors
from localfact.web.fetching.fetch import Fetcher
from localfact.web.searching.providers import open_provider

SECRET = "s3cr3tvalue"
TEXT = "<html><body><p>The mill of Halla spins wool.</p></body></html>"


def kept_in(folder: Path) -> bytes:
    """Everything in the files of a folder, archives expanded; bodies of answers have no secret here."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    return b"".join(gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes() for file in files)


@pytest.mark.slow
async def test_what_is_searched_and_fetched_is_kept_without_what_opened_it(tmp_path: Path) -> None:
    pages = {
        "/page": Reply(TEXT.encode()),
        "/moved": Reply(
            f"<a href='/there?id=2&token={SECRET}'>It is there.</a>".encode(),
            status=302,
            headers=(
                ("Content-Location", f'/there?said="2"&token={SECRET}'),
                ("Location", f"/there?id=2&token={SECRET}"),
                ("Link", f'<http://u:{SECRET}@h.example/>; rel="next", </n?sig={SECRET}>; rel="up"'),
                ("Refresh", f"0; url=/there?id=2&access_token={SECRET}"),
            ),
        ),
        "/there": Reply(TEXT.replace("Halla", "Norvik").encode()),
        "/loop": Reply(status=302, headers=(("Location", f"/loop?sig={SECRET}"),)),
        "/far": Reply(status=302, headers=(("Location", f"ftp://u:{SECRET}@h.example/?password={SECRET}"),)),
    }
    with serving(LoopbackPages(("127.0.0.2",), pages=pages)) as site:
        links = [f"/page?id=1&api_key={SECRET}", f"/page?api_key=other{SECRET}&id=1", f"/moved?X-Amz-Signature={SECRET}&id=1"]
        results = [Result(f"R{path[:5]}", site.url(path), "Snippet.") for path in [*links, "/loop", "/far"]]
        with searching(LoopbackSearch({"*": results})) as engine, CorpusWriter(tmp_path / "web", None) as writer:
            provider = open_provider(("searxng",), searxng_url=engine.url)
            fetcher = Fetcher(host_delay=0, allow_hosts=("127.0.0.2",), robots=False, total_seconds=5)
            collector = WebCollector(writer, provider, fetcher, Extractors(1))
            await collector.collect("mills")
            await collector.aclose()
            writer.finish(("pages",))
        page, moved, there = (site.url(path) for path in ("/page?id=1", "/moved?id=1", "/there?id=2"))
    assert sum(asked.path.startswith("/page") for asked in site.asked) == 1, "two addresses of one page are one"
    corpus = Corpus.open(tmp_path / "web", None)
    assert verify(corpus) == []
    search = corpus.store.search("mills", 5)
    assert search is not None
    assert [result.link for result in search.results][:2] == [page, moved]
    fetches = {fetch.link: fetch for fetch in corpus.store.fetches()}
    found = {link: fetches[link] for link in (page, moved)}
    assert [fetch.page and fetch.page.link for fetch in found.values()] == [page, there]
    archive = Archive(tmp_path / "web" / "pages")
    assert [archive.read(fetch.location).url for fetch in found.values() if fetch.location] == [page, there]
    assert SECRET.encode() not in kept_in(tmp_path / "web")


def imported(folder: Path, source: Path) -> tuple[list[str], str]:
    """The links of the pages of a source, and what was said about it."""
    done = CliRunner().invoke(app, ["corpus", "build", str(source), "--out", str(folder), "--embedder", "none"])
    assert done.exit_code == 0, done.output
    assert SECRET.encode() not in kept_in(folder)
    with Corpus.open(folder, None) as corpus:
        return [page.link for page in corpus.store.pages()], done.output


def test_rows_are_kept_without_and_two_addresses_of_one_page_are_one(tmp_path: Path) -> None:
    links = [f"https://u:{SECRET}@h.example/?id=1", f"https://h.example/?id=1&sig={SECRET}", "https://h.example/?id=1"]
    rows = [json.dumps({"url": link, "text": "Mills."}) + "\n" for link in links]
    (tmp_path / "pages.jsonl").write_text("".join(rows))
    assert imported(tmp_path / "corpus", tmp_path / "pages.jsonl")[0] == [links[2]]
    words = ["corpus", "remove", str(tmp_path / "corpus"), links[1], "--json"]
    assert json.loads(CliRunner().invoke(app, words).stdout)["removed"] == 1


@pytest.mark.slow
def test_pages_of_other_tools_archives_are_kept_without_and_problems_told_without(tmp_path: Path) -> None:
    html = answer(PAGE, "Content-Type: text/html")
    link = f"https://good.example/?id=1&token={SECRET}"
    (tmp_path / "other.warc.gz").write_bytes(
        zipped(
            record("response", html, WARC_Target_URI=link),
            record("response", html, WARC_Target_URI=link, WARC_Date=""),
            record("response", answer(b"?"), WARC_Target_URI=link),
            record("response", html, WARC_Target_URI=f"http://u:{SECRET}@[oops/"),
        )
    )
    links, said = imported(tmp_path / "warc", tmp_path / "other.warc.gz")
    assert links == ["https://good.example/?id=1"]
    assert said.count("Passed over") == 3
    assert SECRET not in said
    entries = [Article(f"good.example/page?id=1&token={SECRET}", PAGE.decode())]
    zim_file(tmp_path / "site.zim", entries, metadata={"Scraper": "zimit 2.0"})
    links, said = imported(tmp_path / "zim", tmp_path / "site.zim")
    assert links == ["https://good.example/page%3Fid%3D1"]


def test_passages_that_come_with_a_response_are_kept_without() -> None:
    links = [f"https://u:{SECRET}@h.example/", f"https://h.example/?access_token={SECRET}"]
    for given in ({"links": links}, {"link": links[0]}, {"url": links[1]}):
        response = response_of({"response": "Mills spin.", "passages": [{"text": "Wool.", **given}]}, 1)
        assert response.evidence is not None
        (passage,) = response.evidence.passages
        assert passage.links == ("https://h.example/",)
        assert passage.host == "h.example"
