"""Removes markup from a sentence (Markdown, item markers, citation marks); every character keeps its offset in the response."""

import re
from typing import NamedTuple

from localfact.records import Span

_ITEM_MARKER = r"(?P<marker>\A\s*(?:#{1,6}|[-*+•‣◦▪●–—>]|\(?\d{1,3}[.)]|\(?[A-Za-z]\))\s+)"
_CITATION = r"(?P<citation>\[\^?\d{1,4}(?:\s?[,–-]\s?\d{1,4}){0,20}\])"
_LINK = r"\[(?=[^\[\]\n]{1,200}\]\()|(?<=[^\[])\]\([^()\s]{0,500}\)"
_EMPHASIS = r"(?<!\*)\*+(?=[^\s*])|(?<=[^\s*])\*+|(?<!\w)_+(?=[^\s_])|(?<=[^\s_])_+(?!\w)|`+"
_MARKER = re.compile(_ITEM_MARKER)
_MARKUP = re.compile("|".join((_ITEM_MARKER, _CITATION, _LINK, _EMPHASIS)))


class PlainText(NamedTuple):
    """Text and, for each of its characters, the offset in the response it was taken from; offsets never decrease."""

    text: str
    offsets: tuple[int, ...]

    def part(self, start: int, end: int | None = None) -> "PlainText":
        """Returns the characters [start, end)."""
        return PlainText(self.text[start:end], self.offsets[start:end])

    def behind(self, words: str) -> "PlainText":
        """Returns the text, not empty, with words before it, which have the place of its first character."""
        return PlainText(words + self.text, (self.offsets[0],) * len(words) + self.offsets)

    def join(self, words: str, other: "PlainText") -> "PlainText":
        """Returns this text, the words and another text that stands behind it; neither is empty."""
        other = other.behind(words)
        return PlainText(self.text + other.text, self.offsets + other.offsets)

    def lower_first(self) -> "PlainText":
        """Returns the text with a small first letter."""
        return PlainText(self.text[:1].lower() + self.text[1:], self.offsets)

    def span(self, start: int, end: int) -> Span:
        """Returns the place of the characters [start, end), at least one, in the response."""
        return Span(start=self.offsets[start], end=self.offsets[end - 1] + 1)


def plain_text(text: str, span: Span) -> PlainText:
    """Removes the markup of one sentence of a response; white space is collapsed, and removed at the ends."""
    sentence = text[span.start : span.end]
    hidden: set[int] = set()
    for markup in _MARKUP.finditer(sentence):
        # The space before a citation mark goes with it: "won [1]." becomes "won."
        start = len(sentence[: markup.start()].rstrip()) if markup["citation"] else markup.start()
        hidden.update(range(start, markup.end()))
    kept: list[tuple[str, int]] = []
    for index, character in enumerate(sentence):
        if index in hidden or (character.isspace() and (not kept or kept[-1][0] == " ")):
            continue
        kept.append((" " if character.isspace() else character, span.start + index))
    if kept and kept[-1][0] == " ":
        kept.pop()
    return PlainText("".join(character for character, _ in kept), tuple(offset for _, offset in kept))


def item_marker(sentence: str) -> str:
    """Returns what marks the sentence as an item of a list: "-", "1" or "a"; "" for one that is none, and for a heading."""
    marker = _MARKER.match(sentence)
    return marker["marker"].strip(" ().\t#") if marker else ""
