"""The bodies in other tools' archives as text or PDF, where what the bytes are counts for more than what the headers say.

Many tools store a body decoded but keep the headers of the coded one (warcio reads such bodies as they stand, too); some store
a coded body without the header, or chunks without theirs.
"""

import re

from localfact.web.extracting.charsets import is_text
from localfact.web.fetching.decoding import GZIP_MAGIC, Decoder, coding_of
from localfact.web.fetching.exchange import Headers, header_of
from localfact.web.fetching.failures import PageError

#: More codings on top of each other are no page.
MOST_CODINGS = 3
#: Fewer bytes are text only if they are UTF-8: compressed data may have no control characters by chance.
CERTAINLY_TEXT = 200
_BEGINS_READABLE = re.compile(rb"%PDF-|\xff\xfe|\xfe\xff|\s*<(?:!doctype|\?xml|html|head|body)\b", re.IGNORECASE)


def decode_stored(payload: bytes, headers: Headers, limit: int, *, whole: bool = True) -> bytes:
    """The body without the content codings that it really has, to at most `limit` bytes.

    Args:
        payload: without transfer coding.
        headers: of the answer.
        whole: whether coded data must be complete.

    Raises:
        PageError: UNREADABLE: damaged, or in a coding that is not read ("br", "zstd"). TOO_LARGE.
    """
    stated = (header_of(headers, "content-encoding") or "").lower().split(",")
    codings = [word.strip() for word in stated if word.strip() not in ("", "identity")][-MOST_CODINGS:]
    body = payload
    for coding in reversed(codings or ["gzip"]):
        if is_readable(body):
            break
        body = _decode(body, coding if codings or body.startswith(GZIP_MAGIC) else "identity", limit, whole=whole)
    return body


def is_readable(body: bytes) -> bool:
    """Whether bytes are a document as they stand: PDF, markup or text."""
    if not body or _BEGINS_READABLE.match(body):
        return True
    if body.startswith(GZIP_MAGIC) or not is_text(body):
        return False
    if len(body) >= CERTAINLY_TEXT:
        return True
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def _decode(body: bytes, coding: str, limit: int, *, whole: bool) -> bytes:
    decoder = Decoder(coding_of([("content-encoding", coding)]), limit)
    try:
        decoder.feed(body)
        if whole:
            decoder.finish()
    except PageError:
        # Text in a character set of one byte, which a server or a tool said to be compressed.
        if is_text(body) and not body.startswith(GZIP_MAGIC):
            return body
        raise
    return bytes(decoder.body)
