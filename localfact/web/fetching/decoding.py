"""Decodes the content coding of a body as it arrives, up to a limit, so that a gzip bomb costs no more than other pages."""

import zlib
from collections.abc import Iterable
from typing import Literal

from localfact.web.fetching.exchange import header_of
from localfact.web.fetching.failures import PageError, Reason

Coding = Literal["identity", "gzip", "deflate"]

#: Sent as Accept-Encoding: the codings that this file decodes.
ACCEPTED_CODINGS = "gzip, deflate"
#: The most members of a gzip body (RFC 1952, 2.2); more are only meant to waste time.
MOST_MEMBERS = 1_000
GZIP_MAGIC = b"\x1f\x8b"

_GZIP_WINDOW = 16 + zlib.MAX_WBITS
_CODINGS: dict[str, Coding] = {"": "identity", "gzip": "gzip", "x-gzip": "gzip", "deflate": "deflate"}


def coding_of(headers: Iterable[tuple[str, str]]) -> Coding:
    """The content coding of an answer (RFC 9110, 8.4).

    Raises:
        PageError: UNREADABLE for a coding that was not asked for ("br", "zstd"), or several on top of each other.
    """
    named = (header_of(headers, "content-encoding") or "").lower().split(",")
    stated = ", ".join(word.strip() for word in named if word.strip() not in ("", "identity"))
    if stated not in _CODINGS:
        raise PageError(Reason.UNREADABLE, f"content encoding {stated[:40]}, which was not asked for")
    return _CODINGS[stated]


class Decoder:
    """Decodes one body, chunk by chunk, to at most `limit` bytes.

    Attributes:
        body: the bytes decoded so far.
    """

    def __init__(self, coding: Coding, limit: int) -> None:
        self.body = bytearray()
        self._coding = coding
        self._limit = limit
        self._member: zlib._Decompress | None = None
        self._members = 0
        self._waiting = b""
        self._ended = False

    def feed(self, chunk: bytes) -> None:
        """Decodes one chunk.

        Raises:
            PageError: TOO_LARGE once the body would exceed the limit (`body` then holds that many bytes); UNREADABLE if the
                bytes do not match the coding.
        """
        if self._coding == "identity":
            self._add(chunk)
            return
        data = self._waiting + chunk
        self._waiting = b""
        while data and not self._ended:
            if self._member is None and not self._begin(data):
                return
            data = self._inflate(data)

    def finish(self) -> None:
        """Checks, after the last chunk, that the compressed data is complete.

        Raises:
            PageError: UNREADABLE if it is not.
        """
        if self._member is not None or (self._waiting and not self._members):
            raise PageError(Reason.UNREADABLE, f"the {self._coding} data ends in the middle")

    def _begin(self, data: bytes) -> bool:
        """Prepares for the member that begins here; False if there is none, or more bytes are needed to tell."""
        if len(data) < 2:
            self._waiting = data
            return False
        if self._coding == "deflate":
            # "deflate" is the zlib format (RFC 9110, 8.4.1.2), but some servers send it without the zlib header.
            zlib_header = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
            self._member = zlib.decompressobj(zlib.MAX_WBITS if zlib_header else -zlib.MAX_WBITS)
        elif self._members and not data.startswith(GZIP_MAGIC):  # padding after the last member
            self._ended = True
        else:
            self._member = zlib.decompressobj(_GZIP_WINDOW)
        return not self._ended

    def _inflate(self, data: bytes) -> bytes:
        """Feeds the current member; returns what follows its end."""
        assert self._member is not None
        room = self._limit - len(self.body)
        try:
            # One byte more than the limit shows that it is exceeded; a max_length of 0 would mean no limit.
            decoded = self._member.decompress(data, room + 1)
        except zlib.error as error:
            raise PageError(Reason.UNREADABLE, f"the {self._coding} data is damaged") from error
        self._add(decoded)
        if not self._member.eof:
            return b""
        rest = self._member.unused_data
        self._member = None
        self._members += 1
        self._ended = self._coding == "deflate"
        if self._members > MOST_MEMBERS:
            raise PageError(Reason.UNREADABLE, f"more than {MOST_MEMBERS:,} gzip members")
        return rest

    def _add(self, decoded: bytes) -> None:
        room = self._limit - len(self.body)
        self.body += decoded[:room]
        if len(decoded) > room:
            raise PageError(Reason.TOO_LARGE, f"more than {self._limit:,} bytes")
