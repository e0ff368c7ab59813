"""What other tools write into WARC files is read: every kind of record, compression, chunks, revisits, digests."""

import base64
import gzip
import hashlib
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warc_checks import GOOD, PAGE, answer, exchanges, problems, record, written, zipped
from warcio.warcwriter import WARCWriter

from localfact.web.archiving import warc_reading
from localfact.web.archiving.warc_reading import dechunk


def test_a_resource_record_is_a_page(tmp_path: Path) -> None:
    file = written(tmp_path, zipped(record("resource", PAGE, Content_Type="text/html; charset=latin-1")))
    (found,) = exchanges(file)
    assert (found.payload, found.media_type, found.charset, found.status) == (PAGE, "text/html", "latin-1", 200)
    assert (found.url, found.time) == ("https://a.example/", datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC))


def test_a_conversion_is_a_page_where_its_original_is_not_there(tmp_path: Path) -> None:
    """As Common Crawl's WET files hold them."""
    original = record("response", answer(PAGE), WARC_Record_ID="<urn:uuid:7>")
    converted = record("conversion", "Die Flüsse".encode(), WARC_Refers_To="<urn:uuid:7>")
    (found,) = exchanges(written(tmp_path, zipped(converted)))
    assert (found.payload.decode(), found.media_type) == ("Die Flüsse", "text/plain")
    (found,) = exchanges(written(tmp_path, zipped(original, converted)))
    assert found.payload == PAGE


def test_records_that_are_not_of_the_web_and_other_statuses_are_counted(tmp_path: Path) -> None:
    content = [
        record("warcinfo", b"software: x"),
        record("request", b"GET / HTTP/1.1\r\n\r\n"),
        record("metadata", b"a: b"),
        record("response", b"20240506", WARC_Target_URI="dns:a.example"),
        record("resource", b"log", WARC_Target_URI="metadata://gnu.org/wget"),
        *(record("response", answer(b"", status="404 Not Found")) for _ in range(3)),
        record("response", answer(b"", status="301")),
        record("continuation", b"text"),
        record("response", answer(b"a"), WARC_Segment_Number="1"),
        GOOD,
    ]
    file = written(tmp_path, zipped(*content))
    assert [exchange.url for exchange in exchanges(file)] == ["https://good.example/"]
    assert {(problem.where, problem.why, problem.count) for problem in problems(file)} == {
        ("other.warc.gz", "The record has no address of the web.", 2),
        ("other.warc.gz", "The answer has status 404.", 3),
        ("other.warc.gz", "The answer has status 301.", 1),
        ("other.warc.gz", "Records of type 'continuation' are not read.", 1),
        ("other.warc.gz", "The record is one segment of several.", 1),
    }


@pytest.mark.parametrize(
    "content", [GOOD * 3, zipped(GOOD, GOOD, GOOD), gzip.compress(GOOD * 3, mtime=0), zipped(GOOD * 2, GOOD)]
)
def test_plain_files_and_every_way_to_compress_them_are_read(tmp_path: Path, content: bytes) -> None:
    file = written(tmp_path, content)
    assert [exchange.payload for exchange in exchanges(file)] == [PAGE] * 3
    assert problems(file) == []


def test_revisit_records_give_their_original_under_their_own_address(tmp_path: Path) -> None:
    target = BytesIO()
    writer = WARCWriter(target, gzip=True)
    block = answer(PAGE, "Content-Type: text/html")
    first = writer.create_warc_record("https://a.example/first", "response", payload=BytesIO(block), length=len(block))
    digest = first.rec_headers.get_header("WARC-Payload-Digest")
    date = first.rec_headers.get_header("WARC-Date")
    writer.write_record(first)
    writer.write_record(writer.create_revisit_record("https://b.example/copy", digest, "https://a.example/first", date))
    lost = writer.create_revisit_record("https://c.example/", "sha1:" + "A" * 32, "https://elsewhere.example/", date)
    writer.write_record(lost)
    for content in (target.getvalue(), gzip.decompress(target.getvalue())):
        file = written(tmp_path, content)
        found = exchanges(file)
        assert [(exchange.url, exchange.payload, exchange.media_type) for exchange in found] == [
            ("https://a.example/first", PAGE, "text/html"),
            ("https://b.example/copy", PAGE, "text/html"),
        ]
        (problem,) = problems(file)
        assert "original of the revisit record is not in this file" in problem.why


def test_revisits_cannot_make_a_file_be_read_over_and_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warc_reading, "MAX_REVISITED_BYTES", 3 * len(PAGE))
    again = record(
        "revisit", b"", WARC_Refers_To_Target_URI="https://good.example/", WARC_Refers_To_Date="2024-05-06T07:08:09Z"
    )
    file = written(tmp_path, zipped(GOOD, *[again] * 50))
    assert 2 <= len(exchanges(file)) <= 5
    assert problems(file)[0].count >= 46


@pytest.mark.parametrize(
    ("body", "payload", "whole"),
    [
        (b"3\r\nabc\r\n0\r\n\r\n", b"abc", True),
        (b"3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: x\r\n\r\n", b"abcde", True),
        (b"3\nabc\n0\n\n", b"abc", True),
        (b"3\r\nabc\r\n", b"abc", False),
        (b"3\r\nabc\r\nFFFFFFFF\r\nde", b"abcde", False),
        (b"3\r\nabc\r\n-5\r\nde", b"abc", False),
        (b"<html>kept without its chunks", b"<html>kept without its chunks", True),
        (b"bad\r\n" + b"no chunk" * 999, b"bad\r\n" + b"no chunk" * 999, True),
        (b"", b"", True),
    ],
)
def test_chunks_are_taken_out(tmp_path: Path, body: bytes, payload: bytes, whole: bool) -> None:
    assert dechunk(body) == (payload, whole)
    file = written(tmp_path, record("response", answer(body, "Transfer-Encoding: chunked")))
    (found,) = exchanges(file)
    assert (found.payload, found.truncated) == (payload, None if whole else "disconnect")


@given(st.binary(max_size=200), st.lists(st.integers(1, 40), min_size=1, max_size=20))
def test_any_payload_comes_out_of_any_chunks(payload: bytes, sizes: list[int]) -> None:
    body, rest = b"", payload
    while rest:
        part, rest = rest[: sizes[len(rest) % len(sizes)]], rest[sizes[len(rest) % len(sizes)] :]
        body += b"%X\r\n%b\r\n" % (len(part), part)
    assert dechunk(body + b"0\r\n\r\n") == (payload, True)


def digests(content: bytes) -> list[str]:
    """A digest in the ways that tools write it."""
    digest = hashlib.sha1(content, usedforsecurity=False).digest()
    return [
        "sha1:" + base64.b32encode(digest).decode(),
        "SHA1:" + base64.b32encode(digest).decode().lower(),
        "sha1:" + digest.hex(),
        "sha-256:" + hashlib.sha256(content).hexdigest(),
        "sha256:" + base64.b64encode(hashlib.sha256(content).digest()).decode(),
        "md5:" + hashlib.md5(content, usedforsecurity=False).hexdigest(),
    ]


def test_digests_are_tested_in_every_way_that_tools_write_them(tmp_path: Path) -> None:
    block = answer(PAGE)
    for right, wrong in zip(digests(block), digests(b"other"), strict=True):
        file = written(tmp_path, record("response", block, WARC_Block_Digest=right))
        assert (len(exchanges(file)), problems(file)) == (1, [])
        file = written(tmp_path, record("response", block, WARC_Block_Digest=wrong))
        (problem,) = problems(file)
        assert (exchanges(file), "digest is wrong" in problem.why) == ([], True)
        assert problem.where == "other.warc.gz, byte 0, https://a.example/"
    for unknown in ("crc32:1234", "sha1:short", "nonsense", "sha1:" + "é" * 32):
        assert len(exchanges(written(tmp_path, record("response", block, WARC_Block_Digest=unknown)))) == 1


def test_a_payload_digest_may_be_of_the_chunks_or_of_what_is_in_them(tmp_path: Path) -> None:
    chunks = b"3\r\nabc\r\n0\r\n\r\n"
    block = answer(chunks, "Transfer-Encoding: chunked")
    (right,) = digests(block)[:1]
    for content in (chunks, b"abc"):
        file = written(tmp_path, record("response", block, WARC_Payload_Digest=digests(content)[0]))
        assert (len(exchanges(file)), problems(file)) == (1, [])
    wrong = digests(b"other")[0]
    file = written(tmp_path, record("response", block, WARC_Payload_Digest=wrong))
    assert (exchanges(file), len(problems(file))) == ([], 1)
    file = written(tmp_path, record("response", block, WARC_Payload_Digest=wrong, WARC_Block_Digest=right))
    assert len(exchanges(file)) == 1
    assert "the record's is right" in problems(file)[0].why


def test_addresses_are_made_writable(tmp_path: Path) -> None:
    for stated, url in [
        ("<https://a.example/wget>", "https://a.example/wget"),
        ("https://a.example/\x1b[31m ü", "https://a.example/%1B[31m%20%C3%BC"),
        ("HTTPS://A.example/", "HTTPS://A.example/"),
    ]:
        (found,) = exchanges(written(tmp_path, record("response", answer(PAGE), WARC_Target_URI=stated)))
        assert found.url == url


def test_answers_of_http_2_are_known_in_the_ways_that_tools_write_them(tmp_path: Path) -> None:
    block = answer(PAGE)
    for content in (
        record("response", block, WARC_Protocol="h2"),
        record("response", block.replace(b"HTTP/1.1 200 OK", b"HTTP/2 200")),
        record("response", block.replace(b"HTTP/1.1 200 OK", b"HTTP/2.0 200 OK")),
    ):
        (found,) = exchanges(written(tmp_path, content))
        assert (found.protocol, found.reason, found.payload) == ("HTTP/2", "", PAGE)


@pytest.mark.parametrize(("stated", "read"), [("length", "length"), ("time", "time"), ("unspecified", "disconnect")])
def test_truncation_is_kept(tmp_path: Path, stated: str, read: str) -> None:
    (found,) = exchanges(written(tmp_path, record("response", answer(PAGE), WARC_Truncated=stated)))
    assert found.truncated == read
