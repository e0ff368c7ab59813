"""Invisible characters: removed from pages, search results and queries before anything reads them.

They can carry orders to a model, split words that a search looks for, and make equal texts differ.
"""

import re
import unicodedata

# Default ignorable code points of Unicode 16 (DerivedCoreProperties.txt) but for the two joiners: soft hyphen, grapheme joiner,
# fillers, bidi marks, embeddings, overrides and isolates, zero-width spaces, variation selectors, music controls, the block of
# tags; then interlinear annotation and non-characters.
_RANGES = (
    *((0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200B)),
    *((0x200E, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF)),
    *((0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
    *((0xFFF9, 0xFFFB), (0xFDD0, 0xFDEF), *((plane << 16 | 0xFFFE, plane << 16 | 0xFFFF) for plane in range(17))),
)
_INVISIBLE = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in _RANGES) + "]+")
# Classes with characters beyond the first plane are slow to match; most texts have none of these characters at all.
_CHARACTERS = frozenset(chr(code) for first, last in _RANGES for code in range(first, last + 1))

#: Zero-width non-joiner and joiner.
JOINERS = "\u200c\u200d"
_JOINERS = re.compile(f"[{JOINERS}]+")
# Scripts in which a joiner changes the spelling: Arabic, Syriac, N'Ko, Mongolian, and the Brahmic ones of Asia.
_JOINING = re.compile("[\u0600-\u07ff\u0840-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u18af\ufb50-\ufdcf\ufe70-\ufefc]")
_VIRAMA = 9


def remove_invisible(text: str) -> str:
    """The text without invisible characters, emoji variation selectors included.

    The text stays in logical order (Arabic, Hebrew). ZWJ and ZWNJ stay where Unicode (UAX 31, section 2.3) uses them in
    spelling: between letters of joining scripts and after a virama; joined emoji fall into their parts. White space, controls
    and surrogates stay; see `localfact.text.readable`.
    """
    if not _CHARACTERS.isdisjoint(text):
        text = _INVISIBLE.sub("", text)
    return _JOINERS.sub(_keep_spelling, text)


def _keep_spelling(joiners: re.Match[str]) -> str:
    """One joiner where it belongs to the spelling, else nothing."""
    before, after = joiners.string[joiners.start() - 1 : joiners.start()], joiners.string[joiners.end() : joiners.end() + 1]
    if not before or not _JOINING.match(before):
        return ""
    return joiners.group()[0] if unicodedata.combining(before) == _VIRAMA or _JOINING.match(after) else ""
