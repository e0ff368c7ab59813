"""Writes a number as another one is written: its separators, its words or digits, its magnitude, its unit."""

import re

from localfact.relations.values.numerals import NUMERAL, read_numeral
from localfact.relations.values.quantities import Quantity
from localfact.relations.values.vocabulary import MAGNITUDES, ONES, TENS

_NUMERAL = re.compile(NUMERAL, re.IGNORECASE)
#: The largest number that is written out.
SPELLED = 99
#: A number from another unit has so many digits that count.
CONVERTED_DIGITS = 3
#: Numbers from this one on have separators, unless the text writes others without.
SEPARATED = 10_000
_SEPARATOR = re.compile(r"\d([, \u00a0\u202f])\d{3}(?!\d)")
_PLAIN = re.compile(r"\d{4,}")
#: A hedge that also an exact number bears.
_STAYING = ("about", "")


def number_like(old: str, was: Quantity, said: str, now: Quantity) -> str:
    """The number `now` in the form of `old`; as the source has it, where that form does not fit.

    Args:
        old, was: the value in the claim, as written and as read. said, now: the same of the source.
    """
    ours, theirs = _NUMERAL.search(old), _NUMERAL.search(said)
    if ours is None or theirs is None or was.low != was.high or now.low != now.high or now.low < 0:
        return said
    factor = _factor(was.dimensions, now.dimensions)
    if factor is None:
        return said
    number = now.low * factor
    if factor != 1:
        number = float(f"{number:.{CONVERTED_DIGITS}g}")
    written = _write(ours, number, theirs, converted=factor != 1)
    if written is None:
        return said
    return _hedge(old[: ours.start()], was, said[: theirs.start()], now) + written + old[ours.end() :]


def _factor(was: tuple[tuple[str, float], ...], now: tuple[tuple[str, float], ...]) -> float | None:
    """By what the source's number is multiplied to be in the claim's unit; None for units of different things."""
    ours, theirs = dict(was), dict(now)
    if not ours and not theirs:
        return 1.0
    shared = next((dimension for dimension in ours if dimension in theirs), None)
    return None if shared is None else theirs[shared] / ours[shared]


def _hedge(before: str, was: Quantity, said_before: str, now: Quantity) -> str:
    """What stands before the number: the claim's own words, unless the source is more, or less, exact."""
    if was.hedge == now.hedge or (not now.hedge and was.hedge in _STAYING):
        return before
    signs = "".join(re.findall(r"[$£€¥₹]\s?$", before))
    return (said_before if now.hedge else "") + ("" if now.hedge and signs and said_before.endswith(signs) else signs)


def _write(ours: re.Match[str], number: float, theirs: re.Match[str], *, converted: bool) -> str | None:
    """The number in the form of the first match; None where it has none there."""
    if ours["spelled"]:
        if number == int(number) and 0 <= number <= SPELLED:
            return spell(int(number))
        return None if converted else theirs.group()
    if not ours["digits"] or ours["vulgar"] or ours["short"] or ours["fraction"]:
        return None
    if ours["great"]:
        scaled = number / MAGNITUDES[ours["great"].lower()]
        shown = f"{scaled:.6g}"
        if len(shown.partition(".")[2]) <= CONVERTED_DIGITS and scaled >= 0.1 and "e" not in shown:
            return shown + ours.group()[len(ours["digits"]) :]
        return None
    read = read_numeral(theirs)
    decimals = len(theirs["digits"].partition(".")[2]) if theirs["digits"] and not theirs["great"] and read else 0
    shown = f"{number:.{6 if converted or theirs['great'] else decimals}f}"
    shown = shown.rstrip("0").rstrip(".") if converted or theirs["great"] else shown
    whole, dot, part = shown.partition(".")
    return separate(whole, ours["digits"], theirs.group()) + dot + part


def separate(whole: str, like: str, otherwise: str) -> str:
    """The digits with the separators that `like` has; where it is too short to tell, those of `otherwise`, else commas."""
    value = int(whole)
    for text in (like, otherwise):
        if found := _SEPARATOR.search(text):
            return f"{value:,}".replace(",", found[1])
        if _PLAIN.search(text):
            return whole
    return f"{value:,}" if value >= SEPARATED else whole


def spell(number: int) -> str:
    """A number up to SPELLED in words."""
    if number < len(ONES):
        return ONES[number]
    tens, ones = divmod(number, 10)
    return TENS[tens - 2] + (f"-{ONES[ones]}" if ones else "")
