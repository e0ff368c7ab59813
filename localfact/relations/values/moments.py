"""Dates at every precision: days, months, seasons, years, decades, centuries, before and after Christ, weekdays."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from localfact.records import Span
from localfact.relations.values.value import Agreement, Measure, Value
from localfact.relations.values.vocabulary import MONTHS, ORDINALS, SEASONS, WEEKDAYS

#: A year is counted as twelve months of 31 days: only the order of days is compared.
DAYS, MONTHS_OF_A_YEAR = 31, 12
#: By how many years a year "around" which something was may be off; of one before Christ.
AROUND, AROUND_BEFORE_CHRIST = 3, 15
#: A year by itself, without an era.
YEARS = range(1000, 2100)
SHORTEST_MONTH = 3

_MONTH = "(?P<month>" + "|".join(rf"{month}|{month[:SHORTEST_MONTH]}\.?" for month in MONTHS) + r"|sept\.?)"
_WEEKDAY = f"(?:(?P<weekday>{'|'.join(WEEKDAYS)})s?)"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_ERA = r"(?:\s?(?P<era>BCE|BC|CE|AD|B\.C\.(?:E\.)?|A\.D\.))"
_YEAR = r"(?P<year>\d{3,4})(?!\d|[,.]\d|\s?%)"
_CENTURY = "|".join(ORDINALS)
_HEDGE = r"(?P<hedge>(?:around|about|circa|ca?\.|approximately|roughly|some time around)\s+)?"
_BOUND = r"(?P<bound>(?:before|after|since|until|till|by|from|between)\s+)?"
#: In this order: the first that fits at a place is taken.
_FORMS = (
    r"(?P<year>\d{4})-(?P<number>\d{2})-(?P<day>\d{2})(?!\d)",
    rf"(?:{_WEEKDAY},?\s+(?:the\s+)?)?\b{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+(?:of\s+)?{_YEAR}{_ERA}?)?(?![^\W\d])",
    rf"(?:{_WEEKDAY},?\s+)?\b{_MONTH}\s+(?:the\s+)?{_DAY}(?!\d|:)(?:,?\s+{_YEAR}{_ERA}?)?(?![^\W\d])",
    rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}{_ERA}?",
    rf"\b(?P<season>{'|'.join(SEASONS)}),?\s+(?:of\s+)?{_YEAR}",
    r"\b(?P<decade>\d{3}0)[’']?s\b",
    rf"\b(?:(?P<century>\d{{1,2}})(?:st|nd|rd|th)|(?P<named>{_CENTURY}))[ -]centur(?:y|ies){_ERA}?",
    r"\b(?:AD|A\.D\.)\s?(?P<year>\d{1,4})\b",
    rf"\b(?P<year>\d{{1,4}}){_ERA}",
    rf"\b(?P<plain>\d{{4}})(?!\d|[,.]\d|\s?%|-\d\d-)\b",
    rf"(?:(?<=\bon )|(?<=\bevery )|(?<=\bon a )|(?<=\beach )|(?<=\bthe )){_WEEKDAY}\b",
    rf"(?:(?<=\bin )|(?<=\bduring )|(?<=\blate )|(?<=\bearly )|(?<=\bsince )|(?<=\buntil )|(?<=\bevery )){_MONTH}(?![^\W\d])",
)
_READERS = tuple(re.compile(f"{_BOUND}{_HEDGE}(?:the\\s+|(?:early|mid|late)[- ])*{form}", re.IGNORECASE) for form in _FORMS[:-2]) + tuple(
    re.compile(form, re.IGNORECASE) for form in _FORMS[-2:]
)
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
    """

    first: float | None = None
    last: float | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None

    def agreement(self, said: Measure) -> Agreement | None:
        """See `Measure`. A weekday beside a date says nothing more: people get it wrong."""
        if not isinstance(said, Moment):
            return None
        if self.first is not None and self.last is not None and said.first is not None and said.last is not None:
            if said.last < self.first or said.first > self.last:
                return Agreement.OTHER
            return Agreement.SAME if self.first <= said.first and said.last <= self.last else Agreement.OPEN
        if self._is_weekday or said._is_weekday:
            if self.weekday is None or said.weekday is None:
                return None
            return Agreement.SAME if self.weekday == said.weekday else Agreement.OTHER
        for own, other in ((self.month, said.month), (self.day, said.day)):
            if own is not None and other is not None and own != other:
                return Agreement.OTHER
        known = (self.month, self.day) if self.first is None else (None,)
        if self.month is None or said.month is None:
            return None
        return Agreement.SAME if all(known) or (self.day is None and self.first is None) else Agreement.OPEN

    @property
    def _is_weekday(self) -> bool:
        return self.first is None and self.month is None


def read_moments(text: str) -> Iterator[Value]:
    """The dates in a sentence, in no order; none overlap."""
    taken: list[tuple[int, int]] = []
    for reader in _READERS:
        for found in reader.finditer(text):
            start, end = found.span()
            if any(start < stop and begin < end for begin, stop in taken):
                continue
            moment = _moment(found, text)
            if moment is not None:
                taken.append((start, end))
                yield Value(_without_bound(found), moment, role=_role(found))


def _without_bound(found: re.Match[str]) -> Span:
    bound = found.groupdict().get("bound") or ""
    return Span(start=found.start() + len(bound), end=found.end())


def _role(found: re.Match[str]) -> str:
    bound = (found.groupdict().get("bound") or "").strip().casefold()
    return {"from": "start", "since": "start", "between": "start", "until": "end", "till": "end"}.get(bound, "")


def _moment(found: re.Match[str], text: str) -> Moment | None:
    said = {name: value.casefold() for name, value in found.groupdict().items() if value}
    if "plain" in said and _is_counted(found, text, int(said["plain"])):
        return None
    month = int(said["number"]) if "number" in said else _month(said.get("month"))
    day = int(said["day"]) if "day" in said else None
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
    if said.get("bound", "").strip() == "before":
        begin, end = -float("inf"), begin - 1
    elif said.get("bound", "").strip() == "after":
        begin, end = begin, float("inf")
    elif said.get("bound", "").strip() == "by":
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
