"""Finds the marks by which a text cites sources, each with its place in the text as it was written.

[1]  [1, 3-5]  [1][2]  [[1]](url)  【1†source】  [^note]  ¹  <sup>1</sup>  (1)  [@key]  \\cite{key}  [Source 1]
[words](url)  [words][1]  https://...  (Smith, 2019; Lee & Fox, 2020)  Smith et al. (2019)
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from localfact.claims.rules.blocks import lines_apart
from localfact.claims.rules.citations import ACCENTS, AUTHOR_YEAR, AUTHORS, IMAGE, NO_WORK, SURNAME, TARGET, URL
from localfact.claims.rules.cleaning import RAISED_NUMBER
from localfact.records import Span

#: The most sources that one mark names ("[1-20]"), and the most marks of a text.
MOST_KEYS = 20
MOST_MARKS = 5_000

_NUMBERS = r"\^?\d{1,3}(?:\s?[,;–-]\s?\^?\d{1,3}){0,19}"
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_FROM_RAISED = str.maketrans(_RAISED, "0123456789")
_SURNAME = re.compile(SURNAME)
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d[a-z]?\b")
_TARGETED = re.compile(r"\(<?(?P<link>(?:[^\s()<>]|\([^\s()]*\))+)")


@dataclass(frozen=True)
class CitationMark:
    """A mark in a text.

    Attributes:
        span: its place, with its brackets.
        keys: what it names sources by, as `key_of` writes them; empty for one that gives an address itself.
        link: that address.
        hidden: what of it is no part of the sentence around it: all, or the year behind a name, or nothing of a link's words.
    """

    span: Span
    keys: tuple[str, ...] = ()
    link: str | None = None
    hidden: Span | None = None


def key_of(name: str) -> str:
    """The form in which a mark and the name of a source are compared: "[1]" and "1." are "1", "(Smith et al., 2019)" is
    "smith 2019"."""
    plain = name.strip().strip("[](){}^【】.:@ ")
    return author_year_of(plain) or _fold(plain)


def author_year_of(text: str) -> str | None:
    """The first surname and the first year behind it, "smith 2019"; None where the text has no such two."""
    surname = _SURNAME.search(text)
    year = _YEAR.search(text, surname.end()) if surname else None
    return _fold(f"{surname[0]} {year[0]}") if surname and year else None


def _fold(name: str) -> str:
    """Writes a name alike whatever its case, and whether "é" is one character or two."""
    return unicodedata.normalize("NFC", name).casefold()


def address_in(target: str) -> str | None:
    """The address of a link's target as Markdown writes it, "(https://... \"title\")"."""
    found = _TARGETED.match(target)
    return found["link"] if found else None


def marks_of(text: str, known: Collection[str]) -> list[CitationMark]:
    """The marks of a text in its order, none inside another; those in code and in lists of references are none.

    Args:
        known: the keys of the sources that there are: "(1)", and "Smith (2019)" without further authors, are marks only
            where their source is known.
    """
    apart = lines_apart(text)
    taken = [*apart.code, *apart.references, *(Span(start=one.start(), end=one.end()) for one in IMAGE.finditer(text))]
    found: list[CitationMark] = []
    for pattern, read in _FORMS:
        places = _Places(taken)
        for match in pattern.finditer(text):
            span = Span(start=match.start(), end=match.end())
            mark = None if places.overlap(span) else read(match, span, known)
            if mark is not None and len(found) < MOST_MARKS:
                found.append(mark)
                taken.append(mark.span)
    return sorted(found, key=lambda mark: mark.span.start)


class _Places:
    """Places of a text that do not overlap one another."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = sorted(spans, key=lambda span: span.start)
        self._starts = [span.start for span in self._spans]

    def overlap(self, span: Span) -> bool:
        """Whether one of them has a character of the span."""
        before = bisect_right(self._starts, span.end - 1)
        return before > 0 and self._spans[before - 1].end > span.start


def numbers_of(text: str) -> Iterator[str]:
    """The numbers that a text lists, ranges written out: "1, 3-5" is 1, 3, 4, 5."""
    for part in re.split(r"[,;\s]+(?![–-])", re.sub(r"\s*[–-]\s*", "-", text.replace("^", ""))):
        first, dash, last = part.partition("-")
        if not first.isdigit():
            continue
        if dash and last.isdigit() and int(first) <= int(last) < int(first) + MOST_KEYS:
            yield from map(str, range(int(first), int(last) + 1))
        else:
            yield str(int(first))


def _read_numbers(match: re.Match[str], span: Span, known: Collection[str]) -> CitationMark | None:
    keys = tuple(dict.fromkeys(numbers_of(match["numbers"])))[:MOST_KEYS]
    return CitationMark(span, keys, hidden=span) if keys and "0" not in keys else None


def _number_linked(match: re.Match[str], span: Span, known: Collection[str]) -> CitationMark | None:
    linked = _read_link(match, span, known)
    return None if linked is None else CitationMark(span, link=linked.link, hidden=span)


def _known_numbers(match: re.Match[str], span: Span, known: Collection[str]) -> CitationMark | None:
    mark = _read_numbers(match, span, known)
    return mark if mark is not None and all(key in known for key in mark.keys) else None


def _read_key(match: re.Match[str], span: Span, known: Collection[str]) -> CitationMark | None:
    keys = dict.fromkeys(filter(None, (_fold(one.strip(" @")) for one in re.split(r"[;,]", match["names"]))))
    return CitationMark(span, tuple(keys)[:MOST_KEYS], hidden=span) if keys else None


def _read_raised_digits(match: re.Match[str], span: Span, known: Collection[str]) -> CitationMark | None:
    """Small raised digits, but an exponent: "¹²" is 12, or 1 and 2, as sources are known."""
    before = match.string[max(0, match.start() - 12) : match.start()]
    if RAISED_NUMBER.search(before) or before.endswith(("⁻", "-", "−")):
        return None
    digits = match[0].translate(_FROM_RAISED)
    if len(digits) > 1 and digits not in known and all(digit in known for digit in digits):
        return CitationMark(span, tuple(dict.fromkeys(digits)), hidden=span)
    return CitationMark(span, (str(int(digits)),), hidden=span) if int(digits) else None


def _read_tag(match: re.Match[str], span: Span, known: Collection[str]) -> CitationMark | None:
    before = match.string[max(0, match.start() - 12) : match.start()]
    if match["link"]:
        return CitationMark(span, link=match["link"], hidden=span)
    return None if RAISED_NUMBER.search(before) else _read_numbers(match, span, known)


def _read_link(match: re.Match[str], span: Span, known: Collection[str]) -> CitationMark | None:
    link = address_in(match["target"])
    return CitationMark(span, link=link) if link and link.startswith(("http://", "https://", "www.")) else None


def _read_reference(match: re.Match[str], span: Span, known: Collection[str]) -> CitationMark | None:
    key = _fold(match["key"] or match["shown"])
    return CitationMark(span, (key,)) if key in known else None


def _bare(match: re.Match[str], span: Span, known: Collection[str]) -> CitationMark | None:
    return CitationMark(span, link=match["link"], hidden=span)


def _years(match: re.Match[str], span: Span, known: Collection[str]) -> CitationMark | None:
    keys = filter(None, (author_year_of(one) for one in match["years"].split(";")))
    unique = tuple(dict.fromkeys(keys))[:MOST_KEYS]
    return CitationMark(span, unique, hidden=span) if unique else None


def _read_narrated_authors(match: re.Match[str], span: Span, known: Collection[str]) -> CitationMark | None:
    """Authors that are part of the sentence, and a year in brackets, which is none."""
    key = author_year_of(match[0])
    several = re.search(r"\bet al\b", match["authors"]) is not None
    if key is None or not (several or key in known):
        return None
    return CitationMark(span, (key,), hidden=Span(start=match.start("years"), end=match.end("years")))


_Read = Callable[[re.Match[str], Span, Collection[str]], CitationMark | None]
_KEY = rf"[\w:.{ACCENTS}-]{{1,60}}"
_LABEL = r"(?i:ref(?:erence|\.)?s?|sources?|doc(?:ument)?s?|web|passages?|context)"
#: The forms of marks, those first that others could be a part of.
_FORMS: tuple[tuple[re.Pattern[str], _Read], ...] = (
    (
        re.compile(
            r"<sup\b[^<>]{0,200}>\s*(?:<a\b[^<>]{0,300}?(?:href=[\"'](?P<link>https?://[^\"'\s]{1,600})[\"'][^<>]{0,200})?>)?"
            rf"\s*[\[(]?(?P<numbers>{_NUMBERS})[\])]?\s*(?:</a>)?\s*</sup>",
            re.IGNORECASE,
        ),
        _read_tag,
    ),
    (re.compile(rf"\[{{1,2}}{_NUMBERS}\^?\]{{1,2}}(?P<target>{TARGET})"), _number_linked),
    (re.compile(rf"\[{{1,2}}(?P<numbers>{_NUMBERS})\^?\]{{1,2}}(?![(={{]|:\s)"), _read_numbers),
    (re.compile(r"(?:\[(?=\d+[†:])|【)(?P<numbers>\d{1,3})(?:[:†][^【】\[\]\n]{0,60})?[】\]]"), _read_numbers),
    (re.compile(rf"\[{_LABEL}[:. ]*(?P<numbers>{_NUMBERS})\]"), _read_numbers),
    (re.compile(rf"\[\^(?P<names>[\w{ACCENTS}-]{{1,40}})\](?!:)"), _read_key),
    (re.compile(rf"\[(?P<names>@{_KEY}(?:; ?@{_KEY}){{0,9}})\]"), _read_key),
    (re.compile(r"\\cite[a-z]{0,2}\{(?P<names>[^{}]{1,200})\}"), _read_key),
    (re.compile(rf"\[[^\[\]\n]{{1,300}}\](?P<target>{TARGET})"), _read_link),
    (re.compile(r"\[(?P<shown>[^\[\]\n]{1,300})\]\[(?P<key>[\w -]{0,40})\]"), _read_reference),
    (re.compile(rf"[(<\[]?(?P<link>{URL})[)>\]]?"), _bare),
    (re.compile(rf"{NO_WORK}[(\[](?P<years>{AUTHOR_YEAR}(?:; ?{AUTHOR_YEAR}){{0,9}})[)\]]"), _years),
    (re.compile(rf"(?P<authors>{AUTHORS})(?:['’]s)?(?P<years> \((?:1[5-9]|20)\d\d[a-z]?\))"), _read_narrated_authors),
    (re.compile(f"(?<![{_RAISED}])[{_RAISED}]{{1,6}}(?![{_RAISED}])"), _read_raised_digits),
    (re.compile(rf"(?<=[\w\"”’] )\((?P<numbers>{_NUMBERS})\)(?=[.,;!?](?:\s|$)|\s*$)", re.MULTILINE), _known_numbers),
)
