"""Dates at every precision: days, months, seasons, years, decades, centuries, before and after Christ, weekdays."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from localfact.records import Span
from localfact.relations.values.value import Measure, Value, ValueAgreement
from localfact.relations.values.vocabulary import MONTHS, ORDINALS, SEASONS, WEEKDAYS

#: A year is counted as twelve months of 31 days: only the order of days is compared.
DAYS, MONTHS_OF_A_YEAR = 31, 12
#: By how many years a year "around" which something was may be off; of one before Christ.
AROUND, AROUND_BEFORE_CHRIST = 3, 15
#: A year by itself, without an era.
YEARS = range(1000, 2100)
SHORTEST_MONTH = 3

_MONTH = "(?P<month>" + "|".join(rf"{month}|{month[:SHORTEST_MONTH]}\.?" for month in MONTHS) + r"|sept\.?)"
_WEEKDAY = f"(?P<weekday>{'|'.join(WEEKDAYS)})s?"
_DAYS = (*ORDINALS, *(f"twenty-{one}" for one in ORDINALS[:9]), "thirtieth", "thirty-first")
_DAY = rf"(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?|\b(?P<spelled>{'|'.join(reversed(_DAYS))}))"
_ERA = r"(?:\s?(?P<era>bce|bc|ce|ad|b\.c\.(?:e\.)?|a\.d\.)(?![^\W_]))"
_YEAR = r"(?P<year>\d{3,4})(?!\d|[,.]\d|\s?%)"
_CENTURY = "|".join(ORDINALS)
#: Of lower-case text, in this order: the first that fits at a place is taken.
_FORMS = (
    r"(?<!\d)(?P<year>\d{4})-(?P<number>\d{2})-(?P<day>\d{2})(?!\d)",
    r"(?<![\d/])(?P<year>\d{4})/(?P<number>\d{1,2})/(?P<day>\d{1,2})(?![\d/])",
    r"(?<![\d.])(?P<day>\d{1,2})\.(?P<number>\d{1,2})\.(?P<year>\d{4})(?!\d)",
    r"(?<![\d/])(?P<one>\d{1,2})/(?P<two>\d{1,2})/(?P<year>\d{4})(?![\d/])",
    rf"(?<!\d){_DAY}\s+(?:of\s+)?{_MONTH}(?:\s?,?\s+(?:of\s+)?{_YEAR}{_ERA}?)?(?![^\W\d])",
    rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}(?!\d|:)(?:\s?,?\s+{_YEAR}{_ERA}?)?(?![^\W\d])",
    rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}{_ERA}?",
    rf"\b(?P<season>{'|'.join(SEASONS)}),?\s+(?:of\s+)?{_YEAR}{_ERA}?",
    r"\b(?P<decade>\d{3}0)\s?[’']?s\b",
    rf"\b(?:(?P<century>\d{{1,2}})(?:st|nd|rd|th)|(?P<named>{_CENTURY}))[ -]centur(?:y|ies){_ERA}?",
    r"\b(?:ad|a\.d\.)\s?(?P<year>\d{1,4})\b",
    rf"(?<!\d)(?P<year>\d{{1,4}}){_ERA}",
    r"(?<![\w.,/$£€¥-])(?P<plain>\d{4})(?!\d|[,.]\d|\s?%|-\d\d-)\b",
    rf"\b{_WEEKDAY}\b",
    rf"\b{_MONTH}(?![^\W\d])",
)
_READERS = tuple(re.compile(form) for form in _FORMS)
_HINT = re.compile(rf"\d|centur|{'|'.join(month[:SHORTEST_MONTH] for month in MONTHS)}|[a-z]day")
#: What may stand before a date, and how far back it is looked for.
_BEFORE = re.compile(
    r"(?:\b(?P<bound>before|after|since|until|till|by|from|between)\s+)?"
    r"(?:\b(?P<hedge>around|about|circa|ca?\.|approximately|roughly)\s+)?"
    rf"(?:\b(?:the|early|mid|late|(?P<weekday>{'|'.join(WEEKDAYS)}),?)[\s-]+)*$"
)
BACK = 45
#: A weekday or month by itself is one only behind such a word.
_ALONE_BEHIND = re.compile(r"\b(?:on|every|on a|each|in|during|late|early|since|until|mid)[\s-]$")
#: Words that are no month in small letters.
_ALSO_WORDS = frozenset(("may", "march", "mar", "sun", "sat", "dec", "second"))
#: What a number of four digits counts, so that it is no year.
_COUNTED = re.compile(
    r"\s*(?:%|°|(?!(?:was|is|has|as|its|his|this|thus|plus|across|besides|towards|always|perhaps|census|elections?)\b)[a-z]{3,}s\b"
    r"|(?:percent|per cent|people|men|women|children|feet|square|cubic|sheep|cattle|km|kg|g|m|cm|mm|ft|mi|ha|t|l)\b)"
)
_CURRENCY_BEFORE = re.compile(r"[$£€¥#]\s?$|\bno\. ?$", re.IGNORECASE)


@dataclass(frozen=True)
class Moment:
    """A time: a stretch of days, or, without a year, a day or month of any year, or a weekday.

    Attributes:
        first, last: its days, from 0 at the birth of Christ, a year counted as 372; None without a year.
        month, day, weekday: where it names them; months and days from 1, weekdays from 0.
        otherwise: the other reading of 9/12/1906, where both are days.
    """

    first: float | None = None
    last: float | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    otherwise: "Moment | None" = None

    def agreement(self, said: Measure) -> ValueAgreement | None:
        """See `Measure`. A weekday beside a date says nothing more: people get it wrong."""
        if not isinstance(said, Moment):
            return None
        found = [own._agree(other) for own in (self, self.otherwise) if own for other in (said, said.otherwise) if other]
        return next((one for one in (ValueAgreement.SAME, ValueAgreement.OPEN, None) if one in found), ValueAgreement.OTHER)

    def _agree(self, said: "Moment") -> ValueAgreement | None:
        if self.first is not None and self.last is not None and said.first is not None and said.last is not None:
            if said.last < self.first or said.first > self.last:
                return ValueAgreement.OTHER
            return ValueAgreement.SAME if self.first <= said.first and said.last <= self.last else ValueAgreement.OPEN
        if self._is_weekday or said._is_weekday:
            if self.weekday is None or said.weekday is None:
                return None
            return ValueAgreement.SAME if self.weekday == said.weekday else ValueAgreement.OTHER
        for own, other in ((self.month, said.month), (self.day, said.day)):
            if own is not None and other is not None and own != other:
                return ValueAgreement.OTHER
        known = (self.month, self.day) if self.first is None else (None,)
        if self.month is None or said.month is None:
            return None
        return ValueAgreement.SAME if all(known) or (self.day is None and self.first is None) else ValueAgreement.OPEN

    @property
    def days(self) -> tuple[float, float] | None:
        """The first and the last of its days; None without a year."""
        return None if self.first is None or self.last is None else (self.first, self.last)

    @property
    def _is_weekday(self) -> bool:
        return self.first is None and self.month is None


def read_moments(text: str) -> Iterator[Value]:
    """The dates in a sentence, in no order; none overlap."""
    lower = text.lower()
    if len(lower) != len(text) or not _HINT.search(lower):
        return
    taken: list[tuple[int, int]] = []
    for reader in _READERS:
        for found in reader.finditer(lower):
            start, end = found.span()
            if any(start < stop and begin < end for begin, stop in taken):
                continue
            before = _BEFORE.search(lower[max(0, start - BACK) : start])
            said = {name: word for match in (before, found) if match for name, word in match.groupdict().items() if word}
            if not _is_written_so(said, found, text):
                continue
            moment = _moment(said, text, found)
            if moment is not None:
                taken.append((start, end))
                start -= len(before.group()) if before else 0
                start += (before.end("bound") - before.start()) if before and before["bound"] else 0
                start += len(text[start:]) - len(text[start:].lstrip())
                yield Value(Span(start=start, end=end), moment, role=_ROLES.get(said.get("bound", ""), ""))


_ROLES = {"from": "start", "since": "start", "between": "start", "until": "end", "till": "end"}


def _is_written_so(said: dict[str, str], found: re.Match[str], text: str) -> bool:
    """Whether the match is a date as people write it: "May" with a capital, eras in capitals, a month alone behind "in"."""
    begin = found.start("month") if "month" in said else -1
    if begin >= 0 and said["month"].rstrip(".") in _ALSO_WORDS and not text[begin].isupper():
        return False
    if "era" in said and not text[found.start("era")].isupper():
        return False
    alone = not {"day", "spelled", "year", "decade", "century", "named", "plain", "season"} & said.keys()
    return not alone or bool(_ALONE_BEHIND.search(text[: found.start()].lower()[-BACK:]))


def _moment(said: dict[str, str], text: str, found: re.Match[str]) -> Moment | None:
    if "plain" in said and _is_counted(found, text, int(said["plain"])):
        return None
    if "one" in said:
        ways = [said | {"day": said[day], "number": said[month]} for day, month in (("one", "two"), ("two", "one"))]
        moments = [one for way in ways if (one := _read_date(way)) is not None]
        return replace(moments[0], otherwise=moments[1]) if len(moments) > 1 else moments[0] if moments else None
    return _read_date(said)


def _read_date(said: dict[str, str]) -> Moment | None:
    month = int(said["number"]) if "number" in said else _month(said.get("month"))
    day = int(said["day"]) if "day" in said else _DAYS.index(said["spelled"]) + 1 if "spelled" in said else None
    weekday = WEEKDAYS.index(said["weekday"]) if "weekday" in said else None
    if not 1 <= (month or 1) <= MONTHS_OF_A_YEAR or not 1 <= (day or 1) <= DAYS:
        return None
    first, last = _years(said)
    if first is None or last is None:
        return Moment(None, None, month, day, weekday)
    months = SEASONS[said["season"]] if "season" in said else (month or 1, month or MONTHS_OF_A_YEAR)
    begin = _count(first, months[0], day or 1)
    end = _count(last, months[1], day or DAYS)
    if "hedge" in said and day is None:
        off = (AROUND if first > 0 else AROUND_BEFORE_CHRIST) * DAYS * MONTHS_OF_A_YEAR
        begin, end = begin - off, end + off
    if said.get("bound", "") == "before":
        begin, end = -float("inf"), begin - 1
    elif said.get("bound", "") == "after":
        begin, end = begin, float("inf")
    elif said.get("bound", "") == "by":
        begin = -float("inf")
    return Moment(begin, end, month, day, weekday)


def _years(said: dict[str, str]) -> tuple[int | None, int | None]:
    """The first and the last year; years before Christ count down from 0."""
    before = "b" in said.get("era", "")
    if "decade" in said:
        return int(said["decade"]), int(said["decade"]) + 9
    if "century" in said or "named" in said:
        number = int(said["century"]) if "century" in said else ORDINALS.index(said["named"]) + 1
        return (1 - 100 * number, 100 - 100 * number) if before else (100 * number - 100, 100 * number)
    year = said.get("year") or said.get("plain")
    if year is None:
        return None, None
    return (1 - int(year),) * 2 if before else (int(year),) * 2


def _count(year: int, month: int, day: int) -> float:
    return (year * MONTHS_OF_A_YEAR + month - 1) * DAYS + day - 1


def _month(name: str | None) -> int | None:
    if name is None:
        return None
    return next(number for number, month in enumerate(MONTHS, start=1) if month.startswith(name[:SHORTEST_MONTH]))


def _is_counted(found: re.Match[str], text: str, year: int) -> bool:
    """Whether a number of four digits counts something, or is a price."""
    if year not in YEARS:
        return True
    return bool(_COUNTED.match(text, found.end()) or _CURRENCY_BEFORE.search(text[: found.start("plain")]))
