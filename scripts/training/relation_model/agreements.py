"""Says a number or a date of a sentence less exactly, or in another unit: what still agrees with it, and what no longer does.

"14,050,000 people live there" is "about 14 million", and is not "about 11 million".
"""

import math
import random
import re
from collections.abc import Iterator
from typing import NamedTuple

from scripts.training.relation_model.examples import CONTRADICTION, ENTAILMENT
from scripts.training.relation_model.rule_words import MONTHS
from scripts.training.relation_model.sentence_edits import NEGATION, OPEN_ENDED

#: Below that a rounded number is mostly the number itself.
LEAST_ROUNDED = 40

_NUMBER = re.compile(r"(?<= )(?P<digits>\d{1,3}(?:,\d{3})+|\d{2,9}|\d+\.\d+)(?P<rest>(?: (?:million|billion))?)(?= [a-z])")
#: What stands before a number that is rounded already, or that cannot be said so.
_HEDGED = re.compile(r"(?:about|around|roughly|approximately|some|a|within|every|another|\(|back)\s?$", re.IGNORECASE)
_YEAR_LIKE = re.compile(r"1[0-9]\d\d|20[0-2]\d")
_MONTH = "|".join(MONTHS)
_DATE = re.compile(
    rf"\b[Oo]n (?:(?P<month>{_MONTH}) (?P<day>\d{{1,2}})(?:st|nd|rd|th)?, (?P<year>\d{{4}})"
    rf"|(?P<other_day>\d{{1,2}}) (?P<other_month>{_MONTH}) (?P<other_year>\d{{4}}))\b"
)
_IN_YEAR = re.compile(r"\b(?P<in>[Ii]n) (?P<year>1[5-9]\d\d|20[0-2]\d)(?=[,.; ])(?! (?:and|to|or)\b)(?![-–/])")
_UNITS = (  # a measure, how it is written, and how many of the other make one
    (re.compile(r"(?P<digits>\d+(?:\.\d+)?) (?:km|kilomet(?:er|re)s)\b(?! per| an|/|2|²)"), "miles", 0.621),
    (re.compile(r"(?P<digits>\d+(?:\.\d+)?) miles\b(?! per| an)"), "kilometres", 1.609),
    (re.compile(r"(?P<digits>\d+(?:\.\d+)?) (?:m|met(?:er|re)s)\b(?! per|/|2|²)"), "feet", 3.281),
    (re.compile(r"(?P<digits>\d+(?:\.\d+)?) (?:ft|feet)\b(?! per)"), "metres", 0.3048),
    (re.compile(r"(?P<digits>\d+(?:\.\d+)?) (?:kg|kilograms)\b(?! per)"), "pounds", 2.205),
    (re.compile(r"(?P<digits>\d+(?:\.\d+)?) (?:pounds|lbs?)\b(?! per| sterling)"), "kilograms", 0.4536),
)
_SPELLINGS = (
    ("colour", "color"), ("centre", "center"), ("theatre", "theater"), ("harbour", "harbor"), ("labour", "labor"),
    ("favourite", "favorite"), ("honour", "honor"), ("neighbour", "neighbor"), ("organis", "organiz"), ("recognis", "recogniz"),
    ("programmes", "programs"), ("defence", "defense"), ("catalogue", "catalog"), ("grey", "gray"),
    ("metre", "meter"), ("litre", "liter"), ("aluminium", "aluminum"), ("mould", "mold"), ("tonne", "ton"),
)  # fmt: skip


class Agreement(NamedTuple):
    """What became of a sentence: of which sort the change is, the sentence after it, and what the first one says of it."""

    kind: str
    sentence: str
    label: str


def agreements(sentence: str, chance: random.Random) -> Iterator[list[Agreement]]:
    """Groups of changed sentences: one that agrees, and mostly its twin that does not."""
    if NEGATION.search(sentence):
        return
    for rule in (_rounded, _date, _period, _unit, _spelling):
        if group := rule(sentence, chance):
            yield group


def _rounded(sentence: str, chance: random.Random) -> list[Agreement]:
    places = [
        found
        for found in _NUMBER.finditer(sentence)
        if is_plain_amount(sentence, found)
        and not (_YEAR_LIKE.fullmatch(found["digits"]) and not found["rest"])
        and (found["rest"] or value_of(found["digits"]) >= LEAST_ROUNDED)
        and not re.search(r"[A-Z]\w*\s$", sentence[: found.start()])
    ]
    if not places:
        return []
    found = chance.choice(places)
    value = value_of(found["digits"])
    digits = chance.choice((1, 2)) if not found["rest"] else chance.choice((1, 2, 2))
    near = round_to(value, digits)
    if near == value or abs(near - value) > 0.12 * value:
        near = round_to(value, 2)
    if abs(near - value) > 0.06 * value and digits == 2:
        return []
    far = round_to(value * chance.choice((0.5, 0.6, 0.7, 1.4, 1.6, 2.0)), 2)
    words = ["about", "around", "roughly", "approximately", "some"]
    words += ["nearly", "almost", "just under"] if near > value else ["more than", "over", "just over"] if near < value else []
    changed = [(near, chance.choice(words), ENTAILMENT), (far, chance.choice(words[:5]), CONTRADICTION)]
    return [
        Agreement(named("number rounded", label), put(sentence, found, f"{word} {written(number)}{found['rest']}"), label)
        for number, word, label in changed
    ]


def _date(sentence: str, chance: random.Random) -> list[Agreement]:
    found = _DATE.search(sentence)
    if not found:
        return []
    month, year = found["month"] or found["other_month"], found["year"] or found["other_year"]
    day = int(found["day"] or found["other_day"])
    place = MONTHS.index(month)
    part = "early " if day <= 10 else "late " if day >= 21 else "mid-"
    other_month = chance.choice([one for at, one in enumerate(MONTHS) if one != month and abs(at - place) > 1])
    other_year = str(int(year) + chance.choice((-12, -7, -3, -2, 2, 3, 6, 11)))
    true = chance.choice((f"in {month} {year}", f"in {year}", f"in {part}{month} {year}", f"in {month} of {year}"))
    false = chance.choice((f"in {other_month} {year}", f"in {other_year}", f"in {month} {other_year}"))
    return [
        Agreement(named("date less exact", label), put(sentence, found, _cased(text, found)), label)
        for text, label in ((true, ENTAILMENT), (false, CONTRADICTION))
    ]


def _period(sentence: str, chance: random.Random) -> list[Agreement]:
    found = _IN_YEAR.search(sentence)
    if not found or _HEDGED.search(sentence[: found.start()]):
        return []
    year = int(found["year"])
    decade, century = year // 10 * 10, (year - 1) // 100 + 1
    part = "early " if year % 100 in range(1, 31) else "late " if year % 100 in range(70, 100) else ""
    other_decade = decade + chance.choice((-40, -30, -20, 20, 30, 40))
    other_century = century + chance.choice((-1, 1))
    ways = (
        (f"in the {decade}s", f"in the {other_decade}s"),
        (f"in the {part}{ordinal(century)} century", f"in the {ordinal(other_century)} century"),
        (f"before {year + chance.randint(3, 20)}", f"before {year - chance.randint(3, 20)}"),
        (f"after {year - chance.randint(3, 20)}", f"after {year + chance.randint(3, 20)}"),
    )
    true, false = chance.choice(ways)
    return [
        Agreement(named("year less exact", label), put(sentence, found, _cased(text, found)), label)
        for text, label in ((true, ENTAILMENT), (false, CONTRADICTION))
    ]


def _unit(sentence: str, chance: random.Random) -> list[Agreement]:
    for pattern, unit, factor in _UNITS:
        found = pattern.search(sentence)
        if found and is_plain_amount(sentence, found):
            value = value_of(found["digits"]) * factor
            right = f"about {written(round_to(value, 2))} {unit}"
            wrong = chance.choice((f"{found['digits']} {unit}", f"about {written(round_to(value * 2, 2))} {unit}"))
            return [
                Agreement("other unit", put(sentence, found, right), ENTAILMENT),
                Agreement(named("other unit", CONTRADICTION), put(sentence, found, wrong), CONTRADICTION),
            ]
    return []


def _spelling(sentence: str, _chance: random.Random) -> list[Agreement]:
    for british, american in _SPELLINGS:
        for old, new in ((british, american), (american, british)):
            if re.search(rf"\b{old}", sentence) and not re.search(rf"\b{new}", sentence):
                return [Agreement("other spelling", re.sub(rf"\b{old}", new, sentence), ENTAILMENT)]
    return []


def is_plain_amount(sentence: str, found: re.Match[str]) -> bool:
    """Whether the number says one amount: no bound, no end of a range, nothing in brackets, not rounded already."""
    before = sentence[: found.start()]
    return not OPEN_ENDED.search(before) and not _HEDGED.search(before)


def named(rule: str, label: str) -> str:
    """The kind of a sentence that a rule makes: the rule's name, and for the twin that no longer agrees another."""
    return rule if label == ENTAILMENT else f"{rule}: disagrees"


def value_of(digits: str) -> float:
    return float(digits.replace(",", ""))


def round_to(value: float, digits: int) -> float:
    """The number with so many digits that are not zero."""
    if value <= 0:
        return value
    size = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    return round(value / size) * size


def written(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"


def ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def put(sentence: str, found: re.Match[str], text: str) -> str:
    return sentence[: found.start()] + text + sentence[found.end() :]


def _cased(text: str, found: re.Match[str]) -> str:
    return text[0].upper() + text[1:] if found.group()[0].isupper() else text
