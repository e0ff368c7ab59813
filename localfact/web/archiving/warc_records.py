"""Reads the records of WARC files within limits: used by the archive and by the import of other tools' files.

warcio parses the header fields. Its own iterator is not used, as it limits neither the length of a line nor how far a file
expands, and prints damage to the terminal instead of reporting it.
"""

import mmap
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from localfact.web.archiving.warc_fields import MAX_HEAD_BYTES, parse_head
from localfact.web.fetching.exchange import Headers, header_of

#: Bytes that are read, or expanded, at a time.
PIECE = 65_536
#: Two blank lines end a record; some tools write more.
MOST_BLANK_LINES = 100
GZIP_MAGIC = b"\x1f\x8b"
#: At how many places behind damage a complete record is looked for.
MOST_TRIES = 10_000


class DamagedError(Exception):
    """A record that cannot be read, and why.

    Attributes:
        offset: byte of the file at which the record, or its gzip member, begins.
    """

    def __init__(self, offset: int, why: str) -> None:
        super().__init__(why)
        self.offset = offset


@dataclass(frozen=True)
class WarcRecord:
    """One record of a WARC file.

    Attributes:
        kind: its WARC-Type.
        fields: the named fields of its head, in their order.
        block: what it holds; None where that is longer than the reader wanted.
        length: of the block, in bytes.
        offset: where in the file it begins, or the gzip member it stands in.
        end: where its gzip member ends; None if that goes on, or the file is not compressed.
        alone: whether reading can start at the offset.
    """

    kind: str
    fields: Headers
    block: bytes | None
    length: int
    offset: int
    end: int | None
    alone: bool

    def field(self, name: str) -> str | None:
        """The first value of a named field."""
        return header_of(self.fields, name)


class Unzipped:
    """The bytes of a file, expanded if it consists of gzip members, in pieces of bounded size.

    Args:
        file: a seekable binary file, read from its current position.
        zipped: whether gzip members are expected.
        most: (a, b): expanding to more than a + b times the bytes read is damage (a bomb). None where records are bounded
            otherwise.

    Attributes:
        zipped: whether it is compressed.
    """

    def __init__(self, file: IO[bytes], *, zipped: bool, most: tuple[int, int] | None = None) -> None:
        self.zipped = zipped
        self._file = file
        self._most = most
        self._start = file.tell()
        self._raw = b""
        self._inflater = zlib.decompressobj(zlib.MAX_WBITS + 16)
        self._in_member = False
        self._member_begin = self._start
        self._pieces_of_member = 0
        self._expanded = 0
        self._piece = b""
        self._place = 0

    @property
    def offset(self) -> int:
        """Where in the file the next byte is, or the gzip member that holds it; valid right after `more` only."""
        return self._member_begin if self.zipped else self._file.tell() - len(self._piece) + self._place

    @property
    def at_begin(self) -> bool:
        """Whether reading could start at `offset` and get the next byte first."""
        return not self.zipped or (self._place == 0 and self._pieces_of_member == 1)

    def more(self) -> bool:
        """Whether there is another byte, which is then ready to be read. Raises DamagedError where it cannot be expanded."""
        while not self._more_of_member():
            if not self.zipped or not self._next_member():
                return False
        return True

    def end_of_member(self) -> int | None:
        """Where in the file the gzip member ends, if all its bytes are read; its checksum is then checked."""
        return None if self._more_of_member() or not self.zipped else self._file.tell() - len(self._raw)

    def line(self) -> bytes:
        """The next line with its end, cut at MAX_HEAD_BYTES; empty at the end of the file."""
        parts, length = [], 0
        while length < MAX_HEAD_BYTES and self.more():
            end = self._piece.find(b"\n", self._place) + 1
            part = self._piece[self._place : end or len(self._piece)][: MAX_HEAD_BYTES - length]
            self._place += len(part)
            parts.append(part)
            length += len(part)
            if part.endswith(b"\n"):
                break
        return b"".join(parts)

    def pieces(self, length: int) -> Iterator[bytes]:
        """The next `length` bytes in pieces. Raises DamagedError where there are fewer."""
        begin = self.offset
        while length:
            if not self.more():
                raise DamagedError(begin, "it ends in the middle of a record")
            part = self._piece[self._place : self._place + length]
            self._place += len(part)
            length -= len(part)
            yield part

    def skip(self, expected: bytes) -> bool:
        """Skips these bytes as far as they come next; False where other bytes of the same member come first."""
        for number, byte in enumerate(expected):
            if not self._more_of_member():
                break
            if self._piece[self._place] != byte:
                return number > 0
            self._place += 1
        return True

    def _more_of_member(self) -> bool:
        """`more` within the current gzip member."""
        if not self.zipped and self._place == len(self._piece):
            self._piece, self._place = self._file.read(PIECE), 0
        while self._in_member and self._place == len(self._piece):
            self._inflate()
        return self._place < len(self._piece)

    def _next_member(self) -> bool:
        """Begins with the next gzip member, if there is one."""
        self._raw = self._raw or self._file.read(PIECE)
        self._member_begin = self._file.tell() - len(self._raw)
        self._inflater = zlib.decompressobj(zlib.MAX_WBITS + 16)
        self._in_member = bool(self._raw)
        self._pieces_of_member = 0
        return self._in_member

    def _inflate(self) -> None:
        """Expands one piece, which may be empty."""
        self._raw = self._raw or self._file.read(PIECE)
        ended = not self._raw
        try:
            self._piece, self._place = self._inflater.decompress(self._raw, PIECE), 0
        except zlib.error as error:
            raise DamagedError(self._member_begin, f"it cannot be decompressed ({error})") from None
        whole = self._inflater.eof
        self._raw = self._inflater.unused_data if whole else self._inflater.unconsumed_tail
        self._in_member = not whole
        self._pieces_of_member += bool(self._piece)
        self._expanded += len(self._piece)
        if ended and not self._piece and not whole:
            raise DamagedError(self._member_begin, "it ends in the middle of a record")
        if self._most:
            free, times = self._most
            if self._expanded > free + times * (self._file.tell() - self._start - len(self._raw)):
                raise DamagedError(self._member_begin, f"from here on it expands to more than {times} times its size")


def records(source: Unzipped, max_block: int) -> Iterator[WarcRecord]:
    """Yields the records in order; a block of more than `max_block` bytes is skipped.

    Raises:
        DamagedError: the file cannot be read on, or what follows a record is no record.
    """
    while (head := record_head(source)) is not None:
        fields, offset, alone = head
        stated = header_of(fields, "Content-Length") or ""
        if not re.fullmatch(r"[0-9]{1,18}", stated):
            raise DamagedError(offset, "a record does not say how long it is")
        length = int(stated)
        pieces = source.pieces(length)
        block = b"".join(pieces) if length <= max_block else None
        for _ in pieces:
            pass
        # The two line ends that close a record are usually all that is left of its member.
        if not source.skip(b"\r\n\r\n"):
            raise DamagedError(offset, "the record is longer or shorter than it says")
        kind = (header_of(fields, "WARC-Type") or "").lower()
        yield WarcRecord(kind, fields, block, length, offset, source.end_of_member(), alone)


def record_head(source: Unzipped) -> tuple[Headers, int, bool] | None:
    """The fields of the next record, where it begins, and whether reading could start there; None at the end of the file."""
    lines: list[bytes] = []
    length = blank = 0
    offset, alone = 0, False
    while source.more():
        if not lines:
            offset, alone = source.offset, source.at_begin
        line = source.line()
        if not lines and not line.strip() and blank < MOST_BLANK_LINES:
            blank += 1
            continue
        if not lines and not line.startswith(b"WARC/"):
            raise DamagedError(offset, "what stands there is no WARC record")
        lines.append(line)
        length += len(line)
        if length >= MAX_HEAD_BYTES:
            raise DamagedError(offset, "the head of a record is too long")
        if not line.strip():
            return parse_head(b"".join(lines))[2], offset, alone
    if lines:
        raise DamagedError(offset, "it ends in the middle of a record")
    return None


def record_follows(file: IO[bytes], begin: int) -> bool:
    """Whether a complete record begins anywhere from `begin` on; also True where there are too many places to check."""
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for _ in range(MOST_TRIES):
            begin = content.find(GZIP_MAGIC + b"\x08", begin)
            if begin < 0:
                return False
            file.seek(begin)
            with suppress(DamagedError):
                if next(records(Unzipped(file, zipped=True), 0), None) is not None:
                    return True
            begin += 1
    return True
