"""Fields, dates, addresses and digests in the heads of WARC records and of the HTTP messages in them.

warcio parses the lines; their length is limited here.
"""

import base64
import binascii
import hashlib
import re
import string
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from urllib.parse import quote

from localfact.web.fetching.exchange import Headers

#: The most bytes of the head of a record or of an HTTP message; browsers have the same limit.
MAX_HEAD_BYTES = 262_144
END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
#: What stays in an address as it is: the characters of RFC 3986 and those that browsers let stand. The rest is percent-encoded.
ADDRESS_CHARACTERS = string.ascii_letters + string.digits + "-._~:/?#[]@!$&'()*+,;=%|^`{}\\"
ALGORITHMS = {"md5", "sha1", "sha224", "sha256", "sha384", "sha512"}


@dataclass(frozen=True)
class HttpMessage:
    """An HTTP response or request as it stands in a block; of a request, `protocol` holds the method."""

    protocol: str
    status_line: str
    headers: Headers
    body: bytes


def parse_head(head: bytes) -> tuple[str, str, Headers]:
    """The first word of the first line, the rest of that line, and the fields. Bytes are read as UTF-8, else as Latin-1."""
    from warcio.statusandheaders import StatusAndHeadersParser

    parsed = StatusAndHeadersParser([], verify=False).parse(BytesIO(head))
    return parsed.protocol, parsed.statusline, tuple(parsed.headers)


def http_message_of(block: bytes) -> HttpMessage | None:
    """The HTTP response, or request, in a block; None where the block does not begin with one."""
    end = END_OF_HEAD.search(block, 0, MAX_HEAD_BYTES)
    if end is None or not block[: end.start()].strip():
        return None
    return HttpMessage(*parse_head(block[: end.end()]), block[end.end() :])


def time_of(date: str | None) -> datetime | None:
    """A WARC-Date in UTC; None where it is not in ISO 8601 (WARC 1.1, section 5.4)."""
    try:
        time = datetime.fromisoformat((date or "").strip())
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def address_written(url: str) -> str:
    """An address that fits on one line: characters that no URI may hold are percent-encoded as UTF-8."""
    return quote(url, safe=ADDRESS_CHARACTERS, errors="replace")


def digest_written(content: bytes) -> str:
    """SHA-1 as archives write it: "sha1:" and base 32."""
    return "sha1:" + base64.b32encode(hashlib.sha1(content, usedforsecurity=False).digest()).decode()


def digest_agrees(stated: str | None, content: bytes) -> bool | None:
    """Whether "algorithm:value" is the digest of the content; None where nothing is stated, or in an unknown form.

    Tools write the value in base 32, base 16 or base 64 (WARC 1.1, section 5.8 leaves it open).
    """
    name, _, value = (stated or "").strip().partition(":")
    name = name.lower().replace("-", "")
    if name not in ALGORITHMS:
        return None
    digest = hashlib.new(name, content, usedforsecurity=False).digest()
    for decode in (base64.b32decode, bytes.fromhex, base64.b64decode):
        try:
            given = decode(value.upper() if decode is base64.b32decode else value)
        except (ValueError, binascii.Error):
            continue
        if len(given) == len(digest):
            return given == digest
    return None
