"""Pages from rows, HTML and text: what is read, what is told about the rest."""

import json
from pathlib import Path

import pytest

from localfact.errors import InputError, MissingError
from localfact.evidence import pages
from localfact.evidence.pages import Page, read_pages

ARTICLE = """<html><head><title>Cape Orm light</title><meta property="article:published_time" content="2019-04-02"></head>
<body><nav>Home About</nav><article><h1>Cape Orm light</h1><p>The lighthouse on Cape Orm is made of red granite, which was cut
on the island itself and carried to the cape by ox cart over one long summer.</p><p>Its lamp was first lit on 3 May 1862, and
the keeper wrote in his book that the night was clear and calm.</p></article>
<footer>All rights reserved</footer></body></html>"""


def rows(folder: Path, *lines: object) -> Path:
    file = folder / "pages.jsonl"
    file.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return file


def test_a_row_gives_its_page(tmp_path: Path) -> None:
    read = read_pages(
        rows(tmp_path, {"url": "https://a.example/", "title": " A\n page ", "text": "Some text.", "date": "2020"})
    )
    assert read.problems == ()
    page = Page(link="https://a.example/", title="A page", text="Some text.", date="2020", provider="local")
    assert read.pages == (page,)


def test_link_may_be_called_url_and_snippet_stands_in_for_an_empty_text(tmp_path: Path) -> None:
    read = read_pages(rows(tmp_path, {"link": "l", "text": "  ", "snippet": "Short."}, {"text": "No address."}))
    assert [(page.link, page.text) for page in read.pages] == [("l", "Short."), ("pages.jsonl#2", "No address.")]


def test_bad_rows_are_told_with_their_line_and_stop_nobody(tmp_path: Path) -> None:
    bad = [
        "{broken",
        "[1, 2]",
        {"url": "u", "text": ""},
        {"url": "u", "text": 7},
        "[" * 100_000,
        '{"text": %s}' % ("7" * 5_000),
    ]
    read = read_pages(rows(tmp_path, *bad, "", {"url": "last", "text": "Fine."}))
    assert [page.link for page in read.pages] == ["last"]
    assert [problem.split(":")[0] for problem in read.problems] == [f"pages.jsonl, line {number}" for number in range(1, 7)]
    assert "no text" in read.problems[2]


def test_nul_and_lone_surrogates_are_replaced(tmp_path: Path) -> None:
    read = read_pages(rows(tmp_path, '{"url": "u\\u0000", "title": "\\ud800", "text": "a\\u0000b \\udfff c"}'))
    (page,) = read.pages
    assert (page.link, page.title, page.text) == ("u\ufffd", "\ufffd", "a\ufffdb \ufffd c")


def test_bytes_that_are_no_utf8_do_not_stop_a_file(tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl").write_bytes(b'{"url": "u", "text": "caf\xe9"}\n{"url": "v", "text": "two"}\n')
    assert [page.text for page in read_pages(tmp_path / "pages.jsonl").pages] == ["caf\ufffd", "two"]


def test_html_gives_its_main_text_title_and_date(tmp_path: Path) -> None:
    (tmp_path / "light.html").write_text(ARTICLE)
    (page,) = read_pages(tmp_path).pages
    assert (page.link, page.title, page.date) == ("light.html", "Cape Orm light", "2019-04-02")
    assert "3 May 1862" in page.text
    assert "Home About" not in page.text


@pytest.mark.parametrize(
    "content",
    [b"", b"<html></html>", b"\x00\xff\xfe", b"<div>" * 20_000, b"<svg><html><body><p>Some text.</p>", b"GIF89a\x01\x00"],
)
def test_html_without_text_is_told_once_and_not_through_the_log_too(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "bad.html").write_bytes(content)
    (tmp_path / "good.txt").write_text("Good.")
    read = read_pages(tmp_path)
    assert [page.link for page in read.pages] == ["good.txt"]
    assert len(read.problems) == 1
    assert read.problems[0].startswith("bad.html: ")
    assert [record for record in caplog.records if record.name.startswith("trafilatura")] == []


def test_a_folder_is_read_in_the_order_of_its_paths_and_other_kinds_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "two.md").write_text("\ufeffTwo.")
    (tmp_path / "a.txt").write_text("One.")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    read = read_pages(tmp_path)
    assert [(page.link, page.title, page.text) for page in read.pages] == [("a.txt", "a", "One."), ("b/two.md", "two", "Two.")]
    assert read.problems == ()


def test_a_file_name_that_is_no_text_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "caf\udce9.txt").write_text("Coffee.")
    (page,) = read_pages(tmp_path).pages
    assert (page.link, page.title) == ("caf\ufffd.txt", "caf\ufffd")


def test_a_file_too_large_for_a_page_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MAX_FILE_BYTES", 10)
    (tmp_path / "a.txt").write_text("longer than ten bytes")
    assert "larger than 10 bytes" in read_pages(tmp_path).problems[0]


def test_what_is_not_there_or_holds_no_pages_is_an_error_with_a_cure(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="There is no file or folder"):
        read_pages(tmp_path / "nothing")
    with pytest.raises(InputError, match="holds no pages"):
        read_pages(tmp_path)
