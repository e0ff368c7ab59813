"""Fits words into a sentence: capitals, a or an before them, the number of the noun behind them, "on" or "in" before a date."""

import re
from typing import NamedTuple

from localfact.correcting.date_forms import date_like, ordinal
from localfact.correcting.number_forms import number_like
from localfact.relations.values.moments import Moment
from localfact.relations.values.quantities import Quantity
from localfact.relations.values.ranks import Rank
from localfact.relations.values.roles import Role
from localfact.relations.values.value import Value
from localfact.relations.values.vocabulary import ORDINALS, base

_ARTICLE = re.compile(r"\b(an?)(\s+)$", re.IGNORECASE)
_THE = re.compile(r"\bthe\s+$", re.IGNORECASE)
_ON = re.compile(r"\bon(\s+)$")
#: Begins with a vowel that is heard as one, or with a silent h, or with a number that does.
_VOWEL = re.compile(r"(?!eu|uni|use|one\b|once)[aeiou]|hour|honest|honou?r|heir|8|1[18](?:\D|$)", re.IGNORECASE)
_SEVERAL = re.compile(r"(?:one of|among)\b", re.IGNORECASE)
_ORDINAL_FIGURES = re.compile(r"\d+(?:st|nd|rd|th)", re.IGNORECASE)
_BEHIND = re.compile(r"(?:[\s-]+[a-z]+){1,3}")
_WORD = re.compile(r"[a-z]+")
_DAY = re.compile(r"(?<!\d)\d{1,2}(?!\d)")


class Change(NamedTuple):
    """Words [start, end) of a claim and what replaces them."""

    start: int
    end: int
    new: str

    def apply_to(self, text: str) -> str:
        """The claim with the new words."""
        return text[: self.start] + self.new + text[self.end :]


def exchange(claim: str, was: Value, source: str, now: Value) -> Change:
    """The claim's value exchanged for the source's, written as the claim writes its own.

    `was.span` is of `claim`, `now.span` of `source`.
    """
    old, said = claim[was.span.start : was.span.end], source[now.span.start : now.span.end]
    change = Change(was.span.start, was.span.end, _written_like(old, was, said, now))
    found = _ON.search(claim[: change.start])
    if found and _is_no_weekday(now) and not _DAY.search(change.new):
        change = Change(found.start(), change.end, f"in{found[1]}{change.new}")
    if isinstance(was.measure, Quantity):
        change = _agree_noun(claim, change, source[now.span.end :])
    return fit(claim, change)


def _is_no_weekday(now: Value) -> bool:
    return isinstance(now.measure, Moment) and now.measure.weekday is None


def _written_like(old: str, was: Value, said: str, now: Value) -> str:
    ours, theirs = was.measure, now.measure
    if isinstance(ours, Moment) and isinstance(theirs, Moment):
        return date_like(old, said, theirs)
    if isinstance(ours, Quantity) and isinstance(theirs, Quantity):
        return _lower_first(number_like(old, ours, said, theirs))
    if isinstance(ours, Rank) and isinstance(theirs, Rank):
        if ours.order == theirs.order and not ours.several and not theirs.several and 0 < theirs.place <= len(ORDINALS):
            in_figures = _ORDINAL_FIGURES.match(old)
            first = ordinal(theirs.place) if in_figures else ORDINALS[theirs.place - 1]
            superlative = old[in_figures.end() if in_figures else len(old.split()[0]) :]
            if (ours.place > 1 and theirs.place > 1) or not theirs.order:
                return first + superlative
        return _lower_first(said)
    if isinstance(theirs, Role):
        return theirs.noun
    return said


def fit(claim: str, change: Change) -> Change:
    """The change with the capital that begins a sentence, and with "a" or "an" or "the" before it as the new words need."""
    start, end, new = change
    before = claim[:start]
    if _SEVERAL.match(new) and (found := _THE.search(before)):
        start, before = found.start(), before[: found.start()]
    elif found := _ARTICLE.search(before):
        needed = "an" if _VOWEL.match(new) else "a"
        if found[1].lower() != needed:
            start = found.start()
            new = (needed.capitalize() if found[1][0].isupper() else needed) + found[2] + new
    if not claim[:start].strip() and new[:1].islower():
        new = new[0].upper() + new[1:]
    return Change(start, end, new)


def _agree_noun(claim: str, change: Change, said_behind: str) -> Change:
    """The change with the noun behind the number in the form that the source has it in: "three dolphins", "one dolphin"."""
    ours, theirs = _BEHIND.match(claim, change.end), _BEHIND.match(said_behind)
    if ours is None or theirs is None:
        return change
    known = {base(word): word for word in _WORD.findall(theirs[0])}
    for word in _WORD.finditer(claim, ours.start(), ours.end()):
        said = known.get(base(word[0]))
        if said is not None:
            same = said == word[0]
            return change if same else Change(change.start, word.end(), change.new + claim[change.end : word.start()] + said)
    return change


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
