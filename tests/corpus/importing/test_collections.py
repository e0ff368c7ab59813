"""What other people collected, by kind: told by content, streamed in order, and no bad entry stops the rest."""

import gzip
import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from io import BytesIO
from pathlib import Path

import pytest
from pdf_files import lines_at, pdf
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from localfact.corpus.importing import collections, rows, workers
from localfact.corpus.importing.collections import check_source, import_pages
from localfact.corpus.importing.imported import Imported, Problem
from localfact.corpus.importing.kinds import CollectionKind, kind_of
from localfact.errors import InputError, MissingError
from localfact.web.pages import Page

ARTICLE = """<html><head><title>{0} light</title></head><body><nav>Home About</nav><article><h1>{0} light</h1><p>The lighthouse
on {0} is made of red granite, which was cut on the island itself and carried to the cape by ox cart over one long summer.</p>
<p>Its lamp was first lit on 3 May 1862, and the keeper wrote in his book that the night was clear and calm.</p></article>
<footer>All rights reserved</footer></body></html>"""


#: Says which processes it started, then waits in the middle of an import.
INTERRUPTED = """
import sys
from contextlib import closing
from pathlib import Path
from localfact.corpus.importing.collections import import_pages
try:
    with closing(import_pages(Path(sys.argv[1]))) as entries:
        for entry in entries:
            print(*(file.read_text() for file in Path("/proc/self/task").glob("*/children")), flush=True)
            sys.stdin.readline()
except KeyboardInterrupt:
    sys.exit(130)
"""


def child_processes() -> set[str]:
    return {number for file in Path("/proc/self/task").glob("*/children") for number in file.read_text().split()}


def imported(source: Path) -> list[Imported]:
    return list(import_pages(source))


def pages_of(entries: list[Imported]) -> list[Page]:
    assert [entry for entry in entries if isinstance(entry, Problem)] == []
    return [entry for entry in entries if isinstance(entry, Page)]


def wikipedia(file: Path, *titles: str) -> Path:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE documents (title PRIMARY KEY, text)")
        connection.executemany("INSERT INTO documents VALUES (?, ?)", [(title, f"<s>About {title}.</s>") for title in titles])
    return file


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("pages.jsonl", b"{broken\n", CollectionKind.ROWS),
        ("pages", b'\xef\xbb\xbf\n{"text": "x"}\n{"text"', CollectionKind.ROWS),
        ("pages.txt", b'{"url": "u", "text": "x"}', CollectionKind.ROWS),
        ("settings.json", b'{"url": "u"}', None),
        ("a.html", b"no markup", CollectionKind.HTML),
        ("a.txt", b"<!DOCTYPE html><p>x", CollectionKind.HTML),
        ("a", b"<?xml version='1.0'?>\n<html xmlns='x'>", CollectionKind.HTML),
        ("feed.xml", b"<?xml version='1.0'?><rss>", None),
        ("a.html", b"%PDF-1.7\n", CollectionKind.PDF),
        ("a.md", b"# Notes", CollectionKind.TEXT),
        ("a.dat", b"WARC/1.0\r\n", CollectionKind.WARC),
        ("a.gz", gzip.compress(b"WARC/1.1\r\n", mtime=0), CollectionKind.WARC),
        ("a.warc.gz", gzip.compress(b'{"text": "x"}', mtime=0), None),
        ("a.warc.gz", b"\x1f\x8b damaged", CollectionKind.WARC),
        ("a.gz", b"\x1f\x8b damaged", None),
        ("a.warc.zst", b"\x28\xb5\x2f\xfd", CollectionKind.WARC),
        ("a.warc", b"", CollectionKind.WARC),
        ("a.jsonl", b"SQLite format 3\x00", CollectionKind.FACTSCORE),
        ("a", b"ZIM\x04", CollectionKind.ZIM),
        ("a.png", b"\x89PNG", None),
        ("empty", b"", None),
    ],
)
def test_content_tells_the_kind_before_the_name_does(
    tmp_path: Path, name: str, content: bytes, kind: CollectionKind | None
) -> None:
    (tmp_path / name).write_bytes(content)
    assert kind_of(tmp_path / name) == kind


def test_a_file_of_unknown_kind_is_an_error_that_names_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG")
    with pytest.raises(InputError, match=r"no known kind. Known are JSON lines .*HTML, PDF.*WARC.*FActScore.*ZIM"):
        import_pages(tmp_path / "a.png")
    with pytest.raises(MissingError, match="There is no file or folder"):
        import_pages(tmp_path / "nothing")
    with pytest.raises(InputError, match="holds no pages"):
        imported(tmp_path)


def test_whether_a_source_can_be_read_is_known_before_anything_is_read_of_it(tmp_path: Path) -> None:
    (tmp_path / "folder" / "deep").mkdir(parents=True)
    (tmp_path / "other.db").write_bytes(b"SQLite format 3\x00 damaged")
    (tmp_path / "other.zim").write_bytes(b"ZIM\x04 damaged")
    with pytest.raises(MissingError, match="There is no file or folder"):
        check_source(tmp_path / "nothing")
    for bad, why in (("folder", "holds no pages"), ("other.db", "cannot be read as an SQLite database")):
        with pytest.raises(InputError, match=why):
            check_source(tmp_path / bad)
    with pytest.raises((InputError, MissingError), match=r"ZIM"):
        check_source(tmp_path / "other.zim")
    (tmp_path / "folder" / "deep" / "one.txt").write_text("One.")
    for good in (tmp_path / "folder", tmp_path / "folder" / "deep" / "one.txt", wikipedia(tmp_path / "wiki.db", "Orm")):
        check_source(good)


def test_json_lines_give_their_pages_and_problems_in_order(tmp_path: Path) -> None:
    lines = ['{"url": "u", "text": "One.", "date": "2020"}', "{broken", "", '{"text": "Two."}', "[1]", '{"url": "v"}']
    (tmp_path / "pages.jsonl").write_text("\n".join(lines))
    entries = imported(tmp_path / "pages.jsonl")
    assert [entry.link if isinstance(entry, Page) else entry.where for entry in entries] == [
        "u",
        "pages.jsonl, line 2",
        "pages.jsonl#4",
        "pages.jsonl, line 5",
        "pages.jsonl, line 6",
    ]


def test_a_line_too_long_is_told_and_the_next_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "MAX_ROW_BYTES", 100)
    long = json.dumps({"url": "long", "text": "x" * 1_000})
    exact = '{"url": "exact", "text": "' + "y" * (99 - 28) + '"}'
    assert len(exact) == 99
    (tmp_path / "pages.jsonl").write_text(f"{long}\n{exact}\n{long}\n" + '{"url": "last", "text": "z"}\n' + long)
    entries = imported(tmp_path / "pages.jsonl")
    assert [entry.link if isinstance(entry, Page) else entry.where for entry in entries] == [
        "pages.jsonl, line 1",
        "exact",
        "pages.jsonl, line 3",
        "last",
        "pages.jsonl, line 5",
    ]


@pytest.mark.slow
def test_an_html_file_gives_its_main_text_and_title(tmp_path: Path) -> None:
    (tmp_path / "light.html").write_text(ARTICLE.format("Cape Orm"))
    (page,) = pages_of(imported(tmp_path / "light.html"))
    assert (page.link, page.title, page.provider) == ("light.html", "Cape Orm light", "local")
    assert "3 May 1862" in page.text
    assert "Home About" not in page.text


@pytest.mark.slow
def test_a_folder_is_read_in_the_order_of_its_paths_whatever_kinds_it_holds(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "a.html").write_text(ARTICLE.format("Orm"))
    (tmp_path / "b" / "one.txt").write_text("\ufeffOne lamp was lit.")
    wikipedia(tmp_path / "b" / "two.db", "Orm", "Halla")
    (tmp_path / "c.jsonl").write_text('{"text": "Row."}\n')
    (tmp_path / "d.png").write_bytes(b"\x89PNG")
    (tmp_path / "e.db").write_bytes(b"SQLite format 3\x00 damaged")
    (tmp_path / "f.html").write_text("<html></html>")
    (tmp_path / "g.txt").write_text("Last of all.")
    (tmp_path / "h.json").write_text('[{"text": "No line of JSON."}]')
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "hidden.txt").write_text("Not a page.")
    entries = imported(tmp_path)
    assert [entry.link if isinstance(entry, Page) else entry.where for entry in entries] == [
        "a.html",
        "b/one.txt",
        "https://en.wikipedia.org/wiki/Orm",
        "https://en.wikipedia.org/wiki/Halla",
        "c.jsonl#1",
        "e.db",
        "f.html",
        "g.txt",
        tmp_path.name,
    ]
    assert str(entries[-1]) == f"{tmp_path.name}: 2 files are of no known kind (1 .png, 1 .json)."
    (text,) = [entry for entry in entries if isinstance(entry, Page) and entry.link == "b/one.txt"]
    assert (text.title, text.text) == ("one", "One lamp was lit.")


@pytest.mark.slow
@pytest.mark.parametrize("waiting", [0.5, 2, 50])
def test_pages_come_in_order_although_several_are_extracted_at_once(
    tmp_path: Path, waiting: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "MAX_WAITING", waiting)
    # The first page takes longest.
    for number in range(12):
        body = ARTICLE.format(f"Cape {number}")
        (tmp_path / f"{number:02}.html").write_text(
            body.replace("<p>", "<p>One more lamp was lit. " * (400 if not number else 1))
        )
    assert [page.link for page in pages_of(imported(tmp_path))] == [f"{number:02}.html" for number in range(12)]


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"<html></html>", b"\x00\xff\xfe", b"<div>" * 20_000, b"%PDF-1.7 nothing"])
def test_a_document_without_text_is_told_and_stops_nobody(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.html").write_bytes(content)
    (tmp_path / "good.txt").write_text("Good.")
    bad, good = imported(tmp_path)
    assert isinstance(bad, Problem)
    assert bad.where == "bad.html"
    assert isinstance(good, Page)


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"<div>" * 20_000, b"<svg><html><body><p>Some text.</p>", b"GIF89a\x01\x00"])
def test_a_document_without_text_is_told_once_and_not_through_the_log_too(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.html").write_bytes(content)
    assert len(imported(tmp_path)) == 1
    assert [record for record in caplog.records if record.name.startswith("trafilatura")] == []
    assert capfd.readouterr().err == ""


@pytest.mark.slow
def test_bytes_that_are_no_utf8_and_names_that_are_no_text_stop_nothing(tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl").write_bytes(b'{"url": "u", "text": "caf\xe9"}\n{"url": "v", "text": "two"}\n')
    (tmp_path / "caf\udce9.txt").write_text("Coffee.")
    read = pages_of(imported(tmp_path))
    assert [(page.link, page.text) for page in read] == [("caf\ufffd.txt", "Coffee."), ("u", "caf\ufffd"), ("v", "two")]
    assert read[0].title == "caf\ufffd"


def test_a_file_too_large_for_a_page_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collections, "MAX_FILE_BYTES", 10)
    (tmp_path / "a.txt").write_text("longer than ten bytes")
    assert imported(tmp_path) == [Problem("a.txt", "The file is larger than 10 bytes.")]


@pytest.mark.slow
def test_a_pdf_in_a_folder_is_a_page_and_one_that_is_locked_is_told(tmp_path: Path) -> None:
    (tmp_path / "orm.pdf").write_bytes(pdf([lines_at(72, ["Built of red granite."])], title="Cape Orm", created="D:20190402"))
    (tmp_path / "locked.PDF").write_bytes(pdf([lines_at(72, ["Secret."])], password=b"x"))
    locked, page = imported(tmp_path)
    assert isinstance(page, Page)
    assert (page.title, page.date, page.text) == ("Cape Orm", "2019-04-02", "Built of red granite.")
    assert locked == Problem("locked.PDF", "The page cannot be taken: unreadable: the PDF asks for a password.")


@pytest.mark.slow
def test_leaving_in_the_middle_ends_the_workers(tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"{number:02}.html").write_text(ARTICLE.format(number))
    before = child_processes()
    entries = import_pages(tmp_path)
    assert isinstance(next(entries), Page)
    assert child_processes() - before
    entries.close()
    assert child_processes() <= before


@pytest.mark.slow
def test_an_interrupt_ends_the_workers_and_says_nothing(tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"{number:02}.html").write_text(ARTICLE.format(number))
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    ) as process:
        assert process.stdout is not None
        workers = [int(number) for number in process.stdout.readline().split()]
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert workers
    assert (process.returncode, said) == (130, "")
    assert not any(Path(f"/proc/{number}").exists() for number in workers)


@pytest.mark.slow
def test_a_web_archive_and_a_zim_file_go_through_the_same_workers(tmp_path: Path) -> None:
    pytest.importorskip("libzim", reason="libzim is not installed: an optional package, under the GPL")
    from zim_files import Article, zim_file

    zim_file(tmp_path / "b.zim", [Article("Orm", ARTICLE.format("Orm"), title="Cape Orm"), Article("Empty", "<html></html>")])
    with (tmp_path / "a.warc.gz").open("wb") as stream:
        writer = WARCWriter(stream, gzip=True)
        head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
        body = BytesIO(ARTICLE.format("Halla").encode())
        writer.write_record(writer.create_warc_record("https://a.example/h", "response", payload=body, http_headers=head))
    web, zim, empty = sorted(imported(tmp_path), key=lambda entry: isinstance(entry, Problem))
    assert isinstance(web, Page)
    assert (web.link, web.title, web.language) == ("https://a.example/h", "Halla light", "en")
    assert isinstance(zim, Page)
    assert (zim.link, zim.title) == ("zim://b/Orm", "Cape Orm")
    assert "3 May 1862" in web.text
    assert "3 May 1862" in zim.text
    assert empty == Problem("b.zim, Empty", "The page has no text.")


def test_progress_names_what_is_read_and_how_far(tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    folder = tmp_path / "folder"
    folder.mkdir()
    wikipedia(folder / "wiki.db", "Orm", "Halla")
    (folder / "rows.jsonl").write_text('{"text": "Row."}\n')
    assert len(list(import_pages(folder, progress=lambda *step: told.append(step)))) == 3
    assert told == [("rows.jsonl", 17, 17), ("folder", 1, 2), ("wiki.db", 2, 2), ("folder", 2, 2)]


def test_a_file_twice_gives_the_same_pages(tmp_path: Path) -> None:
    file = wikipedia(tmp_path / "wiki.db", "Orm", "Halla")
    assert imported(file) == imported(file)


@pytest.mark.slow
def test_a_file_that_a_link_leads_to_outside_the_folder_is_passed_over_unless_wanted(tmp_path: Path) -> None:
    folder, secret = tmp_path / "folder", tmp_path / "secret.txt"
    folder.mkdir()
    secret.write_text("A secret of somebody's home.")
    (folder / "own.txt").write_text("A page of its own.")
    (folder / "same.txt").symlink_to(folder / "own.txt")
    (folder / "secret.txt").symlink_to(secret)
    found = list(import_pages(folder))
    assert [entry.text for entry in found if isinstance(entry, Page)] == ["A page of its own."] * 2
    (problem,) = (entry for entry in found if isinstance(entry, Problem))
    assert str(problem).startswith("secret.txt")
    assert "--follow-links" in str(problem)
    followed = list(import_pages(folder, follow_links=True))
    assert "A secret of somebody's home." in [entry.text for entry in followed if isinstance(entry, Page)]


def test_a_folder_that_holds_nothing_but_links_outside_holds_no_pages(tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_text("A page.")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/page.txt").symlink_to(tmp_path / "page.txt")
    with pytest.raises(InputError, match="holds no pages"):
        check_source(tmp_path / "folder")
    check_source(tmp_path / "folder", follow_links=True)
