"""Decodes the bytes of a page whatever character set it claims, as the claims of servers are often wrong."""

import codecs
import re

from localfact.web.fetching.failures import PageError, Reason

#: Codecs of Python that are no character sets of pages.
_NO_CHARSETS = frozenset({"unicode-escape", "raw-unicode-escape", "idna", "punycode", "mbcs", "undefined"})
#: How many bytes are searched for zero bytes.
WIDE_BYTES = 4096
# ISO-2022-JP is made of ASCII bytes, so it is UTF-8 too.
_SHIFT_OUT_OF_ASCII = re.compile(rb"\x1b\$[@B]")
_TAGS = re.compile(rb"<[^>]{0,2000}>")
DETECTION_BYTES = 20_000
_CONTROLS = bytes([*range(0x09), *range(0x0E, 0x1B), 0x1C, 0x1D, 0x1E, 0x1F])

#: The largest share of control characters among the bytes of a text.
MOST_CONTROLS = 0.01
#: The largest share of undecodable bytes: pages may have some; in a wrong character set most bytes outside ASCII are.
MOST_ERRORS = 0.05
#: So many valid UTF-8 sequences do not occur by chance in another character set.
CERTAINLY_UTF8 = 4


def decode(body: bytes, charset: str | None) -> str:
    """The text of a page.

    A byte order mark decides (as in browsers), then whether the bytes are UTF-8, then the character set of the HTTP answer and
    that of the page itself where the bytes agree with it, then detection.

    Args:
        charset: as the HTTP answer names it.

    Raises:
        PageError: UNREADABLE: the bytes are no text.
    """
    from w3lib.encoding import html_body_declared_encoding, read_bom

    marked, mark = read_bom(body)
    if marked and mark:
        return body[len(mark) :].decode(marked, "replace")
    if wide := _wide(body):
        return body.decode(wide, "replace")
    if not is_text(body):
        raise PageError(Reason.UNREADABLE, "the bytes are no text")
    declared = html_body_declared_encoding(body) or ""
    # A name inside the page could only be read if the page is not UTF-16.
    claimed = (charset, "utf-8" if declared.startswith(("utf-16", "utf-32")) else declared)
    claims = [codec for claim in claimed if (codec := codec_of(claim))]
    if _SHIFT_OUT_OF_ASCII.search(body):
        claims.append("iso2022_jp")
    elif _is_utf8(body, certainly=bool(claims)):
        return body.decode("utf-8")
    for codec in claims:
        if (text := _decode(body, codec)) is not None:
            return text
    return body.decode(detect(body), "replace")


def is_text(body: bytes) -> bool:
    """Whether hardly any of the bytes are control characters; UTF-16 and UTF-32 are not known here."""
    return len(body.translate(None, _CONTROLS)) >= (1 - MOST_CONTROLS) * len(body)


def codec_of(charset: str | None) -> str | None:
    """Python's codec for a name as browsers understand it (WHATWG Encoding Standard, 4.2); None for an unknown name."""
    from w3lib.encoding import resolve_encoding

    found = resolve_encoding((charset or "").strip())
    return found if found and codecs.lookup(found)._is_text_encoding and found not in _NO_CHARSETS else None


def detect(body: bytes) -> str:
    """The likeliest codec of bytes that are not UTF-8; by default Windows-1252, the commonest on the web."""
    from charset_normalizer import from_bytes

    text = _TAGS.sub(b" ", body)
    lines = [line for line in text.splitlines() if not line.isascii()]
    sample = b"\n".join(lines)[:DETECTION_BYTES]
    found = from_bytes(sample, enable_fallback=False)
    best = found.best()
    if best is None:
        return "cp1252"
    common = next((match for match in found if match.encoding == "cp1252"), None)
    tied = common is not None and (common.chaos, common.coherence) == (best.chaos, best.coherence)
    return "cp1252" if tied else codec_of(best.encoding) or "cp1252"


def _is_utf8(body: bytes, *, certainly: bool) -> bool:
    """Whether the bytes are UTF-8; with `certainly`, only if they have more sequences outside ASCII than chance explains."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    outside = len(text) - len(text.encode("ascii", "ignore"))
    return outside >= CERTAINLY_UTF8 or not certainly


def _decode(body: bytes, codec: str) -> str | None:
    """The text, with U+FFFD for undecodable bytes; None if there are too many of them."""
    text = body.decode(codec, "replace")
    outside = len(body) - len(body.decode("ascii", "ignore"))
    errors = text.count("\N{REPLACEMENT CHARACTER}")
    return text if errors <= max(1, MOST_ERRORS * outside) else None


def _wide(body: bytes) -> str | None:
    """UTF-16 without a byte order mark, recognised by the zero bytes of ASCII characters."""
    even, odd = body[0:WIDE_BYTES:2], body[1:WIDE_BYTES:2]
    for mostly, hardly, name in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
        if len(body) >= 4 and mostly.count(0) > 0.7 * len(mostly) and hardly.count(0) < 0.05 * len(hardly):
            return name
    return None
