"""Writes one exchange as WARC records and reads it back; headers are untrusted and cannot break a record.

Used by the archive only. `Exchange` -> two gzip members -> `Exchange` loses only what is named here.
"""

import ipaddress
import re
from dataclasses import replace
from datetime import UTC
from http import HTTPStatus
from io import BytesIO
from typing import Any, cast, get_args
from urllib.parse import urlsplit

from localfact.runtime.addresses import address_without_secrets
from localfact.web.archiving.warc_fields import address_written, digest_agrees, digest_written, http_message_of, time_of
from localfact.web.archiving.warc_records import DamagedError, WarcRecord
from localfact.web.fetching.exchange import Exchange, Headers, Truncated
from localfact.web.http_headers import program

WARC_VERSION = "WARC/1.1"
#: Prefix of stored headers that no longer fit the stored payload; Common Crawl's convention.
PREFIX = "X-Crawler-"
#: Headers about the payload's transfer, as it is stored without transfer coding and perhaps truncated.
SENDING = re.compile(r"(?:X-Crawler-)*(?:Transfer-Encoding|Content-Length)", re.IGNORECASE)
#: Request headers that may hold secrets; never written.
SECRET = re.compile(r"cookie|authorization|api-?key|(?:^|-)key$|token|secret|credential|passw|session", re.IGNORECASE)
#: What a header's name cannot hold (RFC 9110, section 5.6.2), and its value (section 5.5).
NO_TOKEN = re.compile(r"[^!#$%&'*+.^_`|~0-9A-Za-z-]")
#: Headers that are one address; in others it is one piece among several.
ADDRESSES = frozenset({"location", "content-location", "referer"})
PIECE = re.compile(r"[^\s\"<>]+")
CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def members_of(exchange: Exchange) -> tuple[bytes, bytes]:
    """The response record and the request record, a gzip member each.

    Control characters in headers become spaces; white space around values and characters outside ASCII in names are removed;
    secrets in addresses and request headers that hold secrets are left out; `Transfer-Encoding`, and a `Content-Length` that
    is not the payload's, get a prefix.
    """
    exchange = without_secrets(exchange)
    date = (exchange.time if exchange.time.tzinfo is None else exchange.time.astimezone(UTC)).replace(tzinfo=None)
    common = {
        "WARC-Target-URI": address_written(exchange.url),
        "WARC-Date": date.isoformat() + "Z",
        **address_fields(exchange.address),
    }
    fields = {**common, "WARC-Payload-Digest": digest_written(exchange.payload)}
    if exchange.truncated:
        fields["WARC-Truncated"] = exchange.truncated
    if exchange.protocol == "HTTP/2":
        fields["WARC-Protocol"] = "h2"
    response, name = member("response", fields, response_head(exchange) + exchange.payload)
    fields = {**common, "WARC-Payload-Digest": digest_written(b""), "WARC-Concurrent-To": name}
    request, _ = member("request", fields, request_head(exchange))
    return response, request


def without_secrets(exchange: Exchange) -> Exchange:
    """The exchange without the secrets in its own address and in those that its headers name.

    The body of a redirect repeats the address for people to click on, so where that has a secret, it is left out.
    """
    headers = headers_without_secrets(exchange.headers)
    plain = replace(
        exchange,
        url=address_without_secrets(exchange.url),
        headers=headers,
        request_headers=headers_without_secrets(exchange.request_headers),
    )
    told = 300 <= exchange.status < 400 and headers != exchange.headers and exchange.payload
    return replace(plain, payload=b"", truncated="length") if told else plain


def headers_without_secrets(headers: Headers) -> Headers:
    """The headers without the secrets in the addresses that they are, or hold between white space, quotation marks or < >."""
    return tuple(
        (
            name,
            address_without_secrets(value)
            if name.lower() in ADDRESSES
            else PIECE.sub(lambda found: address_without_secrets(found[0]), value),
        )
        for name, value in headers
    )


def member(kind: str, fields: dict[str, str], block: bytes) -> tuple[bytes, str]:
    """One record as a gzip member, and its WARC-Record-ID."""
    from warcio.warcwriter import WARCWriter

    target = BytesIO()
    writer = WARCWriter(target, gzip=True, warc_version=WARC_VERSION)
    # Without an address warcio leaves the block unchanged; with one it would percent-encode headers outside ASCII.
    record = writer.create_warc_record("", kind, payload=BytesIO(block), length=len(block), warc_headers_dict=fields)
    writer.write_record(record)
    return target.getvalue(), str(record.rec_headers.get_header("WARC-Record-ID"))


def information(file: str) -> bytes:
    """The warcinfo record that a file begins with."""
    from warcio.warcwriter import WARCWriter

    target = BytesIO()
    writer = WARCWriter(target, gzip=True, warc_version=WARC_VERSION)
    content = {
        "software": program(),
        "format": "WARC File Format 1.1",
        "conformsTo": "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
    }
    writer.write_record(writer.create_warcinfo_record(file, content))
    return target.getvalue()


def address_fields(address: str | None) -> dict[str, str]:
    """The field for the IP address, if it is one; without the zone of a link-local one."""
    try:
        return {"WARC-IP-Address": str(ipaddress.ip_address((address or "").partition("%")[0]))}
    except ValueError:
        return {}


def response_head(exchange: Exchange) -> bytes:
    """Status line and headers. HTTP/2 has no reason and no text form: it gets HTTP/1.1's."""
    if exchange.protocol == "HTTP/2":
        reason = HTTPStatus(exchange.status).phrase if exchange.status in set(HTTPStatus) else ""
    else:
        reason = exchange.reason
    protocol = exchange.protocol if exchange.protocol in {"HTTP/1.0", "HTTP/1.1"} else "HTTP/1.1"
    return head(
        f"{protocol} {exchange.status:03d} {value_written(reason)}", headers_stored(exchange.headers, len(exchange.payload))
    )


def request_head(exchange: Exchange) -> bytes:
    """Request line and headers, without secrets."""
    try:
        parts = urlsplit(address_written(exchange.url))
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    except ValueError:
        target = "/"
    plain = [(name, value) for name, value in exchange.request_headers if not SECRET.search(name) and not name.startswith(":")]
    return head(f"{name_written(exchange.method)} {target} HTTP/1.1", plain)


def head(first: str, headers: Headers | list[tuple[str, str]]) -> bytes:
    """The lines of a head, in UTF-8."""
    lines = [first, *(f"{name_written(name)}: {value_written(value)}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode(errors="replace")


def name_written(name: str) -> str:
    """The header name with "-" for each character that RFC 9110 does not allow in one; "-" for an empty name."""
    return NO_TOKEN.sub("-", name) or "-"


def value_written(value: str) -> str:
    """A header's value on one line."""
    return CONTROLS.sub(" ", value).strip()


def headers_stored(headers: Headers, length: int) -> Headers:
    """The headers of an answer for storage, with a prefix for those that do not fit the stored payload."""
    stated = [value.strip() for name, value in headers if name.lower() == "content-length"]
    agrees = stated == [str(length)]
    renamed = tuple(
        (name if not SENDING.fullmatch(name) or (agrees and name.lower() == "content-length") else PREFIX + name, value)
        for name, value in headers
    )
    return renamed if agrees or not stated else (*renamed, ("Content-Length", str(length)))


def headers_received(headers: Headers) -> Headers:
    """The headers as they were received: the inverse of `headers_stored`."""
    disagreed = False
    names = []
    for name, _ in headers:
        prefixed = SENDING.fullmatch(name) and name.startswith(PREFIX)
        names.append(name[len(PREFIX) :] if prefixed else name)
        disagreed |= bool(prefixed) and names[-1].lower() == "content-length"
    plain = tuple((name, value) for name, (_, value) in zip(names, headers, strict=True))
    return plain[:-1] if disagreed else plain


def exchange_of(response: WarcRecord, request: WarcRecord | None) -> Exchange:
    """The exchange of one of our response records, with the request record that follows it, if there is one.

    Raises:
        DamagedError: the record is not one of ours, or does not match its digest.
    """
    answer = http_message_of(response.block or b"")
    time = time_of(response.field("WARC-Date"))
    if response.kind != "response" or answer is None or time is None or not re.match(r"[0-9]+( |$)", answer.status_line):
        raise DamagedError(response.offset, "what stands there is no answer of the web")
    if digest_agrees(response.field("WARC-Block-Digest"), response.block or b"") is not True:
        raise DamagedError(response.offset, "its digest is wrong")
    status, _, reason = answer.status_line.partition(" ")
    newer = response.field("WARC-Protocol") == "h2"
    truncated = response.field("WARC-Truncated")
    values: dict[str, Any] = {}
    asked = http_message_of(request.block or b"") if request and belongs(request, response) else None
    if asked:
        values = {"method": asked.protocol, "request_headers": asked.headers}
    return Exchange(
        url=response.field("WARC-Target-URI") or "",
        time=time,
        status=int(status),
        payload=answer.body,
        headers=headers_received(answer.headers),
        reason="" if newer else reason,
        protocol="HTTP/2" if newer else answer.protocol,
        address=response.field("WARC-IP-Address"),
        truncated=cast(Truncated, truncated) if truncated in get_args(Truncated) else None,
        **values,
    )


def belongs(request: WarcRecord, response: WarcRecord) -> bool:
    """Whether this is the request that the response answered."""
    return request.kind == "request" and request.field("WARC-Concurrent-To") == response.field("WARC-Record-ID")
