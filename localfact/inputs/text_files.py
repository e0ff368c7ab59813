"""Opens users' files as text: UTF-8, or UTF-16 and UTF-32 as their first bytes tell, and says what is no text at all."""

import codecs
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from localfact.errors import InputError

#: How many bytes of a file tell how it is written.
SAMPLE = 65_536
#: How a file begins -> its encoding. That of UTF-32 begins as that of UTF-16 does.
MARKS: Mapping[bytes, str] = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
#: How a file begins -> what it is, and how to make of it what can be read. A text may begin with the letters of most of them,
#: and not with what follows these there.
NO_TEXT: Mapping[bytes, tuple[str, str]] = {
    b"PK\x03\x04": ("a zip archive or an Excel workbook", "save the sheet as CSV (UTF-8), or unpack it"),
    b"\xd0\xcf\x11\xe0": ("an old Office file", "save it as CSV (UTF-8) or as plain text"),
    b"PAR1\x15": ("a Parquet file", "pandas.read_parquet(FILE).to_json(LINES, orient='records', lines=True) rewrites it"),
    b"ARROW1\0\0": ("an Arrow file", "pandas.read_feather(FILE).to_json(LINES, orient='records', lines=True) rewrites it"),
    b"\x1f\x8b": ("packed by gzip", "unpack it with gunzip"),
    b"%PDF-": ("a PDF", "save its text as a .txt file"),
    b"SQLite format 3\0": ("an SQLite database", "export the table as CSV"),
}
#: At least one in so many pairs of bytes of UTF-16 without a mark has a zero in one place, as line ends and spaces have; at
#: most a tenth as many have one in the other.
ZERO_EVERY = 50
_BROKEN = re.compile("[\udc80-\udcff]")


@contextmanager
def open_text(path: Path, holding: str) -> Iterator[TextIO]:
    """A file as text; in UTF-8, invalid bytes become lone surrogates, which `readable` makes replacement characters of.

    Args:
        holding: what the file should hold, for messages.

    Raises:
        InputError: the file is missing, unreadable, or no text; also while it is read.
    """
    try:
        with path.open("rb") as file:
            sample = file.read(SAMPLE)
        for mark, (what, cure) in NO_TEXT.items():
            if sample.startswith(mark):
                raise InputError(f"{path} is {what}, which is not read: {cure}. It should hold {holding}.")
        encoding = encoding_of(sample)
        broken = "surrogateescape" if encoding.startswith("utf-8") else "replace"
        with path.open(encoding=encoding, errors=broken, newline="") as text:
            yield text
    except FileNotFoundError:
        raise InputError(f"There is no file {path}. Name a file of {holding}.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None


def encoding_of(sample: bytes) -> str:
    """The encoding of a file that begins so: as its mark says, UTF-16 by where its zero bytes are, else UTF-8."""
    marked = next((encoding for mark, encoding in MARKS.items() if sample.startswith(mark)), None)
    if marked is not None:
        return marked
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    more, fewer = max(even, odd), min(even, odd)
    if not more or more * ZERO_EVERY < len(sample) // 2 or fewer * 10 > more:
        return "utf-8"
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    try:
        codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return "utf-8"
    return encoding


def read_text(path: Path, holding: str) -> str:
    """The whole text of a file, as `open_text` reads it.

    Raises:
        InputError: the file is missing, unreadable, no text, or empty.
    """
    with open_text(path, holding) as file:
        text = file.read()
    if not text.strip():
        raise InputError(f"{path} is empty. It should hold {holding}.")
    return text


def count_broken(text: str) -> int:
    """How many bytes of what `open_text` read were not UTF-8."""
    return 0 if text.isascii() else len(_BROKEN.findall(text))
