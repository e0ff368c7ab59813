"""Removes markup from a sentence (emphasis, item markers); every character keeps its offset in the response."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from localfact.records import Span

_ITEM_MARKER = r"(?P<marker>\A\s*(?:#{1,6}|[-*+•‣◦▪●–—>]|\(?\d{1,3}[.)]|\(?[A-Za-z]\))\s+)"
# Within a word one star is none, nor are two between digits: M*A*S*H, 5*3, 2**3.
_STARS = r"(?<![\w*])\*+(?=[^\s*])|(?<=[^\s*])\*+(?![\w*])|(?<=[^\W\d])\*\*(?=\w)|(?<=\d)\*\*(?=[^\W\d])"
_EMPHASIS = rf"{_STARS}|(?<!\w)_+(?=[^\s_])|(?<=[^\s_])_+(?!\w)|`+"
_MARKER = re.compile(_ITEM_MARKER)
_MARKUP = re.compile("|".join((_ITEM_MARKER, _EMPHASIS)))


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

    def end_sentence(self) -> "PlainText":
        """Returns the text, not empty, with a full stop, unless it has a final mark."""
        ends = self.text.rstrip("\"'”’)")[-1:] in tuple(".!?…")
        return self if ends else PlainText(f"{self.text}.", (*self.offsets, self.offsets[-1]))

    def replace(self, pattern: re.Pattern[str], how: Callable[[re.Match[str]], str | None]) -> "PlainText":
        """Returns the text with what is found replaced by what `how` returns for it; None leaves it."""
        pieces: list[str] = []
        offsets: list[int] = []
        end = 0
        for found in pattern.finditer(self.text):
            instead = how(found)
            if instead is None or not found[0]:
                continue
            pieces += (self.text[end : found.start()], instead)
            offsets += self.offsets[end : found.start()]
            own = self.offsets[found.start() : found.end()]
            offsets += (own[min(place, len(own) - 1)] for place in range(len(instead)))
            end = found.end()
        if not end:
            return self
        return PlainText("".join((*pieces, self.text[end:])), (*offsets, *self.offsets[end:]))

    def without(self, places: Sequence[tuple[int, int]]) -> "PlainText":
        """Returns the text without these places, which are in order and do not overlap."""
        begins = [0, *(end for _, end in places)]
        ends = [*(start for start, _ in places), len(self.text)]
        parts = [self.part(start, end) for start, end in zip(begins, ends, strict=True)]
        return PlainText("".join(part.text for part in parts), tuple(offset for part in parts for offset in part.offsets))

    def lower_first(self) -> "PlainText":
        """Returns the text with a small first letter."""
        return PlainText(self.text[:1].lower() + self.text[1:], self.offsets)

    def span(self, start: int, end: int) -> Span:
        """Returns the place of the characters [start, end), at least one, in the response."""
        return Span(start=self.offsets[start], end=self.offsets[end - 1] + 1)


def whole_text(text: str) -> PlainText:
    """A text of which every character stands for itself."""
    return PlainText(text, tuple(range(len(text))))


def plain_text(whole: PlainText, span: Span) -> PlainText:
    """Removes the markup of one sentence of a text; white space is collapsed, and removed at the ends."""
    sentence = whole.text[span.start : span.end]
    hidden = {place for markup in _MARKUP.finditer(sentence) for place in range(*markup.span())}
    kept: list[tuple[str, int]] = []
    for index, character in enumerate(sentence):
        if index in hidden or (character.isspace() and (not kept or kept[-1][0] == " ")):
            continue
        kept.append((" " if character.isspace() else character, whole.offsets[span.start + index]))
    if kept and kept[-1][0] == " ":
        kept.pop()
    return PlainText("".join(character for character, _ in kept), tuple(offset for _, offset in kept))


def item_marker(sentence: str) -> str:
    """Returns what marks the sentence as an item of a list: "-", "1" or "a"; "" for one that is none, and for a heading."""
    marker = _MARKER.match(sentence)
    return marker["marker"].strip(" ().\t#") if marker else ""
