"""Reads WARC files of other tools (wget, Heritrix, browsertrix, Common Crawl) as exchanges, for import into a corpus.

The files are untrusted: memory is bounded whatever they hold, and records that give no exchange are reported with a reason.
"""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast, get_args

from localfact.runtime.addresses import address_without_secrets
from localfact.text import readable
from localfact.web.archiving.warc_fields import MAX_HEAD_BYTES, address_written, digest_agrees, http_message_of, time_of
from localfact.web.archiving.warc_records import GZIP_MAGIC, DamagedError, Unzipped, WarcRecord, records
from localfact.web.fetching.exchange import Exchange, Headers, Truncated, header_of

ZSTANDARD_MAGIC = b"\x28\xb5\x2f\xfd"
#: Limit against decompression bombs: a file may expand to the first number of bytes plus the second times its size.
MOST_EXPANSION = (200_000_000, 200)
#: The most bytes of original records that are read again for revisit records.
MAX_REVISITED_BYTES = 2_000_000_000
#: The size of a chunk, in hexadecimal, and extensions that nobody uses (RFC 9112, section 7.1).
CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]{0,1000})?\r?\n")
WEB = ("http://", "https://")


@dataclass(frozen=True)
class WarcProblem:
    """Why a record gave no exchange, or a doubtful one.

    Attributes:
        where: the file, and the record's place in it and address.
        why: a sentence.
        count: how many records it concerns; if more than one, it is reported at the end.
    """

    where: str
    why: str
    count: int = 1

    def __str__(self) -> str:
        return f"{self.where}: {self.why}" + (f" ({self.count:,} records)" if self.count > 1 else "")


class PassedOverError(Exception):
    """Why a record gives no exchange, as a sentence. `ordinary` reasons are counted, the others reported one by one."""

    def __init__(self, why: str, *, ordinary: bool = False) -> None:
        super().__init__(why)
        self.ordinary = ordinary


def read_warc(file: Path, *, max_payload: int = 10_000_000) -> Iterator[Exchange | WarcProblem]:
    """Yields the pages of a .warc or .warc.gz: responses of status 200, resources and conversions, with addresses of the web.

    Payloads come without transfer coding, still content-encoded. A revisit record gives its original's answer under its own
    address, if the original stands before it in the same file; a conversion (Common Crawl's WET) stands for its original where
    that is not there. Reading stops at damage, which is reported. Records that are
    passed over for an ordinary reason (another status, another kind of address) are counted and reported at the end, once a
    reason.

    Args:
        max_payload: larger payloads, in bytes, are passed over; memory stays within a few times this.
    """
    passed: Counter[str] = Counter()
    try:
        with file.open("rb") as opened:
            begin = opened.read(4)
            opened.seek(0)
            if begin == ZSTANDARD_MAGIC:
                yield WarcProblem(file.name, "It is compressed with Zstandard. Decompress it first: zstd -d.")
                return
            source = Unzipped(opened, zipped=begin.startswith(GZIP_MAGIC), most=MOST_EXPANSION)
            reader = WarcReader(file, max_payload)
            for record in records(source, max_payload + MAX_HEAD_BYTES):
                try:
                    yield from reader.exchanges_of(record)
                except PassedOverError as reason:
                    if reason.ordinary:
                        passed[str(reason)] += 1
                    else:
                        yield WarcProblem(place(file, record), str(reason))
            if not begin:
                yield WarcProblem(file.name, "The file is empty.")
    except DamagedError as damage:
        yield WarcProblem(f"{file.name}, byte {damage.offset}", f"The file is read up to here only: {damage}.")
    except OSError as error:
        yield WarcProblem(file.name, f"The file cannot be read: {error.strerror}.")
    for why, count in passed.items():
        yield WarcProblem(file.name, why, count)


@dataclass(frozen=True)
class Content:
    """The page in a record; `stored` is the payload as it stands there, which may be chunked."""

    payload: bytes
    stored: bytes
    headers: Headers
    reason: str = "OK"
    protocol: str = "HTTP/1.1"
    whole: bool = True


class WarcReader:
    """Turns the records of one file into exchanges, and remembers where the originals of revisits are.

    Args:
        file: read again for revisits.
        max_payload: the largest payload in bytes.
    """

    def __init__(self, file: Path, max_payload: int) -> None:
        self._file = file
        self._max_payload = max_payload
        self._originals: dict[tuple[str, ...], int] = {}
        self._revisited = 0

    def exchanges_of(self, record: WarcRecord) -> Iterator[Exchange | WarcProblem]:
        """The exchange of a record, and what is doubtful about it; nothing for records that are not about pages.

        Raises:
            PassedOverError: the record is about a page but gives no exchange.
        """
        if record.kind in {"warcinfo", "request", "metadata"}:
            return
        if record.kind not in {"response", "resource", "revisit", "conversion"}:
            raise PassedOverError(f"Records of type {readable(record.kind)[:40]!r} are not read.", ordinary=True)
        if not address(record).lower().startswith(WEB):
            raise PassedOverError("The record has no address of the web.", ordinary=True)
        if record.field("WARC-Segment-Number"):
            raise PassedOverError("The record is one segment of several.", ordinary=True)
        if record.kind == "revisit":
            yield self._revisit(record)
            return
        if record.kind == "conversion" and ("id", record.field("WARC-Refers-To") or "") in self._originals:
            return
        exchange, doubt = self._original(record)
        if record.alone:
            self._originals.update(dict.fromkeys(names_of(record), record.offset))
        yield exchange
        if doubt:
            yield WarcProblem(place(self._file, record), doubt)

    def _original(self, record: WarcRecord) -> tuple[Exchange, str | None]:
        """The exchange of a response or resource record, and what is doubtful about it."""
        time = time_of(record.field("WARC-Date"))
        if time is None:
            raise PassedOverError("The record has no date.")
        if record.block is None:
            raise PassedOverError(f"The answer has more than {self._max_payload:,} bytes.")
        content = response(record.block) if record.kind == "response" else resource(record.block, record)
        if len(content.payload) > self._max_payload:
            raise PassedOverError(f"The answer has more than {self._max_payload:,} bytes.")
        doubt = doubt_of(record, record.block, content)
        newer = content.protocol in {"HTTP/2", "HTTP/2.0"} or record.field("WARC-Protocol") == "h2"
        exchange = Exchange(
            url=address(record),
            time=time,
            status=200,
            payload=content.payload,
            headers=content.headers,
            reason="" if newer else content.reason,
            protocol="HTTP/2" if newer else content.protocol,
            address=record.field("WARC-IP-Address"),
            truncated=truncation(record.field("WARC-Truncated"), content.whole),
        )
        return exchange, doubt

    def _revisit(self, record: WarcRecord) -> Exchange:
        """The original's exchange under the address and time of the revisit."""
        offset = next((self._originals[name] for name in references_of(record) if name in self._originals), None)
        time = time_of(record.field("WARC-Date"))
        if offset is None or time is None or self._revisited > MAX_REVISITED_BYTES:
            raise PassedOverError("The original of the revisit record is not in this file, or was passed over.", ordinary=True)
        with self._file.open("rb") as file:
            zipped = file.read(2) == GZIP_MAGIC
            file.seek(offset)
            original = None
            with suppress(DamagedError):
                original = next(records(Unzipped(file, zipped=zipped), self._max_payload + MAX_HEAD_BYTES), None)
        if original is None:
            raise PassedOverError("The original of the revisit record cannot be read again.")
        self._revisited += original.length
        return replace(self._original(original)[0], url=address(record), time=time)


def response(block: bytes) -> Content:
    """The content of a response record: an HTTP answer with status 200."""
    answer = http_message_of(block)
    if answer is None or not answer.protocol.upper().startswith("HTTP/"):
        raise PassedOverError("The record holds no HTTP answer.")
    status = re.match(r"([0-9]{3})(?: (.*))?$", answer.status_line)
    if status is None:
        raise PassedOverError("The HTTP answer has no status.")
    if status[1] != "200":
        raise PassedOverError(f"The answer has status {status[1]}.", ordinary=True)
    payload, whole = answer.body, True
    if "chunked" in (header_of(answer.headers, "Transfer-Encoding") or "").lower():
        payload, whole = dechunk(answer.body)
    elif CHUNK_SIZE.match(answer.body):  # tools that leave the header out keep chunks by mistake: all of them, or it is text
        payload, complete = dechunk(answer.body)
        payload = payload if complete and payload else answer.body
    return Content(payload, answer.body, answer.headers, status[2] or "", answer.protocol.upper(), whole)


def resource(block: bytes, record: WarcRecord) -> Content:
    """The content of a resource or conversion record, which is the payload alone."""
    kind = record.field("Content-Type")
    return Content(block, block, (("Content-Type", kind),) if kind else ())


def dechunk(body: bytes) -> tuple[bytes, bool]:
    """A payload without chunk headers, and whether the last chunk is there (RFC 9112, section 7.1); trailers are dropped.

    Many tools keep the Transfer-Encoding header but not the chunks: what does not begin with a chunk is returned unchanged.
    """
    parts: list[bytes] = []
    begin = 0
    while match := CHUNK_SIZE.match(body, begin):
        size = int(match[1], 16)
        if size == 0:
            return b"".join(parts), True
        begin, end = match.end(), match.end() + size
        after = body[end : end + 2]
        if after and not after.startswith((b"\r", b"\n")):
            break
        parts.append(body[begin:end])
        begin = end + (2 if after == b"\r\n" else 1)
    return (b"".join(parts), False) if parts else (body, True)


def truncation(stated: str | None, whole: bool) -> Truncated | None:
    """Why the payload is incomplete; an unknown reason counts as a broken connection."""
    if stated in get_args(Truncated):
        return cast(Truncated, stated)
    return "disconnect" if stated or not whole else None


def doubt_of(record: WarcRecord, block: bytes, content: Content) -> str | None:
    """What is doubtful about the bytes: that they do not match the stated digests; None for nothing.

    Tools differ in what they take the payload's digest of (chunked or not), so the block's digest decides where there is one.
    """
    of_block = digest_agrees(record.field("WARC-Block-Digest"), block)
    stated = record.field("WARC-Payload-Digest")
    of_payload = {digest_agrees(stated, content.stored), digest_agrees(stated, content.payload)}
    if of_block is False:
        raise PassedOverError("The record's digest is wrong: these are not the bytes that were written.")
    if of_payload != {False}:
        return None
    if of_block is None:
        raise PassedOverError("The payload's digest is wrong: these are not the bytes that were written.")
    return "The payload's digest is wrong, but the record's is right: the page was taken."


def address(record: WarcRecord) -> str:
    """The address of a record in writable characters; older versions of wget put it in angle brackets."""
    stated = (record.field("WARC-Target-URI") or "").strip()
    return address_written(stated[1:-1] if stated.startswith("<") and stated.endswith(">") else stated)


def names_of(record: WarcRecord) -> Iterator[tuple[str, ...]]:
    """Keys by which a revisit record may refer to this record."""
    if digest := record.field("WARC-Payload-Digest"):
        yield "digest", digest
    if name := record.field("WARC-Record-ID"):
        yield "id", name
    yield "address", address(record), record.field("WARC-Date") or ""


def references_of(record: WarcRecord) -> Iterator[tuple[str, ...]]:
    """Keys by which a revisit record refers to its original, the most reliable first (WARC 1.1, section 6.7)."""
    if name := record.field("WARC-Refers-To"):
        yield "id", name
    target = address_written((record.field("WARC-Refers-To-Target-URI") or "").strip())
    yield "address", target, record.field("WARC-Refers-To-Date") or ""
    if digest := record.field("WARC-Payload-Digest"):
        yield "digest", digest


def place(file: Path, record: WarcRecord) -> str:
    """The file, position and address of a record, in one line."""
    return f"{file.name}, byte {record.offset}, {readable(address_without_secrets(address(record)))[:200]}"
