"""Sends one request and receives the answer within limits: an Exchange for the archive, and the decoded body.

Redirects, further tries and waiting are left to fetch.py.
"""

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from localfact.errors import LocalFactError
from localfact.web.fetching.decoding import ACCEPTED_CODINGS, Decoder, coding_of
from localfact.web.fetching.exchange import Exchange, Headers, Truncated, header_of, media_type_of
from localfact.web.fetching.failures import PageError, PageFailure, Reason
from localfact.web.http_headers import user_agent

if TYPE_CHECKING:
    import httpcore
    import httpx

    from localfact.web.fetching.connections import Connections

#: Media types of pages, besides text of any kind.
DOCUMENT_TYPES = frozenset({"application/xhtml+xml", "application/pdf"})
#: Sent as Accept.
ACCEPTED_TYPES = "text/html, application/xhtml+xml, application/pdf;q=0.9, text/*;q=0.8"
#: The limits, in bytes and in seconds, for the body of a redirect or an error.
ASIDE_BYTES = 65_536
ASIDE_SECONDS = 3.0
#: The detail of a fetch that exceeds its time limit; without a number, so that the same page gives the same text.
OUT_OF_TIME = "not done within the time limit"
#: After so many pieces of a body other coroutines get a turn: one packet can hold thousands of pieces.
PIECES_AT_ONCE = 256
#: How many bytes decide whether an answer without a type is text (WHATWG MIME Sniffing, 5).
SNIFFED_BYTES = 1_445
#: Bytes that no text has (WHATWG MIME Sniffing, 3, "binary data byte").
_BINARY = frozenset([*range(0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)])
_WIDE_TEXT = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class BodyLimits:
    """What is accepted as the body of an answer with status 2xx.

    Attributes:
        most_bytes: of the payload as received, and of the body decoded.
        cut: whether a longer body is cut instead of refused.
        typed: whether only text, HTML and PDF are accepted.
    """

    most_bytes: int
    cut: bool = False
    typed: bool = True


@dataclass(frozen=True)
class HttpAnswer:
    """The outcome of one request.

    Attributes:
        exchange: None if no answer began.
        body: decoded; empty for a status other than 2xx.
        failure: why it is no page; None for a page.
        seconds: how long it took.
    """

    exchange: Exchange | None
    body: bytes
    failure: PageFailure | None
    seconds: float


class _Receipt:
    """The part of one answer that has arrived."""

    def __init__(self, url: "httpx.URL") -> None:
        self.url = url
        self.time = datetime.now(UTC)
        self.sent = [
            (b"Host", url.netloc),
            (b"User-Agent", user_agent().encode("ascii", "replace")),
            (b"Accept", ACCEPTED_TYPES.encode()),
            (b"Accept-Encoding", ACCEPTED_CODINGS.encode()),
        ]
        self.response: httpcore.Response | None = None
        self.headers: Headers = ()
        self.address: str | None = None
        self.payload = bytearray()
        self.truncated: Truncated | None = None
        self.decoder = Decoder("identity", 0)

    def begin(self, response: "httpcore.Response") -> None:
        self.response = response
        self.headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers)
        stream = response.extensions.get("network_stream")
        peer = stream.get_extra_info("server_addr") if stream is not None else None
        self.address = str(peer[0]) if peer else None

    @property
    def answered(self) -> bool:
        """Whether the status is 2xx."""
        return self.response is not None and 200 <= self.response.status < 300

    def exchange(self) -> Exchange | None:
        if self.response is None:
            return None
        return Exchange(
            url=str(self.url),
            time=self.time,
            status=self.response.status,
            payload=bytes(self.payload),
            headers=self.headers,
            reason=self.response.extensions.get("reason_phrase", b"").decode("latin-1"),
            protocol=self.response.extensions.get("http_version", b"HTTP/1.1").decode("latin-1"),
            request_headers=tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in self.sent),
            address=self.address,
            truncated=self.truncated,
        )


async def ask(
    url: "httpx.URL", connections: "Connections", limits: BodyLimits, *, seconds: float, read_seconds: float
) -> HttpAnswer:
    """Requests a URL and receives the answer.

    Args:
        url: checked (Addresses.target).
        seconds: for the whole answer.
        read_seconds: for connecting, and for each piece of the answer.
    """
    import httpcore

    receipt = _Receipt(url)
    started = time.monotonic()
    failure: PageFailure | None = None
    try:
        async with asyncio.timeout(seconds), connections.get(url, receipt.sent, read_seconds) as arriving:
            receipt.begin(arriving.response)
            if receipt.answered:
                await _receive(receipt, limits)
            else:
                await _receive_aside(receipt)
            arriving.whole = receipt.truncated is None
    except PageError as error:
        failure = error.failure
    except (TimeoutError, httpcore.TimeoutException) as error:
        receipt.truncated = "time"
        limit = f"nothing came for {read_seconds:g} s" if isinstance(error, httpcore.TimeoutException) else OUT_OF_TIME
        failure = PageFailure(reason=Reason.TIMED_OUT, detail=limit)
    except LocalFactError:
        raise
    except Exception as error:  # any error of h11, h2 and TLS about untrusted input concerns this page alone
        receipt.truncated = "disconnect"
        failure = PageFailure(reason=Reason.CONNECTION_FAILED, detail=_describe_error(error))
    if receipt.response is not None and not receipt.answered:
        failure = None  # the status tells more than an error while the body was read
    body = b"" if failure else bytes(receipt.decoder.body)
    return HttpAnswer(receipt.exchange(), body, failure, time.monotonic() - started)


async def _receive(receipt: _Receipt, limits: BodyLimits) -> None:
    """Receives the body of a page. Raises PageError where its type, size or coding is not accepted."""
    receipt.truncated = "length"  # until it is complete
    media_type = media_type_of(header_of(receipt.headers, "content-type"))
    stated = "/" in media_type
    if limits.typed and stated and not (media_type.startswith("text/") or media_type in DOCUMENT_TYPES):
        raise PageError(Reason.MEDIA_TYPE_REFUSED, media_type[:100])
    length = header_of(receipt.headers, "content-length") or ""
    if not limits.cut and length.isdecimal() and len(length) < 20 and int(length) > limits.most_bytes:
        raise PageError(Reason.TOO_LARGE, f"{int(length):,} bytes stated, {limits.most_bytes:,} taken")
    receipt.decoder = Decoder(coding_of(receipt.headers), limits.most_bytes)
    try:
        await _receive_body(receipt, limits.most_bytes, sniff=limits.typed and not stated)
    except PageError as error:
        if not limits.cut or error.failure.reason is not Reason.TOO_LARGE:
            raise
    else:
        receipt.decoder.finish()


async def _receive_body(receipt: _Receipt, most_bytes: int, sniff: bool) -> None:
    assert receipt.response is not None
    pieces = 0
    async for chunk in receipt.response.aiter_stream():
        pieces += 1
        if pieces % PIECES_AT_ONCE == 0:
            await asyncio.sleep(0)
        room = most_bytes - len(receipt.payload)
        receipt.payload += chunk[:room]
        receipt.decoder.feed(chunk[:room])
        if len(chunk) > room:
            raise PageError(Reason.TOO_LARGE, f"more than {most_bytes:,} bytes")
        if sniff and len(receipt.decoder.body) >= SNIFFED_BYTES:
            _check_sniffed(receipt.decoder.body)
            sniff = False
    receipt.truncated = None
    if sniff:
        _check_sniffed(receipt.decoder.body)


async def _receive_aside(receipt: _Receipt) -> None:
    """Receives the body of a redirect or an error, within the limits of ASIDE_BYTES and ASIDE_SECONDS."""
    assert receipt.response is not None
    receipt.truncated = "time"
    async with asyncio.timeout(ASIDE_SECONDS):
        async for chunk in receipt.response.aiter_stream():
            receipt.payload += chunk[: ASIDE_BYTES - len(receipt.payload)]
            if len(receipt.payload) >= ASIDE_BYTES:
                receipt.truncated = "length"
                return
    receipt.truncated = None


def _check_sniffed(body: bytearray) -> None:
    """Refuses an answer that states no type, unless its content looks like a PDF or like text."""
    start = bytes(body[:SNIFFED_BYTES])
    if b"%PDF-" not in start[:1024] and not start.startswith(_WIDE_TEXT) and not _BINARY.isdisjoint(start):
        raise PageError(Reason.MEDIA_TYPE_REFUSED, "no type stated, and the content is binary")


def _describe_error(error: Exception) -> str:
    """What went wrong with a connection, on one short line."""
    words = " ".join(str(error).split()) or type(error).__name__
    return words[:200]
