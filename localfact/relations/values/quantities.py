"""Quantities: a number with its sign, unit or what it counts, range, and hedge ("over", "about", "almost")."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from localfact.records import Span
from localfact.relations.values.numerals import NUMERAL, Numeral, read_numeral
from localfact.relations.values.units import unit_pattern, units
from localfact.relations.values.value import Measure, Value, ValueAgreement, is_free
from localfact.relations.values.vocabulary import MAGNITUDES, ONES, ORDINALS, STOP_WORDS, TENS, base, is_verb

#: By which share a number that is only about so much may be off, and one that was converted from another unit.
ABOUT, CONVERTED = 0.06, 0.015
#: A text's "over 1,300" leaves open what is at most so many times as much; its "almost 900" at least this part.
MUCH_OVER, ALMOST = 1.5, 0.8
#: Two bounds of a kind that differ by more are two bounds.
MUCH_UNDER = 1.4
#: Two round numbers that differ by a smaller share may be the same, rounded: that is left open.
NEAR = 0.05
#: Fewer things are counted, not rounded.
FEW = 100
#: The most words behind a number of which the last is what it counts.
COUNTED_WORDS = 3

_HEDGES = {
    "about": r"about|around|approximately|approx\.?|roughly|some|circa|ca?\.|~|an estimated|estimated|close to|an average of",
    "almost": r"nearly|almost|just under|not quite",
    "over": r"over|more than|above|exceeding|upwards of|in excess of|at least|no fewer than|no less than|a minimum of",
    "under": r"under|less than|fewer than|below|up to|at most|no more than|not more than|as many as|a maximum of",
}
_HEDGE = re.compile(
    "(?:" + "|".join(rf"(?P<{name}>(?:\b|~)(?:{words}))" for name, words in _HEDGES.items()) + r")\s*$", re.IGNORECASE
)
BACK = 24
_SECOND = NUMERAL.replace("(?P<", "(?P<to_")
_QUANTITY = re.compile(
    rf"(?<![\w.,/’'])(?<![^\W\d]-)(?P<sign>minus\s+|[−-](?=\d))?(?P<before>(?:us)?[$£€¥₹]\s?)?(?P<first>{NUMERAL})"
    rf"(?:\s?(?:to|–|—|-|and|or)\s?(?P<second>(?:[$£€¥₹]\s?)?(?:{_SECOND})))?"
    rf"[\s-]?(?P<unit>{unit_pattern()})?(?:\s+and\s+a\s+(?P<more>half|quarter)\b)?(?P<below>\s+below\b)?",
    re.IGNORECASE,
)
_HINT = re.compile(
    rf"[\d½¼¾⅓⅔]|\b(?:{'|'.join((*ONES[1:], *TENS, *MAGNITUDES))}|dozen|half|third|quarter|hour|day|week|month|year|mile)",
    re.IGNORECASE,
)
#: "an hour and a half"
_A_UNIT = re.compile(
    r"\b(?P<number>an|a|one|half an|half a)\s+(?P<unit>hour|day|week|month|year|mile)"
    r"(?:\s+and\s+a\s+(?P<more>half|quarter))?\b",
    re.I,
)
_WORDS = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|[.,;:()]")
_APART = re.compile(
    r"\s+(?:later|earlier|before|after|ago|apart)\b|\s+(?:[a-z]+er|more|less)\b[^.;]{0,40}\bthan\b", re.IGNORECASE
)
_ENDS = re.compile(rf"(?:st|nd|rd|th)\b|[:/]\d|\d|-(?:{'|'.join(ORDINALS)})\b")
_AGE = re.compile(r"(?:\bage of|\baged|\bage|(?:^|, |\b(?:died|retired|won) )at)\s+$", re.IGNORECASE)
_OLD = re.compile(r"[\s-]old\b")
_MILLIONS = ("m", "M")
_AGED = (("age", 31557600.0),)


@dataclass(frozen=True)
class Quantity:
    """A number of something.

    Attributes:
        low, high: what it may be, in the basic unit of each of its dimensions; the same where it is exact.
        dimensions: dimension -> factor of the unit; empty for a bare number or a count.
        grain: the size of its last digit that counts.
        counted: what it counts, as compared words; empty where the text does not say.
        hedge: "about", "almost", "over", "under" or "".
    """

    low: float
    high: float
    dimensions: tuple[tuple[str, float], ...] = ()
    grain: float = 0.0
    counted: frozenset[str] = frozenset()
    hedge: str = ""

    def agreement(self, said: Measure) -> ValueAgreement | None:
        """See `Measure`."""
        if not isinstance(said, Quantity):
            return None
        if not self.dimensions and not said.dimensions:
            found = self._compare(said, 1.0, 1.0) if self._counts_as(said) else None
            if found is ValueAgreement.OTHER and not self._counts_the_same(said):
                return ValueAgreement.OPEN
            apart = self.counted - said.counted and said.counted - self.counted
            return ValueAgreement.OPEN if found is ValueAgreement.SAME and apart else found
        ours, theirs = dict(self.dimensions), dict(said.dimensions)
        if shared := [dimension for dimension in ours if dimension in theirs]:
            dimension = shared[0]
            return self._compare(said, ours[dimension], theirs[dimension]) if self._counts_as(said) else None
        money = [any(one.startswith("money") for one in each) for each in (ours, theirs)]
        return ValueAgreement.OTHER if all(money) and self.low == said.low else None

    def _counts_the_same(self, said: "Quantity") -> bool:
        return not self.counted or not said.counted or self.counted == said.counted

    def _counts_as(self, said: "Quantity") -> bool:
        return not self.counted or not said.counted or bool(self.counted & said.counted)

    def _compare(self, said: "Quantity", factor: float, other: float) -> ValueAgreement:
        low, high = self.low * factor, self.high * factor
        slack = max(self.grain * factor / 2, CONVERTED * abs(high) if factor != other else 0.0)
        if self.hedge == "about":
            slack = max(slack, ABOUT * abs(high))
        if (
            self.hedge in ("over", "under")
            and said.hedge == self.hedge
            and not 1 / MUCH_UNDER <= high / (said.high * other or 1) <= MUCH_UNDER
        ):
            return ValueAgreement.OTHER
        low, high = self._reach(low - slack, high + slack, self.hedge, ours=True)
        theirs = sorted(self._reach(said.low * other, said.high * other, said.hedge, ours=False))
        if theirs[1] < low - 1e-9 * abs(low) or theirs[0] > high + 1e-9 * abs(high):
            near = abs(self.low * factor - said.low * other) <= NEAR * abs(said.low * other)
            rounded = self.grain < 1 or (self.low % 10 == 0 and (self.low >= FEW or bool(self.dimensions)))
            return ValueAgreement.OPEN if near and rounded and not self.counted_exactly(said) else ValueAgreement.OTHER
        inside = low - 1e-9 * abs(low) <= theirs[0] and theirs[1] <= high + 1e-9 * abs(high)
        if said.hedge == self.hedge and said.low == self.low and said.high == self.high and factor == other:
            return ValueAgreement.SAME
        return ValueAgreement.SAME if inside else ValueAgreement.OPEN

    def counted_exactly(self, said: "Quantity") -> bool:
        """Whether both have digits so fine that one is no rounding of the other."""
        return not self.hedge and not said.hedge and (self.low % 10 != 0 and self.grain == said.grain)

    @staticmethod
    def _reach(low: float, high: float, hedge: str, *, ours: bool) -> tuple[float, float]:
        """What a number with that hedge may be. A claim's "over" has no end; a text's is not far over."""
        if hedge == "over":
            return low, (float("inf") if ours else high * MUCH_OVER)
        if hedge == "under":
            return (-float("inf") if ours else low * 0.5), high
        if hedge == "almost":
            return min(low, low * ALMOST), high
        if hedge == "about" and not ours:
            return low - ABOUT * abs(low), high + ABOUT * abs(high)
        return low, high


def read_quantities(text: str, taken: Collection[Span]) -> Iterator[Value]:
    """The quantities in a sentence that stand in none of the spans `taken`."""
    if not _HINT.search(text):
        return
    for found in _A_UNIT.finditer(text):
        if found["more"] or found["number"].lower() != "a":
            number = 0.5 if found["number"].lower().startswith("half") else 1.0
            number += {"half": 0.5, "quarter": 0.25}.get((found["more"] or "").lower(), 0.0)
            span = Span(start=found.start(), end=found.end())
            if is_free(span, taken):
                yield Value(span, Quantity(number, number, units()[found["unit"].lower()].factors))
    yield from _join_measures(list(_read_free(text, taken)), text)


def _read_free(text: str, taken: Collection[Span]) -> Iterator[Value]:
    place = 0
    while found := _QUANTITY.search(text, place):
        span = Span(start=found.start(), end=found.end())
        if not is_free(span, taken):  # what is no part of a date may begin behind it
            place = max(found.start() + 1, *(one.end for one in taken if one.start < span.end and span.start < one.end))
            continue
        place = max(found.end(), place + 1)
        value = _read(found, text)
        if value is not None:
            yield value


def _join_measures(values: list[Value], text: str) -> Iterator[Value]:
    """The values, those as one that together tell a measure: "two hours and ten minutes", "6 feet 2 inches"."""
    for value in values:
        measure = value.measure
        following = next((one for one in values if 0 <= one.span.start - value.span.end <= len(" and ")), None)
        if any(value is last for last in values if _continues(_before(values, value), last, text)):
            continue
        if following is not None and _continues(value, following, text):
            other = following.measure
            assert isinstance(measure, Quantity)
            assert isinstance(other, Quantity)
            (name, factor), (_, smaller) = measure.dimensions[0], other.dimensions[0]
            total = measure.low * factor + other.low * smaller
            yield Value(Span(start=value.span.start, end=following.span.end), Quantity(total, total, ((name, 1.0),), smaller))
        else:
            yield value


def _before(values: list[Value], value: Value) -> Value | None:
    place = values.index(value)
    return values[place - 1] if place else None


def _continues(first: Value | None, second: Value, text: str) -> bool:
    """Whether the second is the rest of the first, in a smaller unit of the same."""
    if first is None or not isinstance(first.measure, Quantity) or not isinstance(second.measure, Quantity):
        return False
    ours, theirs = first.measure.dimensions[:1], second.measure.dimensions[:1]
    if not ours or not theirs or ours[0][0] != theirs[0][0] or ours[0][1] <= theirs[0][1] or ours[0][0] == "share":
        return False
    return bool(re.fullmatch(r"\s*(?:and|,)?\s*", text[first.span.end : second.span.start]))


def _read(found: re.Match[str], text: str) -> Value | None:
    first = read_numeral(found)
    end = found.end("unit") if found["unit"] else found.end("second") if found["second"] else found.end("first")
    if first is None or _ENDS.match(text, end):
        return None
    second = _second(found) or first
    if found["to_great"] and not found["great"] and found["digits"]:  # "2 to 3 million"
        times = second.grain / (10.0 ** -len((found["to_digits"] or "").partition(".")[2]))
        first = Numeral(first.value * times, first.grain * times)
    if found["before"] and found["unit"] in _MILLIONS and found["digits"]:  # "$35m"
        first, second = (Numeral(one.value * 1e6, one.grain * 1e6) for one in (first, second))
    more = {"half": 0.5, "quarter": 0.25}.get((found["more"] or "").lower(), 0.0)
    low, high = sorted((first.value + more, second.value + more))
    if found["sign"] or found["below"]:
        low, high = -high, -low
    unit = _unit(found)
    dimensions = unit or ((("share", 1.0),) if found["fraction"] else ())
    dimensions = _AGED if _is_age(found, text, end, dimensions) else dimensions
    if _APART.match(text, end):  # "30 km longer than": no length of anything
        dimensions = tuple((f"apart {name}", factor) for name, factor in dimensions or (("count", 1.0),))
    begin = end if not dimensions else end + len(" of ") if text.startswith(" of ", end) else len(text)
    counted = _read_counted_nouns(text, begin)
    hedged = _HEDGE.search(text[max(0, found.start() - BACK) : found.start()])
    hedge = next((name for name in _HEDGES if hedged and hedged[name]), "")
    start = found.start() - (len(hedged.group()) if hedged else 0)
    quantity = Quantity(low, high, dimensions, min(first.grain, second.grain), counted, hedge)
    return Value(Span(start=start, end=max(end, found.end("more"))), quantity, words=counted)


def _is_age(found: re.Match[str], text: str, end: int, dimensions: tuple[tuple[str, float], ...]) -> bool:
    """Whether the number is an age in years: "aged 71", "71 years old", "At 19,"."""
    if dimensions:
        return bool(found["unit"] and found["unit"].lower().startswith("year") and _OLD.match(text, end))
    return bool(_AGE.search(text[: found.start()]) and re.match(r"\s*(?:[,.;)]|$|when|in|he|she)", text[end:]))


def _second(found: re.Match[str]) -> Numeral | None:
    if not found["second"]:
        return None
    said = re.compile(NUMERAL, re.IGNORECASE).search(found["second"])
    return read_numeral(said) if said else None


def _unit(found: re.Match[str]) -> tuple[tuple[str, float], ...]:
    sign = (found["before"] or "").strip()
    if sign:
        return units()[sign.upper() if sign.upper() in units() else "$"].factors
    written = found["unit"]
    if not written:
        return ()
    known = units()
    spelled = written if written in known else written.lower()
    if spelled not in known or (len(spelled) == 1 and spelled.isalpha() and not (found["digits"] and written == spelled)):
        return ()
    return known[spelled].factors


def _read_counted_nouns(text: str, end: int) -> frozenset[str]:
    """The nouns right behind a number: words up to a verb, a preposition or a mark."""
    found: list[str] = []
    for match in _WORDS.finditer(text, end):
        word = match.group().lower()
        if not found and word in ("are", "were"):  # "of whom 430 are women"
            continue
        if len(found) == COUNTED_WORDS or not word[0].isalpha() or word in STOP_WORDS or match.group()[0].isupper():
            break
        if is_verb(word) and found:
            break
        found.append(base(word))
    return frozenset(found)
