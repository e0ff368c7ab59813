"""Cuts a response into the sentences that citations are counted over, and says which marks belong to which."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from localfact.citations.marks import CitationMark
from localfact.claims.rules.checkworthy import drop_reason
from localfact.claims.rules.markdown import PlainText
from localfact.claims.rules.outline import read_outline
from localfact.records import Span

_SPACES = re.compile(r"\s+")
_BEFORE_MARK = re.compile(r"\s+(?=[.,;:!?](?:\s|$))")
#: What leads to a source whose mark was taken out.
_ACCORDING = re.compile(r"(?:According to|As (?:per|stated (?:in|by)|reported (?:in|by))|From|In|Per|Via),\s+")
_NEXT_LINE = re.compile(r"[^\n]*\n[ \t]*")
_WORDS = re.compile(r"\w")


@dataclass(frozen=True)
class MarkedSentence:
    """A sentence with the marks that cite sources for it.

    Attributes:
        span: its place in the response. text: without marks and markup.
    """

    span: Span
    text: str
    marks: tuple[CitationMark, ...]


def marked_sentences(text: str, marks: Sequence[CitationMark]) -> tuple[list[MarkedSentence], int]:
    """The sentences of a response, and how many marks are in none of them (in headings, tables, alone on a line).

    Headings, tables, code and references are no sentences. Questions, introductions of lists, refusals and bits of less than
    three words are some only where they cite something: nobody would cite anything for them.

    Args:
        marks: in the order of the text.
    """
    blank = text
    for mark in marks:  # footnotes with names, which rules for claims leave in the text
        if text.startswith("[^", mark.span.start):
            blank = f"{blank[: mark.span.start]}{' ' * (mark.span.end - mark.span.start)}{blank[mark.span.end :]}"
    lines = [line.text for line in read_outline(blank, Counter()) if not line.row and line.text.text]
    spans = [line.span(0, len(line.text)) for line in lines]
    own: list[list[CitationMark]] = [[] for _ in lines]
    outside = 0
    for mark in marks:
        place = _sentence_of(mark, marks, lines, spans, text)
        if place is None:
            outside += 1
        else:
            own[place].append(mark)
    plain = [_without(line, marks) for line in lines]
    found = [
        MarkedSentence(span, said, tuple(cited))
        for span, said, cited in zip(spans, plain, own, strict=True)
        if _WORDS.search(said) and (cited or drop_reason(said, english=False) is None)
    ]
    return found, outside


def _sentence_of(
    mark: CitationMark, marks: Sequence[CitationMark], lines: Sequence[PlainText], spans: Sequence[Span], text: str
) -> int | None:
    """The number of the sentence that has the mark inside it or directly before it; else of the one that begins behind it.

    None where a paragraph, or a line without prose, is between the mark and either. In front of a small letter ("[5] says ...")
    a mark belongs to what follows.
    """
    before = bisect_right([span.start for span in spans], mark.span.start) - 1
    follows = before + 1 < len(spans) and "\n" not in text[mark.span.end : spans[before + 1].start]
    if before < 0 or (follows and lines[before + 1].text[0].islower() and mark.span.start >= spans[before].end):
        return before + 1 if follows else None
    end = spans[before].end
    if mark.span.start < end:
        return before
    between = text[end : mark.span.start]
    near = "\n" not in between or (not follows and _NEXT_LINE.fullmatch(between) is not None)
    if near and not _WORDS.search(_bare(text, end, mark.span.start, marks)):
        return before
    return before + 1 if follows else None


def _bare(text: str, start: int, end: int, marks: Sequence[CitationMark]) -> str:
    """The characters [start, end) without those of marks."""
    return "".join(text[part.start : part.end] for part in _around(start, end, marks))


def _around(start: int, end: int, marks: Sequence[CitationMark]) -> Iterator[Span]:
    for mark in marks:
        if start < mark.span.end and mark.span.start < end:
            yield Span(start=min(start, mark.span.start), end=mark.span.start)
            start = mark.span.end
    if start < end:
        yield Span(start=start, end=end)


def _without(line: PlainText, marks: Sequence[CitationMark]) -> str:
    """A sentence without what its marks hide."""
    first, last = line.offsets[0], line.offsets[-1]
    hidden = {
        place
        for mark in marks
        if mark.hidden is not None and mark.hidden.start <= last and first < mark.hidden.end
        for place in range(mark.hidden.start, mark.hidden.end)
    }
    kept = "".join(character for character, place in zip(line.text, line.offsets, strict=True) if place not in hidden)
    plain = _BEFORE_MARK.sub("", _SPACES.sub(" ", kept)).strip()
    told = _ACCORDING.match(plain)
    return plain if told is None else plain[told.end() :][:1].upper() + plain[told.end() + 1 :]
