"""Documents out of web archives of other tools: which answers are pages, and how their bodies come out."""

import gzip
from io import BytesIO
from pathlib import Path

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from localfact.corpus.importing import archived
from localfact.corpus.importing.archived import read_archived
from localfact.corpus.importing.imported import Problem, RawPage

HTML = b"<html><body><p>The lamp was lit.</p></body></html>"
Answer = tuple[str, dict[str, str], bytes]


def archive(file: Path, *answers: Answer, status: str = "200 OK", fields: dict[str, str] | None = None) -> Path:
    with file.open("wb") as stream:
        writer = WARCWriter(stream, gzip=file.suffix == ".gz")
        writer.write_record(writer.create_warcinfo_record(file.name, {"software": "a test"}))
        for address, headers, payload in answers:
            head = StatusAndHeaders(status, list(headers.items()), protocol="HTTP/1.1")
            record = writer.create_warc_record(
                address, "response", payload=BytesIO(payload), http_headers=head, warc_headers_dict=fields or {}
            )
            writer.write_record(record)
    return file


def read(file: Path) -> list[RawPage | Problem]:
    return list(read_archived(file, f"below/{file.name}", lambda name, done, total: None))


@pytest.mark.parametrize("name", ["site.warc", "site.warc.gz"])
def test_html_pdf_and_plain_text_are_documents_and_the_rest_is_counted(tmp_path: Path, name: str) -> None:
    kinds = ["text/html; charset=Latin-1", "image/png", "application/pdf", "text/css", "text/plain", "application/json"]
    answers = [(f"https://a.example/{number}", {"Content-Type": kind}, b"body") for number, kind in enumerate(kinds)]
    robots = ("https://a.example/robots.txt", {"Content-Type": "text/plain"}, b"User-agent: *")
    found = read(archive(tmp_path / name, *answers, robots))
    assert found == [
        RawPage(f"below/{name}, https://a.example/0", "https://a.example/0", b"body", "text/html", "latin-1"),
        RawPage(f"below/{name}, https://a.example/2", "https://a.example/2", b"body", "application/pdf"),
        RawPage(f"below/{name}, https://a.example/4", "https://a.example/4", b"body", "text/plain"),
        Problem(f"below/{name}", "Not HTML, PDF or plain text (4 answers)."),
    ]


def test_the_content_coding_is_taken_off(tmp_path: Path) -> None:
    headers = {"Content-Type": "text/html", "Content-Encoding": "gzip"}
    (page,) = read(archive(tmp_path / "site.warc.gz", ("https://a.example/", headers, gzip.compress(HTML))))
    assert isinstance(page, RawPage)
    assert page.body == HTML


@pytest.mark.parametrize(
    ("headers", "payload"),
    [
        ({"Content-Encoding": "gzip"}, HTML),
        ({"Content-Encoding": "gzip", "Transfer-Encoding": "chunked"}, HTML),
        ({"Content-Encoding": "br", "Content-Length": "7"}, HTML),
        ({"Content-Encoding": "zstd"}, HTML),
        ({"Content-Encoding": "deflate", "Content-Length": "9000"}, b"<p>Die Fl\xfcsse</p>" * 20),
        ({"Content-Encoding": "gzip, br"}, HTML),
        ({"Content-Encoding": "br"}, b"%PDF-1.7 \x00\x01\x02\x03"),
        ({}, b"%x\r\n%b\r\n0\r\n\r\n" % (len(HTML), HTML)),
        ({}, b"2024\r\n" + HTML),
        ({}, gzip.compress(HTML, mtime=0)),
        ({"Content-Encoding": "gzip, gzip"}, gzip.compress(gzip.compress(HTML, mtime=0), mtime=0)),
        ({"Content-Encoding": "gzip", "Transfer-Encoding": "chunked"}, gzip.compress(HTML, mtime=0)),
    ],
)
def test_what_the_bytes_are_counts_for_more_than_the_headers(tmp_path: Path, headers: dict[str, str], payload: bytes) -> None:
    headers = {"Content-Type": "text/html", **headers}
    (page,) = read(archive(tmp_path / "site.warc.gz", ("https://a.example/", headers, payload)))
    assert isinstance(page, RawPage)
    coded = payload.startswith(b"\x1f\x8b") or payload.endswith(b"0\r\n\r\n")
    assert page.body == (HTML if coded else payload)


def test_a_bomb_and_an_unknown_coding_are_told_and_stop_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archived, "MAX_FILE_BYTES", 100_000)
    bomb = ("https://a.example/bomb", {"Content-Type": "text/html", "Content-Encoding": "gzip"}, gzip.compress(bytes(10**7)))
    coded = ("https://a.example/br", {"Content-Type": "text/html", "Content-Encoding": "br"}, b"\x0b\x02\x80")
    good = ("https://a.example/good", {"Content-Type": "text/html"}, HTML)
    first, second, third = read(archive(tmp_path / "site.warc.gz", bomb, coded, good))
    assert isinstance(first, Problem)
    assert "100,000 bytes" in first.reason
    assert isinstance(second, Problem)
    assert second.where == "below/site.warc.gz, https://a.example/br"
    assert isinstance(third, RawPage)


def test_a_body_that_the_archive_cut_is_taken_as_far_as_it_goes(tmp_path: Path) -> None:
    headers = {"Content-Type": "text/html", "Content-Encoding": "gzip"}
    half = gzip.compress(HTML * 2_000, mtime=0)[:-20]
    whole = archive(tmp_path / "cut.warc", ("https://a.example/", headers, half))
    (problem,) = read(whole)
    assert isinstance(problem, Problem)
    marked = archive(tmp_path / "marked.warc", ("https://a.example/", headers, half), fields={"WARC-Truncated": "length"})
    (page,) = read(marked)
    assert isinstance(page, RawPage)
    assert page.body.startswith(HTML)


def test_an_answer_without_a_type_is_told_apart_by_its_beginning(tmp_path: Path) -> None:
    answers = [
        ("https://a.example/h", {}, HTML),
        ("https://a.example/p", {}, b"%PDF-1.7"),
        ("https://a.example/x", {}, b"\x00"),
    ]
    html, pdf, other = read(archive(tmp_path / "site.warc", *answers))
    assert isinstance(html, RawPage)
    assert isinstance(pdf, RawPage)
    assert (html.media_type, pdf.media_type) == ("text/html", "application/pdf")
    assert isinstance(other, Problem)


def test_problems_of_the_archive_keep_their_place_below_the_folder(tmp_path: Path) -> None:
    file = archive(tmp_path / "site.warc.gz", ("https://a.example/", {"Content-Type": "text/html"}, HTML))
    file.write_bytes(file.read_bytes()[:-30])
    problem = read(file)[-1]
    assert isinstance(problem, Problem)
    assert problem.where.startswith("below/site.warc.gz, byte ")
    (missing,) = read(archive(tmp_path / "gone.warc", ("https://a.example/", {}, b""), status="404 Not Found"))
    assert missing == Problem("below/gone.warc", "The answer has status 404.")


def test_progress_ends_with_the_number_of_answers(tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    answers = [(f"https://a.example/{number}", {"Content-Type": "text/html"}, HTML) for number in range(45)]
    file = archive(tmp_path / "site.warc.gz", *answers)
    assert len(list(read_archived(file, "site.warc.gz", lambda *step: told.append(step)))) == 45
    assert told == [("site.warc.gz", 20, None), ("site.warc.gz", 40, None), ("site.warc.gz", 45, 45)]


def test_an_address_that_is_none_is_passed_over_and_the_rest_is_read(tmp_path: Path) -> None:
    html = {"Content-Type": "text/html"}
    file = archive(tmp_path / "a.warc", ("http://[oops/", html, HTML), ("https://lamp.example/", html, HTML))
    problem, page = read(file)
    assert isinstance(problem, Problem)
    assert "http://[oops/" in str(problem)
    assert isinstance(page, RawPage)
    assert page.link == "https://lamp.example/"
