"""One HTTP request and its answer as they were sent: made by the fetcher, stored by the archive, read by extraction."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from email.message import Message
from typing import Literal

Headers = tuple[tuple[str, str], ...]
#: Why a payload is incomplete: the size limit, the time limit, or a broken connection.
Truncated = Literal["length", "time", "disconnect"]


@dataclass(frozen=True)
class Exchange:
    """One HTTP request and the answer to it.

    Attributes:
        url: the requested URL.
        time: of the request, UTC.
        address: the IP address that answered; None where it is unknown.
        request_headers, headers: names and values in the order sent and received.
        status, reason, protocol: of the answer; the protocol is "HTTP/1.1" or "HTTP/2", which has no reason.
        payload: the body as received: still content-encoded (gzip), but without transfer coding (chunked).
        truncated: why the payload is incomplete; None when it is complete.
    """

    url: str
    time: datetime
    status: int
    payload: bytes = b""
    headers: Headers = ()
    reason: str = ""
    protocol: str = "HTTP/1.1"
    method: str = "GET"
    request_headers: Headers = ()
    address: str | None = None
    truncated: Truncated | None = None

    def header(self, name: str) -> str | None:
        """The first value of that header of the answer, whatever its case; None where there is none."""
        return header_of(self.headers, name)

    @property
    def media_type(self) -> str:
        """The answer's media type, in lower case and without parameters; "" where none is stated."""
        return media_type_of(self.header("content-type"))

    @property
    def charset(self) -> str | None:
        """The character set that the answer states, in lower case; None where it states none."""
        return charset_of(self.header("content-type"))


def header_of(headers: Iterable[tuple[str, str]], name: str) -> str | None:
    """The first value of a header, whatever its case."""
    return next((value for own, value in headers if own.lower() == name.lower()), None)


def media_type_of(content_type: str | None) -> str:
    """The media type of a Content-Type, in lower case; "" for none."""
    return (content_type or "").partition(";")[0].strip().lower()


def charset_of(content_type: str | None) -> str | None:
    """The charset of a Content-Type, in lower case; None where it names none."""
    message = Message()
    message["content-type"] = " ".join((content_type or "").split())
    return message.get_content_charset()
