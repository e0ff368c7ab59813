"""Writes a date as another one is written: day, month and year in the same order, with the same marks and as exact."""

import re

from localfact.relations.values.moments import DAYS, MONTHS_OF_A_YEAR, SHORTEST_MONTH, Moment
from localfact.relations.values.vocabulary import MONTHS

_MONTH = re.compile(rf"\b(?:{'|'.join(rf'{month}|{month[:SHORTEST_MONTH]}' for month in MONTHS)}|sept)\b\.?", re.IGNORECASE)
_YEAR = re.compile(r"(?<!\d)\d{3,4}(?!\d)")
_DAY = re.compile(r"(?<!\d)\d{1,2}(?P<th>st|nd|rd|th)?\b(?!\d)", re.IGNORECASE)
#: A date in figures: the order of its parts, its mark.
_FIGURES = (
    (re.compile(r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})"), "ymd"),
    (re.compile(r"(\d{1,2})([.])(\d{1,2})\2(\d{4})"), "dmy"),
)
#: Forms that no part can be exchanged in.
_OTHER_FORM = re.compile(r"centur|\d0\s?[’']?s\b|spring|summer|autumn|fall|winter|\b(?:bce?|ad|ce)\b|\d/\d", re.IGNORECASE)
#: What narrows a date: what is right of one year need not be of another.
_PART_OF = re.compile(r"^(?:early|mid|late)[\s-]+", re.IGNORECASE)
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
TEENS = range(11, 14)


def date_like(old: str, said: str, now: Moment) -> str:
    """The date `now` in the form of `old`, and no more exact; as the source writes it, where that form does not fit."""
    year, month, day = year_of(now), now.month, now.day
    for form, order in _FIGURES:
        if found := form.fullmatch(old):
            return _in_figures(found, order, year, month, day) or said
    if _OTHER_FORM.search(old) or _OTHER_FORM.search(said):
        return said
    rest = _PART_OF.sub("", old)
    if found := _MONTH.search(rest):
        if month is None:
            return said
        named = MONTHS[month - 1].capitalize()
        short = found[0].rstrip(".").lower() not in MONTHS
        named = named[: len(found[0].rstrip(".")) if short else None] + ("." if found[0].endswith(".") else "")
        rest = rest[: found.start()] + named + rest[found.end() :]
    if found := _YEAR.search(rest):
        if year is None and month is None:
            return said
        if year is not None:
            rest = rest[: found.start()] + str(year) + rest[found.end() :]
    elif year is not None and month is None:
        return said
    if found := _DAY.search(rest):
        if day is None:
            return said
        rest = rest[: found.start()] + (ordinal(day) if found["th"] else str(day)) + rest[found.end() :]
    return rest if rest != old else said


def year_of(moment: Moment) -> int | None:
    """The year, where the moment lies in one."""
    if moment.first is None or moment.last is None or float("inf") in (-moment.first, moment.last):
        return None
    first, last = (int(one // (DAYS * MONTHS_OF_A_YEAR)) for one in (moment.first, moment.last))
    return first if first == last and first > 0 else None


def _in_figures(found: re.Match[str], order: str, year: int | None, month: int | None, day: int | None) -> str | None:
    if year is None or month is None or day is None:
        return None
    parts = {"y": str(year), "m": str(month), "d": str(day)}
    widths = {part: len(found[place]) for part, place in zip(order, (1, 3, 4), strict=True)}
    return found[2].join(parts[part].zfill(widths[part]) for part in order)


def ordinal(number: int) -> str:
    """A number as a place in an order, in figures: 21st."""
    return f"{number}{'th' if number % 100 in TEENS else _ENDINGS.get(number % 10, 'th')}"
