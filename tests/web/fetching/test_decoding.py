import contextlib
import gzip
import itertools
import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.web.fetching.decoding import MOST_MEMBERS, Decoder, coding_of
from localfact.web.fetching.failures import PageError, Reason

TEXT = b"The lighthouse on Cape Orm was first lit on 3 May 1862. " * 40


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


PACKED = {
    "identity": lambda data: data,
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "raw deflate": raw_deflate,
    "members": lambda data: gzip.compress(data[:7]) + gzip.compress(b"") + gzip.compress(data[7:]),
    "padded": lambda data: gzip.compress(data) + bytes(300),
}
CODING = {"raw deflate": "deflate", "members": "gzip", "padded": "gzip"}


def decoded(coding: str, packed: bytes, cuts: list[int], limit: int = 1_000_000) -> bytes:
    decoder = Decoder(coding, limit)
    places = [0, *sorted(cut % (len(packed) + 1) for cut in cuts), len(packed)]
    for start, end in itertools.pairwise(places):
        decoder.feed(packed[start:end])
    decoder.finish()
    return bytes(decoder.body)


@given(st.sampled_from(sorted(PACKED)), st.binary(max_size=3000), st.lists(st.integers(0, 10_000), max_size=6))
def test_a_body_comes_out_as_it_went_in_however_it_was_cut_into_chunks(how: str, data: bytes, cuts: list[int]) -> None:
    assert decoded(CODING.get(how, how), PACKED[how](data), cuts) == data


@given(st.sampled_from(["gzip", "deflate"]), st.integers(2, 60))
def test_compressed_data_that_ends_in_the_middle_is_unreadable(coding: str, missing: int) -> None:
    with pytest.raises(PageError) as caught:
        decoded(coding, PACKED[coding](TEXT)[:-missing], [])
    assert caught.value.failure.reason is Reason.UNREADABLE


@pytest.mark.slow
@given(st.binary(min_size=2, max_size=400), st.sampled_from(["gzip", "deflate"]))
def test_bytes_that_are_no_compressed_data_raise_nothing_but_why_there_is_no_page(data: bytes, coding: str) -> None:
    decoder = Decoder(coding, 100)
    with contextlib.suppress(PageError):
        decoder.feed(data)
        decoder.finish()
    assert len(decoder.body) <= 100


def test_gzip_that_is_damaged_in_the_middle_is_unreadable() -> None:
    noise = random.Random(7).randbytes(2000)
    packed = bytearray(gzip.compress(noise + TEXT))
    packed[-300:-280] = b"\xff" * 20
    with pytest.raises(PageError, match="gzip data is damaged"):
        decoded("gzip", bytes(packed), [])


@pytest.mark.parametrize("how", sorted(PACKED))
def test_a_body_of_exactly_the_limit_passes_and_one_more_byte_is_too_large(how: str) -> None:
    coding = CODING.get(how, how)
    assert len(decoded(coding, PACKED[how](bytes(5000)), [900], limit=5000)) == 5000
    decoder = Decoder(coding, 5000)
    with pytest.raises(PageError) as caught:
        decoder.feed(PACKED[how](bytes(5001)))
    assert caught.value.failure.reason is Reason.TOO_LARGE
    assert len(decoder.body) == 5000


def test_a_bomb_of_a_hundred_megabytes_takes_no_more_memory_than_the_limit() -> None:
    import tracemalloc

    packed = gzip.compress(bytes(100_000_000), compresslevel=1)
    decoder = Decoder("gzip", 1_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(PageError):
            decoder.feed(packed)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_more_gzip_members_than_any_page_has_are_refused() -> None:
    with pytest.raises(PageError, match="gzip members"):
        decoded("gzip", gzip.compress(b"") * (MOST_MEMBERS + 1), [])


@pytest.mark.parametrize(
    ("header", "coding"),
    [("", "identity"), ("identity", "identity"), ("GZIP", "gzip"), ("x-gzip", "gzip"), ("identity, deflate", "deflate")],
)
def test_the_coding_is_read_from_the_header_in_any_spelling(header: str, coding: str) -> None:
    assert coding_of([("content-encoding", header)]) == coding


@pytest.mark.parametrize("header", ["br", "zstd", "gzip, gzip", "aes128gcm"])
def test_a_coding_that_was_not_asked_for_is_named(header: str) -> None:
    with pytest.raises(PageError) as caught:
        coding_of([("Content-Encoding", header)])
    assert caught.value.failure.reason is Reason.UNREADABLE
    assert header in caught.value.failure.detail
