"""Kiwix ZIM: which entries are articles, where they come from, and what a bad file does."""

import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from zim_files import Article, zim_file

from localfact.corpus.importing import zim
from localfact.corpus.importing.imported import Problem, RawPage
from localfact.corpus.importing.zim import ZimAddresses, article, open_archive
from localfact.corpus.importing.zim_reader import ZimProcess, check_zim, read_zim
from localfact.errors import InputError, MissingError
from localfact.web.pages import MAX_FILE_BYTES

#: Of an entry that may be as large, if there is memory for it.
SIZE = MAX_FILE_BYTES * 9 // 10
HTML = "<html><head><title>{0}</title></head><body><p>All about {0}.</p></body></html>"


def read(file: Path) -> list[RawPage | Problem]:
    """As the worker reads it, in this process."""
    archive = open_archive(file)
    addresses = ZimAddresses(archive, file.name)
    found = (article(archive, number, file.name, addresses) for number in range(archive.all_entry_count))
    return [entry for entry in found if entry is not None]


def read_apart(file: Path) -> list[RawPage | Problem]:
    return list(read_zim(file, file.name, lambda name, done, total: None))


def test_html_entries_are_articles_and_nothing_else_is(tmp_path: Path) -> None:
    entries = [
        Article("Orm", HTML.format("Orm"), title="Cape Orm"),
        Article("style.css", "p {}", media_type="text/css"),
        Article("red.png", b"\x89PNG", media_type="image/png"),
        Article("Ålesund", HTML.format("town"), title="", media_type="text/html; charset=latin-1"),
    ]
    found = read(zim_file(tmp_path / "wiki.zim", entries, redirects={"Cape": "Orm"}))
    assert [(page.where, page.title, page.charset) for page in found if isinstance(page, RawPage)] == [
        ("wiki.zim, Orm", "Cape Orm", "utf-8"),
        ("wiki.zim, Ålesund", "Ålesund", "latin-1"),
    ]
    assert len(found) == 2
    assert found[0] == RawPage(
        where="wiki.zim, Orm",
        link="zim://wiki/Orm",
        body=HTML.format("Orm").encode(),
        media_type="text/html",
        charset="utf-8",
        title="Cape Orm",
    )


@pytest.mark.parametrize(
    ("metadata", "path", "link"),
    [
        ({}, "a/b?c", "zim://file/a/b%3Fc"),
        ({"Name": "my wiki"}, "Orm", "zim://my%20wiki/Orm"),
        ({"Source": "en.wikipedia.org", "Scraper": "mwoffliner 1.14.0"}, "Cape_Orm", "https://en.wikipedia.org/wiki/Cape_Orm"),
        ({"Source": "https://w.example/w/", "Scraper": "mwoffliner 1.14"}, "Orm", "https://w.example/w/Orm"),
        ({"Source": "https://www.orm.example/", "Scraper": "zimit 2.0"}, "orm.example/a.html", "https://orm.example/a.html"),
        ({"Source": "https://docs.example/manual/"}, "a.html", "https://docs.example/manual/a.html"),
        ({"Source": "https://docs.example/one-page"}, "a.html", "zim://file/a.html"),
        ({"Source": "Stack Exchange dump"}, "q/1", "zim://file/q/1"),
        ({"Source": "javascript://x.example/", "Scraper": "mwoffliner"}, "q", "zim://file/q"),
        ({"Source": "https://[broken", "Scraper": "mwoffliner"}, "q", "zim://file/q"),
    ],
)
def test_the_link_is_the_web_address_where_the_metadata_give_it(
    tmp_path: Path, metadata: dict[str, str], path: str, link: str
) -> None:
    (page,) = read(zim_file(tmp_path / "file.zim", [Article(path, HTML)], metadata=metadata))
    assert isinstance(page, RawPage)
    assert page.link == link


def test_an_entry_too_large_is_told_and_stops_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zim, "MAX_FILE_BYTES", 1_000)
    first, second = read(zim_file(tmp_path / "file.zim", [Article("a", "x" * 1_001), Article("b", HTML)]))
    assert first == Problem("file.zim, a", "The entry is larger than 1,000 bytes.")
    assert isinstance(second, RawPage)


@pytest.mark.parametrize("content", [b"ZIM\x04", b"ZIM\x04" + bytes(100), b"", b"no zim at all" * 100])
def test_what_is_no_zim_file_is_an_error_with_a_cure(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.zim").write_bytes(content)
    with pytest.raises(InputError, match=r"bad\.zim cannot be read as a ZIM archive"):
        read(tmp_path / "bad.zim")


def test_a_file_cut_short_is_an_error_and_a_damaged_entry_a_problem(tmp_path: Path) -> None:
    file = zim_file(tmp_path / "file.zim", [Article(f"page{n}", HTML.format(n) * 200) for n in range(20)])
    content = bytearray(file.read_bytes())
    file.write_bytes(content[:-200])
    with pytest.raises(InputError, match="Copy it again"):
        read(file)
    cluster = content.find(b"\x28\xb5\x2f\xfd")  # zstd's magic: the first compressed cluster
    assert cluster > 0
    content[cluster : cluster + 64] = bytes(64)
    file.write_bytes(content)
    found = read(file)
    assert len(found) == 20
    assert all(isinstance(entry, Problem) and "page" in entry.where for entry in found)


def test_progress_counts_entries_of_all_kinds(tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    file = zim_file(tmp_path / "file.zim", [Article("a", HTML), Article("b.css", "p {}", media_type="text/css")])
    list(read_zim(file, "file.zim", lambda *step: told.append(step)))
    total = told[-1][2]
    assert total is not None
    assert total >= 3
    assert told == [("file.zim", done, total) for done in range(1, total + 1)]


def test_without_libzim_the_message_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = zim_file(tmp_path / "file.zim", [Article("a", HTML)])
    monkeypatch.setitem(sys.modules, "libzim.reader", None)
    with pytest.raises(MissingError, match="pip install"):
        read(file)


@pytest.mark.slow
def test_the_process_gives_the_same_entries_and_the_same_errors(tmp_path: Path) -> None:
    entries = [Article("Ålesund", HTML.format("Å"), media_type="text/html; charset=latin-1"), Article("a", HTML)]
    file = zim_file(tmp_path / "file.zim", entries)
    assert read_apart(file) == read(file)
    check_zim(file)
    (tmp_path / "bad.zim").write_bytes(b"ZIM\x04" + bytes(100))
    with pytest.raises(InputError, match=r"bad\.zim cannot be read as a ZIM archive"):
        check_zim(tmp_path / "bad.zim")


@pytest.mark.slow
def test_an_entry_that_unpacks_to_more_memory_than_there_is_is_a_problem_and_stops_no_other(tmp_path: Path) -> None:
    bomb = Article("bomb", bytes(SIZE), media_type="text/html")
    file = zim_file(tmp_path / "file.zim", [Article("a", HTML.format("a")), bomb, Article("z", HTML.format("z"))])
    assert file.stat().st_size < 1_000_000
    with closing(ZimProcess(file, "file.zim", memory_bytes=SIZE // 2)) as process:
        found = {number: process.entry(number) for number in range(process.total())}
    told = [str(entry) for entry in found.values() if isinstance(entry, Problem)]
    assert [each.partition(":")[0] for each in told] == ["file.zim, bomb"], told
    assert "larger" not in told[0]
    assert {"file.zim, a", "file.zim, z"} <= {entry.where for entry in found.values() if entry is not None}


@pytest.mark.slow
def test_a_reader_that_ends_or_takes_too_long_costs_one_entry(tmp_path: Path) -> None:
    file = zim_file(tmp_path / "file.zim", [Article("a", HTML), Article("b", HTML)])
    with closing(ZimProcess(file, "file.zim")) as process:
        whole = [process.entry(number) for number in range(process.total())]
        running = process._process
        assert running is not None
        running.kill()
        running.wait()
        assert process.entry(0) == Problem("file.zim, entry 0", "The entry cannot be read: its reader ended (SIGKILL).")
        assert [process.entry(number) for number in range(process.total())] == whole
        running = process._process
        assert running is not None
        os.kill(running.pid, signal.SIGSTOP)
        process._seconds = 0.2
        slow = process.entry(1)
        assert slow == Problem("file.zim, entry 1", "The entry cannot be read: it takes more than 0.2 s.")
        process._seconds = 60
        assert process.entry(1) == whole[1]


def test_importing_the_reader_does_not_import_libzim() -> None:
    code = "import sys, localfact.corpus.importing.zim_reader; sys.exit('libzim' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
