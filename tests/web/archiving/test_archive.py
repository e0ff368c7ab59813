"""Holds the archive to WARC, and to losing nothing whatever kills it."""

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warc_checks import passes_checker
from warcio.archiveiterator import ArchiveIterator

from localfact.errors import CorpusError, InputError, WriteError
from localfact.web.archiving import archive as module
from localfact.web.archiving.archive import Archive, Location
from localfact.web.archiving.warc_records import DamagedError, Unzipped, records
from localfact.web.fetching.exchange import Exchange

TIME = datetime(2024, 5, 6, 7, 8, 9, 120, tzinfo=UTC)


def page(number: int, size: int = 2_000) -> Exchange:
    """An exchange that no other number gives; its payload does not compress."""
    return Exchange(
        url=f"https://host.example/{number}?q=a%20b",
        time=TIME + timedelta(seconds=number),
        status=200,
        payload=random.Random(number).randbytes(size),
        headers=(("Content-Type", "text/html"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("Content-Length", str(size))),
        reason="OK",
        request_headers=(("Host", "host.example"), ("User-Agent", "localfact")),
        address="192.0.2.7",
    )


def files_of(folder: Path) -> list[Path]:
    """The files of an archive."""
    return sorted(folder.glob("*.warc.gz"))


def exchanges_of(folder: Path) -> Iterator[tuple[Location, Exchange]]:
    """All exchanges in the order written; an unfinished record at the end of a file is left out."""
    archive = Archive(folder)
    for file in files_of(folder):
        with file.open("rb") as stream:
            try:
                for record in records(Unzipped(stream, zipped=True), 0):
                    if record.kind == "response":
                        assert record.end is not None
                        location = Location(file.name, record.offset, record.end - record.offset)
                        yield location, archive.read(location)
            except DamagedError as damage:
                if "ends in the middle" not in str(damage):
                    raise


@pytest.fixture
def kept(tmp_path: Path) -> tuple[Path, list[Location]]:
    """An archive of five exchanges in one file, closed."""
    with Archive(tmp_path / "pages") as archive:
        return tmp_path / "pages", [archive.append(page(number)) for number in range(5)]


values = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=[chr(code) for code in range(32)] + ["\x7f"]))
headers = st.lists(
    st.tuples(
        st.one_of(
            st.from_regex(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}", fullmatch=True),
            st.sampled_from(
                ["Content-Length", "content-length", "Transfer-Encoding", "X-Crawler-Content-Length", "Content-Encoding"]
            ),
        ),
        st.one_of(values.map(str.strip), st.sampled_from(["0", "3", "chunked", "gzip"])),
    ),
    max_size=6,
).map(tuple)


@pytest.mark.slow
@given(
    headers=headers,
    payload=st.one_of(
        st.binary(max_size=300), st.sampled_from([b"\r\n\r\n", b"WARC/1.1\r\n\r\n", b"0\r\n\r\n", b"\x1f\x8b\x08"])
    ),
    protocol=st.sampled_from(["HTTP/1.1", "HTTP/1.0", "HTTP/2"]),
    status=st.integers(100, 599),
    reason=values.map(str.strip),
    truncated=st.sampled_from([None, "length", "time", "disconnect"]),
    time=st.integers(0, 10**15).map(lambda microseconds: TIME + timedelta(microseconds=microseconds)),
)
def test_any_headers_and_payload_come_back_as_they_were(
    tmp_path: Path,
    headers: tuple[tuple[str, str], ...],
    payload: bytes,
    protocol: str,
    status: int,
    reason: str,
    truncated,
    time: datetime,
) -> None:
    folder = tmp_path / "any"
    exchange = Exchange(
        url="https://host.example/p?q=1#f",
        time=time,
        status=status,
        payload=payload,
        headers=headers,
        reason="" if protocol == "HTTP/2" else reason,
        protocol=protocol,
        method="POST",
        truncated=truncated,
        address="2001:db8::1",
    )
    with Archive(folder) as archive:
        assert archive.read(archive.append(exchange)) == exchange
    assert passes_checker(files_of(folder))
    shutil.rmtree(folder)


def test_headers_with_line_ends_or_outside_latin_cannot_break_a_record(tmp_path: Path) -> None:
    hostile = (
        ("X-A\r\nSet-Cookie", "1"),
        ("X-B", "one\r\n\r\nWARC/1.1\r\nWARC-Type: response\r\n\x00"),
        ("X-C", "北京\ud800"),
        ("", "nameless"),
        ("Näme: x", "y"),
    )
    exchange = replace(
        page(1),
        url="https://host.example/北 京\r\nWARC-Type: warcinfo",
        headers=hostile,
        request_headers=hostile[1:],
        reason="OK\r\n\r\nbody",
        address="no address\r\nX: y",
    )
    with Archive(tmp_path) as archive:
        found = archive.read(archive.append(exchange))
    assert found.payload == exchange.payload
    assert found.url == "https://host.example/%E5%8C%97%20%E4%BA%AC%0D%0AWARC-Type:%20warcinfo"
    assert found.headers[1:] == found.request_headers
    assert found.headers == (
        ("X-A--Set-Cookie", "1"),
        ("X-B", "one    WARC/1.1  WARC-Type: response"),
        ("X-C", "北京?"),
        ("-", "nameless"),
        ("N-me--x", "y"),
    )
    assert (found.reason, found.address) == ("OK    body", None)
    assert passes_checker(files_of(tmp_path))
    with files_of(tmp_path)[0].open("rb") as file:
        assert [record.rec_type for record in ArchiveIterator(file)] == ["warcinfo", "response", "request"]


def test_other_tools_read_what_was_written(tmp_path: Path) -> None:
    exchange = replace(
        page(3),
        payload=b"The harbour of Norvik.",
        headers=(("Content-Type", "text/plain"), ("Transfer-Encoding", "chunked"), ("Content-Length", "999")),
        protocol="HTTP/2",
        reason="",
        truncated="time",
        time=datetime(2024, 5, 6, 9, 8, 9, 120, tzinfo=timezone(timedelta(hours=2))),
    )
    with Archive(tmp_path) as archive:
        location = archive.append(exchange)
    (file,) = files_of(tmp_path)
    with file.open("rb") as stream:
        iterator = ArchiveIterator(stream, check_digests="raise")
        first, response, request = [
            (record, record.content_stream().read(), iterator.get_record_offset()) for record in iterator
        ]
    assert b"software: localfact/" in first[1]
    assert b"format: WARC File Format 1.1" in first[1]
    fields = response[0].rec_headers
    assert (response[0].rec_type, fields.protocol, response[1], response[2]) == (
        "response",
        "WARC/1.1",
        exchange.payload,
        location.offset,
    )
    named = {name: fields.get_header(f"WARC-{name}") for name in ("Target-URI", "Date", "IP-Address", "Truncated", "Protocol")}
    assert named == {
        "Target-URI": "https://host.example/3?q=a%20b",
        "Date": "2024-05-06T07:08:09.000120Z",
        "IP-Address": "192.0.2.7",
        "Truncated": "time",
        "Protocol": "h2",
    }
    assert fields.get_header("WARC-Payload-Digest")
    assert fields.get_header("WARC-Block-Digest")
    assert (response[0].http_headers.protocol, response[0].http_headers.statusline) == ("HTTP/1.1", "200 OK")
    assert response[0].http_headers.headers == [
        ("Content-Type", "text/plain"),
        ("X-Crawler-Transfer-Encoding", "chunked"),
        ("X-Crawler-Content-Length", "999"),
        ("Content-Length", "22"),
    ]
    assert request[0].rec_headers.get_header("WARC-Concurrent-To") == fields.get_header("WARC-Record-ID")
    assert (request[0].http_headers.protocol, request[0].http_headers.statusline) == ("GET", "/3?q=a%20b HTTP/1.1")


@pytest.mark.skipif(shutil.which("zcat") is None, reason="no zcat")
def test_zcat_reads_the_files(kept: tuple[Path, list[Location]]) -> None:
    folder, _ = kept
    text = subprocess.run(["zcat", *files_of(folder)], check=True, capture_output=True).stdout
    assert text.startswith(b"WARC/1.1\r\nWARC-Type: warcinfo\r\n")
    assert all(page(number).payload in text for number in range(5))


def test_secrets_of_the_request_are_never_written(tmp_path: Path) -> None:
    secrets = (
        "Cookie",
        "authorization",
        "Proxy-Authorization",
        "X-API-KEY",
        "X-Subscription-Token",
        "api-key",
        "X-Auth-Secret",
    )
    sent = (("Accept", "*/*"), *((name, "hunter2") for name in secrets), ("Host", "host.example"))
    with Archive(tmp_path) as archive:
        found = archive.read(archive.append(replace(page(1), request_headers=sent)))
    assert found.request_headers == (("Accept", "*/*"), ("Host", "host.example"))
    with files_of(tmp_path)[0].open("rb") as file:
        assert all(b"hunter2" not in record.raw_stream.read() for record in ArchiveIterator(file, no_record_parse=True))


def test_the_checker_refuses_a_file_with_a_wrong_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("localfact.web.archiving.warc_exchange.digest_written", lambda content: "sha1:" + "A" * 32)
    with Archive(tmp_path) as archive:
        archive.append(page(1))
    assert not passes_checker(files_of(tmp_path))


@pytest.mark.parametrize("size", range(65_200, 65_600, 7))
def test_a_record_that_ends_near_a_piece_of_the_reader_is_read(tmp_path: Path, size: int) -> None:
    with Archive(tmp_path) as archive:
        pages = [page(1, size), page(2)]
        locations = [archive.append(exchange) for exchange in pages]
        assert list(exchanges_of(tmp_path)) == list(zip(locations, pages, strict=True))


def test_files_are_rotated_and_read_in_order(tmp_path: Path) -> None:
    pages = [page(number) for number in range(20)]
    locations = []
    for part in (pages[:7], pages[7:8], pages[8:]):
        with Archive(tmp_path, max_bytes=10_000) as archive:
            locations += [archive.append(exchange) for exchange in part]
    assert [file.name for file in files_of(tmp_path)] == [f"pages-{number:05d}.warc.gz" for number in range(1, 8)]
    assert max(file.stat().st_size for file in files_of(tmp_path)) <= 10_000
    archive = Archive(tmp_path)
    assert list(exchanges_of(tmp_path)) == list(zip(locations, pages, strict=True))
    assert [archive.read(location) for location in reversed(locations)] == pages[::-1]
    assert passes_checker(files_of(tmp_path))


def test_an_exchange_larger_than_a_file_gets_one_of_its_own(tmp_path: Path) -> None:
    with Archive(tmp_path, max_bytes=1_000) as archive:
        locations = [archive.append(page(number)) for number in range(3)]
    assert len({location.file for location in locations}) == 3


def test_reading_needs_no_right_to_write_and_makes_nothing(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "none")
    with pytest.raises(CorpusError, match="cannot be read"):
        archive.read(Location("pages-00001.warc.gz", 0, 10))
    archive.close()
    assert not (tmp_path / "none").exists()


def test_threads_append_at_once(tmp_path: Path) -> None:
    with Archive(tmp_path, max_bytes=40_000) as archive:
        with ThreadPoolExecutor(8) as pool:
            locations = list(pool.map(lambda number: archive.append(page(number)), range(60)))
        assert [archive.read(location) for location in locations] == [page(number) for number in range(60)]
    assert len(list(exchanges_of(tmp_path))) == 60
    assert passes_checker(files_of(tmp_path))


@pytest.mark.slow
def test_a_cut_anywhere_in_the_last_append_loses_nothing_before(kept: tuple[Path, list[Location]]) -> None:
    folder, locations = kept
    (file,) = files_of(folder)
    content = file.read_bytes()
    response_end = locations[-1].offset + locations[-1].length
    for size in [
        *range(locations[-1].offset, locations[-1].offset + 40),
        *range(locations[-1].offset, len(content), 97),
        len(content) - 1,
    ]:
        file.write_bytes(content[:size])
        whole = 5 if size >= response_end else 4
        assert [found.payload for _, found in exchanges_of(folder)] == [page(number).payload for number in range(whole)]
        with Archive(folder, known_end=locations[2] if size % 2 else None) as archive:
            added = archive.append(page(9))
        assert added.offset == (response_end if whole == 5 else locations[-1].offset)
        assert [found.url for _, found in exchanges_of(folder)] == [page(number).url for number in [*range(whole), 9]]
        assert passes_checker([file])


def test_a_cut_in_the_first_record_of_a_file_begins_it_anew(kept: tuple[Path, list[Location]]) -> None:
    folder, locations = kept
    (file,) = files_of(folder)
    for size in (0, 1, 50, locations[0].offset):
        os.truncate(file, size)
        with Archive(folder) as archive:
            location = archive.append(page(0))
        assert [found for found, _ in exchanges_of(folder)] == [location]
        assert passes_checker([file])


def test_zeros_that_a_power_cut_leaves_at_the_end_are_cut_off(kept: tuple[Path, list[Location]]) -> None:
    folder, _ = kept
    (file,) = files_of(folder)
    size = file.stat().st_size
    with file.open("ab") as stream:
        stream.write(bytes(5_000))
    with Archive(folder) as archive:
        assert archive.append(page(5)).offset == size
    assert len(list(exchanges_of(folder))) == 6


@pytest.mark.parametrize("place", [3, 200, 1_000])
def test_damage_before_whole_records_is_told_and_nothing_is_cut(kept: tuple[Path, list[Location]], place: int) -> None:
    folder, locations = kept
    (file,) = files_of(folder)
    content = bytearray(file.read_bytes())
    content[locations[2].offset + place] ^= 0xFF
    file.write_bytes(content)
    with Archive(folder) as archive:
        added = archive.append(page(5))
    assert (added.file, file.read_bytes()) == ("pages-00002.warc.gz", bytes(content))
    assert [archive.read(location).url for location in (*locations[:2], *locations[3:], added)] == [
        page(number).url for number in (0, 1, 3, 4, 5)
    ]
    with pytest.raises(CorpusError, match=rf"pages-00001.warc.gz, byte {locations[2].offset}: .*damaged"):
        archive.read(locations[2])


def test_damage_in_the_only_file_is_told_without_anything_being_added(kept: tuple[Path, list[Location]]) -> None:
    folder, locations = kept
    (file,) = files_of(folder)
    content = bytearray(file.read_bytes())
    content[locations[-1].offset + 500] ^= 0xFF
    file.write_bytes(content)
    with pytest.raises(CorpusError, match=f"byte {locations[-1].offset}"):
        Archive(folder).read(locations[-1])


def test_the_disk_is_waited_for_at_each_append(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Archive(tmp_path) as archive:
        archive.append(page(0))
        calls: list[int] = []
        monkeypatch.setattr(module.os, "fsync", calls.append)
        for number in range(3):
            archive.append(page(number))
        assert len(calls) == 3


def test_bytes_changed_under_a_right_checksum_are_found_by_the_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "members_of", lambda exchange: tuple(map(respelled, members_of(exchange))))
    from localfact.web.archiving.warc_exchange import members_of

    with Archive(tmp_path) as archive:
        location = archive.append(replace(page(1), payload=b"It was built in 1884."))
        with pytest.raises(CorpusError, match="digest is wrong"):
            archive.read(location)


def respelled(member: bytes) -> bytes:
    """A member whose text was changed after its digest was taken."""
    import gzip

    return gzip.compress(gzip.decompress(member).replace(b"1884", b"1984"))


@pytest.mark.parametrize(
    "location",
    [
        Location("../pages/pages-00001.warc.gz", 0, 10),
        Location("/etc/passwd", 0, 10),
        Location("pages-00001.warc.gz", -5, 10),
        Location("pages-00001.warc.gz", 10**9, 10),
        Location("pages-00001.warc.gz", 7, 10),
        Location("pages-00001.warc.gz", 0, 329),
        Location("pages-00009.warc.gz", 0, 10),
    ],
)
def test_a_location_that_is_none_is_refused(kept: tuple[Path, list[Location]], location: Location) -> None:
    with pytest.raises(CorpusError, match="Copy the corpus again"):
        Archive(kept[0]).read(location)


def test_a_location_of_another_length_is_refused(kept: tuple[Path, list[Location]]) -> None:
    folder, locations = kept
    with pytest.raises(CorpusError, match="no record begins and ends there"):
        Archive(folder).read(replace(locations[1], length=locations[1].length - 1))


def test_records_that_the_corpus_names_but_the_archive_lacks_are_told_before_anything_is_added(
    kept: tuple[Path, list[Location]],
) -> None:
    folder, locations = kept
    (file,) = files_of(folder)
    os.truncate(file, locations[-1].offset + 10)
    with pytest.raises(CorpusError, match="ends before a record"):
        Archive(folder, known_end=locations[-1]).append(page(9))
    with pytest.raises(CorpusError, match="lacks pages-00002"):
        Archive(folder, known_end=replace(locations[-1], file="pages-00002.warc.gz")).append(page(9))
    assert file.stat().st_size == locations[-1].offset + 10


def test_an_archive_that_is_gone_is_not_begun_anew_where_the_corpus_names_a_record(
    kept: tuple[Path, list[Location]], tmp_path: Path
) -> None:
    _, locations = kept
    with pytest.raises(CorpusError, match="lacks pages-00001"):
        Archive(tmp_path / "gone", known_end=locations[-1]).append(page(9))
    assert not list(tmp_path.glob("gone/*"))


def test_a_remembered_end_keeps_what_is_before_from_being_read(
    kept: tuple[Path, list[Location]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, locations = kept
    begun: list[int] = []
    real = module.Unzipped
    monkeypatch.setattr(module, "Unzipped", lambda file, **how: begun.append(file.tell()) or real(file, **how))
    with Archive(folder, known_end=locations[-1]) as archive:
        archive.append(page(9))
    assert begun == [locations[-1].offset + locations[-1].length]


def test_a_full_disk_takes_nothing_and_leaves_nothing_half_written(
    kept: tuple[Path, list[Location]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = kept
    (file,) = files_of(folder)
    size = file.stat().st_size

    def full(stream, content: bytes) -> None:
        stream.write(content[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    with Archive(folder) as archive:
        with monkeypatch.context() as patch:
            patch.setattr(module, "write_all", full)
            with pytest.raises(WriteError, match="No space left"):
                archive.append(page(8))
        assert file.stat().st_size == size
        assert archive.append(page(8)).offset == size


def test_a_payload_beyond_all_bounds_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PAYLOAD_BYTES", 1_000)
    with pytest.raises(InputError, match="1,000 bytes"):
        Archive(tmp_path).append(page(1))


CHILD = """
import dataclasses, json, os, signal, sys
from pathlib import Path
folder, first, known, most, *paths = sys.argv[1:]
sys.path[:0] = paths
from test_archive import page
from localfact.web.archiving import archive as module

written = 0

def write_and_die(file, content):
    global written
    for begin in range(0, len(content), 4096):
        written += file.write(content[begin : begin + 4096])
        if written > int(most):
            os.kill(os.getpid(), signal.SIGKILL)

if int(most):
    module.write_all = write_and_die
end = module.Location(**json.loads(known)) if known else None
with module.Archive(Path(folder), max_bytes=20_000_000, known_end=end) as archive:
    for number in range(int(first), 10_000):
        location = archive.append(page(number, 700_000))
        print(json.dumps([number, dataclasses.asdict(location)]), flush=True)
"""


def appended(
    folder: Path, first: int, known: Location | None, moments: random.Random, most: int
) -> Iterator[tuple[int, Location]]:
    """What a process says that it has appended until it is killed: in a write after `most` bytes, or for 0 at some moment."""
    here = Path(__file__).parent
    told = json.dumps(asdict(known)) if known else ""
    arguments = [str(folder), str(first), told, str(most), str(here), str(here.parents[1] / "support")]
    child = subprocess.Popen([sys.executable, "-c", CHILD, *arguments], stdout=subprocess.PIPE, text=True)
    assert child.stdout
    lines = [] if most else [child.stdout.readline() for _ in range(moments.randrange(1, 7))]
    timer = threading.Timer(60 if most else moments.random() * 0.06, child.send_signal, [signal.SIGKILL])
    timer.start()
    lines += child.stdout.readlines()
    child.stdout.close()
    assert child.wait(timeout=60) == -signal.SIGKILL
    timer.cancel()
    for line in lines:
        if line.endswith("\n"):
            number, location = json.loads(line)
            yield number, Location(**location)


def is_cut_short(file: Path) -> bool:
    """Whether a file ends in the middle of a record."""
    try:
        with file.open("rb") as stream:
            return not list(records(Unzipped(stream, zipped=True), 0))
    except DamagedError as damage:
        return "ends in the middle" in str(damage)


@pytest.mark.slow
def test_kills_at_random_moments_lose_no_record_that_was_whole(tmp_path: Path) -> None:
    moments = random.Random(20)
    known: dict[int, Location] = {}
    cut_short = 0
    for attempt in range(10):
        last = known[max(known)] if known and attempt % 3 else None
        most = moments.randrange(500_000, 4_000_000) if attempt % 2 else 0
        known.update(appended(tmp_path, max(known, default=-1) + 1, last, moments, most))
        cut_short += is_cut_short(files_of(tmp_path)[-1])
        archive = Archive(tmp_path)
        assert all(archive.read(location) == page(number, 700_000) for number, location in known.items())
        assert set(known.values()) <= {location for location, _ in exchanges_of(tmp_path)}
    with Archive(tmp_path) as archive:
        archive.append(page(10_000))
    assert passes_checker(files_of(tmp_path))
    assert len(known) >= 10
    assert cut_short >= 4
