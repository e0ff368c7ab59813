"""Numbers as they are written: 2,400,000, 2.4 million, 3bn, 3½, sixty-four, two hundred and fifty, a dozen, half."""

import re
from typing import NamedTuple

from localfact.relations.values.vocabulary import MAGNITUDES, ONES, TENS

_SHORT = {"k": 1e3, "m": 1e6, "mn": 1e6, "bn": 1e9, "tn": 1e12}
_VULGAR = {"½": 0.5, "¼": 0.25, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3}
_PARTS = {
    "half": 0.5,
    "third": 1 / 3,
    "thirds": 1 / 3,
    "quarter": 0.25,
    "quarters": 0.25,
    "fifth": 0.2,
    "fifths": 0.2,
    "tenth": 0.1,
}
_DOZEN = 12
_WORD = "|".join(sorted((*ONES, *TENS), key=len, reverse=True))
_GREAT = "|".join(MAGNITUDES)
#: "a" and "one" begin a number only before a magnitude; "one" alone is a pronoun as often.
_SPELLED = (
    rf"(?:(?:a|an)\s+(?:{_GREAT}|dozen)|(?:{_WORD})(?:[\s-]+(?:dozen|{_WORD}|{_GREAT}))*)"
    rf"(?:\s+and\s+(?:{_WORD})(?:-(?:{_WORD}))?(?=\W))?(?:[\s-]+(?:{_GREAT}))*"
)
#: A measure as it stands before what it measures, in "3 100 metre races" and "3 100-metre races": two numbers with a blank.
_COMPOUND = (
    r"(?:-(?=[a-z])|[ ](?:day|foot|hour|inch|kilomet(?:er|re)|met(?:er|re)|mile|minute|month|page|pound|second|tonne|ton|"
    r"week|word|yard|year)\b)"
)
_DIGITS = (
    r"\d{1,3}(?:[,\u00a0\u202f]\d{3})+(?!\d)(?:\.\d+)?|(?<=\ba )\d{1,3}(?:[ ]\d{3})+(?!\d)|"
    rf"\d{{1,3}}(?:[ \u00a0\u202f]\d{{3}})+(?!\d)(?!{_COMPOUND})(?:\.\d+)?|\d+(?:\.\d+)?"
)
_FRACTION = rf"(?:(?:a|one|two|three)[\s-])?(?:{'|'.join(_PARTS)})(?=\s+(?:of|the|its|their|his|her|a)\b)"
NUMERAL = (
    rf"(?P<digits>(?:{_DIGITS})(?P<vulgar>[½¼¾⅓⅔])?|[½¼¾⅓⅔])"
    rf"(?:[\s-]?(?P<great>{_GREAT})s?\b|\s?(?P<short>bn|mn|tn|[mkK](?=\s+(?:dollars|euros|pounds|people))|(?-i:[MBK]|(?<=\d)k(?=\s+[a-z]{{3,}}s\b|[.,;)]|$)))\b)?"
    rf"|(?P<fraction>\b{_FRACTION})"
    rf"|(?P<spelled>\b(?:half\s+a\s+dozen|(?:a\s+)?dozen|{_SPELLED})(?:\s+and\s+a\s+(?P<and_half>half|quarter))?\b)"
)


class Numeral(NamedTuple):
    """A number and the size of its last digit that counts: 8.5 million has 100,000; a whole number's zeros at the end count."""

    value: float
    grain: float


def read_numeral(found: re.Match[str]) -> Numeral | None:
    """The number of a match of NUMERAL; None where the words make none."""
    said = {name: text.casefold() for name, text in found.groupdict().items() if text}
    if "digits" in said:
        return _read_digits(said)
    if "fraction" in said:
        *many, part = re.split(r"[\s-]+", said["fraction"])
        value = _PARTS[part] * {"two": 2, "three": 3}.get(many[0] if many else "", 1)
        return Numeral(value, 0.0)
    spelled = _read_spelled(said["spelled"].partition(" and a ")[0])
    return (
        None if spelled is None else Numeral(spelled + {"half": 0.5, "quarter": 0.25}.get(said.get("and_half", ""), 0.0), 0.0)
    )


def _read_digits(said: dict[str, str]) -> Numeral:
    digits = re.sub("[, \u00a0\u202f]", "", said["digits"])
    part = _VULGAR.get(digits[-1:], 0.0)
    plain = digits.rstrip("½¼¾⅓⅔")
    value = float(plain or 0) + part
    times = MAGNITUDES.get(said.get("great", ""), _SHORT.get(said.get("short", ""), {"b": 1e9}.get(said.get("short", ""), 1.0)))
    decimals = len(plain.partition(".")[2])
    return Numeral(value * times, 0.0 if part else times * 10.0**-decimals)


def _read_spelled(text: str) -> float | None:
    total, current, seen = 0.0, 0.0, False
    for word in re.split(r"[\s-]+", text):
        if word in ONES or word in TENS:
            value = float(ONES.index(word) if word in ONES else 10 * (TENS.index(word) + 2))
            if seen and current % 100 and not (current % 10 == 0 and value < 10):  # "nineteen ninety": a year, or two numbers
                return None
            current += value
        elif word in ("dozen", "half"):
            current = (current or 1.0) * (_DOZEN if word == "dozen" else 0.5)
        elif word in MAGNITUDES:
            current = (current or 1.0) * MAGNITUDES[word]
            if MAGNITUDES[word] >= MAGNITUDES["thousand"]:
                total, current = total + current, 0.0
        elif word not in ("a", "an", "and"):
            return None
        seen = True
    return total + current
