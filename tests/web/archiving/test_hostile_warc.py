"""Files that were cut short, damaged or made to do harm are read as far as they can be, told about, and cost little."""

import gzip
import random
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warc_checks import GOOD, PAGE, answer, exchanges, problems, record, written, zipped

from localfact.web.archiving import warc_reading, warc_records
from localfact.web.archiving.warc_reading import WarcProblem, read_warc
from localfact.web.fetching.exchange import Exchange


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


def bomb(megabytes: int) -> bytes:
    """A gzip member with a response of that many million zeros."""
    begin = record("response", answer(b""), length=megabytes * 1_000_000 + len(answer(b"")))[: -len(b"\r\n\r\n")]
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS + 16)
    million = bytes(1_000_000)
    parts = [packer.compress(begin), *(packer.compress(million) for _ in range(megabytes))]
    return b"".join([*parts, packer.compress(b"\r\n\r\n"), packer.flush()])


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
