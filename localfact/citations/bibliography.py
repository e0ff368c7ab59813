"""Reads the list of references at the end of a response, and definitions of footnotes: what each mark stands for."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from localfact.citations.marks import address_in, author_year_of, key_of
from localfact.claims.rules.blocks import lines_apart
from localfact.claims.rules.citations import TARGET, URL

#: The most characters of an entry.
LONGEST_ENTRY = 2_000

_BULLET = r"\s*(?:[-*+•–—]\s+)?"
_MARKER = re.compile(
    rf"{_BULLET}(?:\[\^?(?P<mark>[\w-]{{1,40}})\][:.]?(?!\()|(?P<number>\d{{1,3}})[.)]|\((?P<round>\d{{1,3}})\)|"
    r"(?P<raised>[⁰¹²³⁴-⁹]{1,6}))\s*"
)
_BULLETED = re.compile(r"\s*[-*+•–—]\s+")
_LABEL = re.compile(r"\W*(?i:sources?|references?|citations?|bibliography|works cited|quellen?|fuentes?)[*_]*\s*[:：][*_]*\s*")
_HEADING = re.compile(r"[\s#*_\d.]*[^\W\d][\w ]{2,40}[\s*_:：]*")
_NEXT_MARKED = re.compile(r"(?<=\S)[ \t,;]+(?=\[\^?\d{1,3}\])")
_LINK = re.compile(rf"\[(?P<shown>[^\[\]\n]{{0,300}})\](?P<target>{TARGET})|(?P<bare>{URL})")
_FROM_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


@dataclass(frozen=True)
class Reference:
    """An entry of a list of references, or a footnote.

    Attributes:
        keys: what marks may name it by: its number or name, author and year.
        text: what it says; link: the first address in it.
    """

    keys: tuple[str, ...]
    text: str
    link: str | None


def references_of(text: str) -> list[Reference]:
    """The entries of a response, in order. Those of a list that numbers none of them are numbered by their order."""
    parts = list(_entries([text[span.start : span.end] for span in lines_apart(text).references]))
    numbered = any(_MARKER.match(part) for part in parts)
    return [_reference(part, None if numbered else place) for place, part in enumerate(parts, start=1)]


def _entries(lines: Sequence[str]) -> Iterator[str]:
    """The text of each entry: a line, the part of a line behind each mark in it, or a line with those that continue it."""
    entry = ""
    for line in lines:
        label = _LABEL.match(line)
        plain = line[label.end() :] if label else line
        begins = bool(_MARKER.match(plain) or _BULLETED.match(plain))
        continues = bool(entry) and not begins and plain[:1].isspace()
        if continues:
            entry = f"{entry} {plain.strip()}"
            continue
        if entry:
            yield entry[:LONGEST_ENTRY]
        entry = ""
        if not plain.strip() or (not begins and _HEADING.fullmatch(plain)):
            continue
        *whole, entry = _NEXT_MARKED.split(plain)
        yield from (part[:LONGEST_ENTRY] for part in whole)
    if entry:
        yield entry[:LONGEST_ENTRY]


def _reference(entry: str, place: int | None) -> Reference:
    marker = _MARKER.match(entry)
    rest = entry[marker.end() :] if marker else _BULLETED.sub("", entry, count=1)
    named = marker and (marker["mark"] or marker["number"] or marker["round"] or marker["raised"].translate(_FROM_RAISED))
    key = key_of(named) if named else None if place is None else str(place)
    link = _LINK.search(rest)
    keys = dict.fromkeys(filter(None, (key, author_year_of(rest))))
    return Reference(tuple(keys), rest.strip(), (link["bare"] or address_in(link["target"])) if link else None)
