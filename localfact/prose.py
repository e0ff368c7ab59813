"""Whether a text is one that somebody could read: bytes, encoded data and markup are told apart from prose, in any language."""

import re

#: The most of a text's visible characters that may stand for bytes that were none, or be part of tags or of encoded data.
MOST_BROKEN, MOST_TAGS, MOST_ENCODED = 0.05, 0.5, 0.7
#: Fewer broken characters may have been lost from any text.
FEWEST_BROKEN = 20

_BROKEN = re.compile("[\N{REPLACEMENT CHARACTER}\x00-\x08\x0e-\x1f\x7f-\x9f]")
_TAG = re.compile(r"<[!?/]?[A-Za-z][^<>]*>")
# Base64 has capitals, small letters and digits; hexadecimal digits have small letters and digits. Words and addresses do not
# mix them so. How far is looked ahead is bounded, so that no text makes the search slow.
_ENCODED = re.compile(
    r"(?<![^\s\"'(,;:=>])(?=\S{0,200}?\d)(?=\S{0,200}?[a-z])"
    r"(?:(?=\S{0,200}?[A-Z])[A-Za-z0-9+/]{40,}={0,2}|[0-9a-f]{40,})(?![^\s\"'),;<])"
)


def instead_of_prose(text: str) -> str | None:
    """What a text is where it is no prose: "binary data", "encoded data (base64)" or "markup (SVG, HTML)"; else None."""
    visible = sum(not character.isspace() for character in text)
    if not visible:
        return None
    if len(_BROKEN.findall(text)) > max(FEWEST_BROKEN, MOST_BROKEN * visible):
        return "binary data"
    if sum(map(len, _ENCODED.findall(text))) > MOST_ENCODED * visible:
        return "encoded data (base64)"
    if sum(len("".join(tag.split())) for tag in _TAG.findall(text)) > MOST_TAGS * visible:
        return "markup (SVG, HTML)"
    return None
