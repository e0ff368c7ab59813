"""Holds the reading of other tools' WARC files to real ones of wget, and to bounds whatever strangers put into them."""

import base64
import gzip
import hashlib
import os
import random
import shutil
import subprocess
import threading
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from warc_checks import answer, record, zipped
from warcio.warcwriter import WARCWriter

from localfact.evidence.archiving import warc_reading, warc_records
from localfact.evidence.archiving.warc_reading import WarcProblem, dechunked, read_warc
from localfact.evidence.fetching.exchange import Exchange

PAGE = b"<html><title>Norvik</title><p>The harbour of Norvik was dredged in 1884.</p></html>"
GZIPPED = gzip.compress(PAGE, mtime=0)
GOOD = record("response", answer(PAGE, "Content-Type: text/html"), WARC_Target_URI="https://good.example/")


def exchanges(file: Path, **how: int) -> list[Exchange]:
    """What was read, without the problems."""
    return [found for found in read_warc(file, **how) if isinstance(found, Exchange)]


def problems(file: Path, **how: int) -> list[WarcProblem]:
    """What was told about, without the pages."""
    return [found for found in read_warc(file, **how) if isinstance(found, WarcProblem)]


def written(tmp_path: Path, content: bytes) -> Path:
    """The content as a file."""
    file = tmp_path / "other.warc.gz"
    file.write_bytes(content)
    return file


class Pages(BaseHTTPRequestHandler):
    """A page, one in chunks, one compressed, a redirect, and nothing else."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answers."""
        body = {"/page": PAGE, "/chunked": PAGE * 3, "/gzipped": GZIPPED}.get(self.path)
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/page")
        else:
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
        body = body or b"nothing here"
        if self.path == "/gzipped":
            self.send_header("Content-Encoding", "gzip")
        if self.path == "/chunked":
            self.send_header("Transfer-Encoding", "chunked")
            body = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:100], body[100:])) + b"0\r\n\r\n"
        else:
            self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")  # said, or whoever asks takes it for open
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def serving() -> Iterator[str]:
    """The address of a server of those pages on loopback."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.skipif(shutil.which("wget") is None, reason="wget is not installed")
@pytest.mark.parametrize("option", [[], ["--no-warc-compression"]])
def test_what_wget_wrote_is_read(tmp_path: Path, option: list[str]) -> None:
    paths = ["/moved", "/missing", "/chunked", "/gzipped"]
    with serving() as server:
        command = ["wget", "--quiet", "--no-config", "--no-proxy", "--tries=1", "--timeout=10", "--warc-file=crawl", *option]
        environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
        done = subprocess.run(
            [*command, *(server + path for path in paths)], cwd=tmp_path, env=environment, timeout=60, check=False
        )
    assert done.returncode == 8  # "the server issued an error response": the 404
    (file,) = tmp_path.glob("crawl.warc*")
    found = exchanges(file)
    assert {exchange.url: exchange.payload for exchange in found} == {
        f"{server}/page": PAGE,
        f"{server}/chunked": PAGE * 3,
        f"{server}/gzipped": GZIPPED,
    }
    compressed = next(exchange for exchange in found if exchange.url.endswith("/gzipped"))
    assert compressed.header("Content-Encoding") == "gzip"
    assert all((exchange.status, exchange.reason, exchange.address) == (200, "OK", "127.0.0.1") for exchange in found)
    assert {exchange.media_type for exchange in found} == {"text/html"}
    assert all(abs((datetime.now(UTC) - exchange.time).total_seconds()) < 3_600 for exchange in found)
    told = {problem.why: problem.count for problem in problems(file)}
    assert told.pop("The answer has status 302.") == 1
    assert told.pop("The answer has status 404.") == 1
    # wget adds its manifest, its arguments and its log as records that are not of the web.
    assert set(told) <= {"The record has no address of the web."}


def test_a_resource_record_is_a_page(tmp_path: Path) -> None:
    file = written(tmp_path, zipped(record("resource", PAGE, Content_Type="text/html; charset=latin-1")))
    (found,) = exchanges(file)
    assert (found.payload, found.media_type, found.charset, found.status) == (PAGE, "text/html", "latin-1", 200)
    assert (found.url, found.time) == ("https://a.example/", datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC))


def test_records_that_are_not_of_the_web_and_other_statuses_are_counted(tmp_path: Path) -> None:
    content = [
        record("warcinfo", b"software: x"),
        record("request", b"GET / HTTP/1.1\r\n\r\n"),
        record("metadata", b"a: b"),
        record("response", b"20240506", WARC_Target_URI="dns:a.example"),
        record("resource", b"log", WARC_Target_URI="metadata://gnu.org/wget"),
        *(record("response", answer(b"", status="404 Not Found")) for _ in range(3)),
        record("response", answer(b"", status="301")),
        record("conversion", b"text"),
        record("response", answer(b"a"), WARC_Segment_Number="1"),
        GOOD,
    ]
    file = written(tmp_path, zipped(*content))
    assert [exchange.url for exchange in exchanges(file)] == ["https://good.example/"]
    assert {(problem.where, problem.why, problem.count) for problem in problems(file)} == {
        ("other.warc.gz", "The record has no address of the web.", 2),
        ("other.warc.gz", "The answer has status 404.", 3),
        ("other.warc.gz", "The answer has status 301.", 1),
        ("other.warc.gz", "Records of type 'conversion' are not read.", 1),
        ("other.warc.gz", "The record is one segment of several.", 1),
    }


@pytest.mark.parametrize("content", [GOOD * 3, zipped(GOOD, GOOD, GOOD), gzip.compress(GOOD * 3), zipped(GOOD * 2, GOOD)])
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
    assert dechunked(body) == (payload, whole)
    file = written(tmp_path, record("response", answer(body, "Transfer-Encoding: chunked")))
    (found,) = exchanges(file)
    assert (found.payload, found.truncated) == (payload, None if whole else "disconnect")


@given(st.binary(max_size=200), st.lists(st.integers(1, 40), min_size=1, max_size=20))
def test_any_payload_comes_out_of_any_chunks(payload: bytes, sizes: list[int]) -> None:
    body, rest = b"", payload
    while rest:
        part, rest = rest[: sizes[len(rest) % len(sizes)]], rest[sizes[len(rest) % len(sizes)] :]
        body += b"%X\r\n%b\r\n" % (len(part), part)
    assert dechunked(body + b"0\r\n\r\n") == (payload, True)


@pytest.mark.parametrize("chop", [1, 9, 60])
@pytest.mark.parametrize(
    "pack", [zipped, lambda *content: b"".join(content), lambda *content: gzip.compress(b"".join(content))]
)
def test_a_file_cut_short_is_read_up_to_there(tmp_path: Path, pack: Callable[..., bytes], chop: int) -> None:
    numbers = random.Random(5)
    content = pack(*(record("response", answer(numbers.randbytes(2_000))) for _ in range(3)))
    file = written(tmp_path, content[:-chop])
    if not content.startswith(b"\x1f") and chop == 1:
        # Only the line ends behind the last record suffered.
        assert (len(exchanges(file)), problems(file)) == (3, [])
        return
    assert len(exchanges(file)) == 2
    (problem,) = problems(file)
    assert "read up to here only: it ends in the middle of a record" in problem.why
    assert problem.where.startswith("other.warc.gz, byte ")


def test_a_damaged_file_is_read_up_to_the_damage(tmp_path: Path) -> None:
    content = bytearray(zipped(GOOD) * 3)
    content[len(zipped(GOOD)) + 60] ^= 0xFF
    file = written(tmp_path, bytes(content))
    assert len(exchanges(file)) == 1
    (problem,) = problems(file)
    assert problem.where == f"other.warc.gz, byte {len(zipped(GOOD))}"
    assert "read up to here only" in problem.why


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "empty"),
        (b"<html>no archive", "no WARC record"),
        (b"\r\n" * 1_000, "no WARC record"),
        (b"filedesc://old.arc 0.0.0.0 20010101000000 text/plain 76\n", "no WARC record"),
        (b"\x28\xb5\x2f\xfd----", "Zstandard"),
        (b"\x1f\x8b\x08broken", "cannot be decompressed"),
        (GOOD + b"WARC/1.0\r\nWARC-Type: response\r\n\r\n", "does not say how long"),
        (GOOD + record("response", b"", length=-5), "does not say how long"),
        (GOOD + b"WARC/1.0\r\nX: " + b"y" * 300_000, "head of a record is too long"),
        (GOOD + b"WARC/1.0\r\n" + b"X: y\r\n" * 60_000, "head of a record is too long"),
        (GOOD + b"WARC/1.0\r\nX: y\r\n", "ends in the middle"),
        (record("response", answer(PAGE), length=20) + GOOD, "longer or shorter than it says"),
        (GOOD + record("response", b"no answer"), "holds no HTTP answer"),
        (GOOD + record("response", b""), "holds no HTTP answer"),
        (GOOD + record("response", answer(b"", status="OK")), "no status"),
        (GOOD + record("response", answer(b""), WARC_Date="yesterday"), "no date"),
        (GOOD + record("response", answer(b""), WARC_Date="0001-01-01T00:00:00+23:00"), "no date"),
        (GOOD + record("response", answer(b"x" * 2_000_000)), "more than 1,000,000 bytes"),
        (GOOD + record("response", answer(b"x" * 1_000_100)), "more than 1,000,000 bytes"),
    ],
)
def test_what_gives_no_page_is_told(tmp_path: Path, content: bytes, why: str) -> None:
    file = written(tmp_path, content)
    told = problems(file, max_payload=1_000_000)
    assert any(why in problem.why for problem in told), told
    assert len(exchanges(file, max_payload=1_000_000)) == content.startswith(GOOD)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path / "none.warc")
    assert "cannot be read: No such file" in problem.why


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


def bomb(megabytes: int) -> bytes:
    """A gzip member with a response of that many million zeros."""
    begin = record("response", answer(b""), length=megabytes * 1_000_000 + len(answer(b"")))[: -len(b"\r\n\r\n")]
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS + 16)
    million = bytes(1_000_000)
    parts = [packer.compress(begin), *(packer.compress(million) for _ in range(megabytes))]
    return b"".join([*parts, packer.compress(b"\r\n\r\n"), packer.flush()])


def test_a_huge_record_is_passed_over_in_little_memory(tmp_path: Path) -> None:
    file = written(tmp_path, bomb(150) + zipped(GOOD))
    tracemalloc.start()
    try:
        found = list(read_warc(file))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [type(one) for one in found] == [WarcProblem, Exchange]
    assert "more than 10,000,000 bytes" in str(found[0])
    assert peak < 5_000_000


def test_a_file_that_expands_without_measure_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warc_reading, "MOST_EXPANSION", (20_000_000, 200))
    expanded: list[int] = []
    real = warc_records.Unzipped._inflate

    def counted(self: warc_records.Unzipped) -> None:
        real(self)
        expanded.append(len(self._piece))

    monkeypatch.setattr(warc_records.Unzipped, "_inflate", counted)
    file = written(tmp_path, zipped(GOOD) + bomb(150) + zipped(GOOD))
    found = list(read_warc(file))
    assert [type(one) for one in found] == [Exchange, WarcProblem]
    assert "expands to more than 200 times its size" in str(found[1])
    assert sum(expanded) < 60_000_000


def test_a_bomb_in_the_head_of_a_record_is_given_up(tmp_path: Path) -> None:
    file = written(tmp_path, gzip.compress(b"WARC/1.0\r\nX: " + bytes(50_000_000)))
    (problem,) = problems(file)
    assert "head of a record is too long" in problem.why


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.binary(max_size=300),
        st.binary(max_size=100).map(lambda content: GOOD[:150] + content + GOOD[150:]),
        st.binary(max_size=100).map(lambda content: zipped(GOOD)[:50] + content),
        st.binary(max_size=100).map(lambda content: record("response", content)),
        st.binary(max_size=100).map(lambda content: gzip.compress(b"WARC/1.0\r\n" + content)),
    )
)
def test_any_bytes_are_read_or_told_about_and_raise_nothing(tmp_path: Path, content: bytes) -> None:
    for found in read_warc(written(tmp_path, content)):
        assert str(found)
