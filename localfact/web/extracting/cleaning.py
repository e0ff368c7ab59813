"""Cleans the characters of a page's text: invisible ones are removed before anything else reads it, the rest normalised."""

import re
import unicodedata

from localfact.text import readable
from localfact.web.invisible import remove_invisible

# Line ends of other conventions; `readable` leaves them, since they are white space.
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x1c-\x1f\x85\u2028\u2029]")

#: Unicode Standard Annex 15, section 13: no text of any language stacks more marks on one character, and sorting them takes
#: time that grows with the square of their number.
MOST_MARKS = 30
_NON_STARTERS = "".join(chr(code) for code in range(0x300, 0x1E950) if unicodedata.combining(chr(code)))
_MARKS = frozenset(_NON_STARTERS)
_STACKED = re.compile(f"([{_NON_STARTERS}]{{{MOST_MARKS}}})[{_NON_STARTERS}]+")


def clean(text: str) -> str:
    """A text as its reader sees it, normalised to NFC, without outer white space.

    Controls and lone surrogates become U+FFFD, and invisible characters are dropped (`visible`).
    """
    text = _LINE_ENDS.sub("\n", text)
    text = readable(remove_invisible(text))
    if not _MARKS.isdisjoint(text):
        text = _STACKED.sub(r"\1", text)
    return unicodedata.normalize("NFC", text).strip()


def clean_line(text: str, most: int) -> str:
    """A cleaned text on one line, cut to so many characters."""
    return " ".join(clean(text).split())[:most].rstrip()
