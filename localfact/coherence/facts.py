"""Reads from claims when somebody was born, died or did something, and when something was founded, began or ended.

Only what is plain is read: a clause with a date whose subject is known and nobody's ("Lund's father"), that states something
(no "would", no "according to"). Of the rest nothing is said.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from localfact.records import Span
from localfact.relations.values.clauses import ReadClause
from localfact.relations.values.judging import read_sentence
from localfact.relations.values.moments import DAYS, MONTHS_OF_A_YEAR, Moment
from localfact.relations.values.quantities import Quantity
from localfact.relations.values.roles import Role
from localfact.relations.values.value import Value
from localfact.relations.values.vocabulary import base

YEAR = float(DAYS * MONTHS_OF_A_YEAR)


class FactKind(StrEnum):
    """What a claim dates; `AGE` is the birth that an age at a date implies, `AGE_AT_DEATH` an age alone."""

    BIRTH = "birth"
    DEATH = "death"
    BEGIN = "founding"
    END = "end"
    DEED = "deed"
    LIVING = "deed of the living"
    AGE = "age"
    AGE_AT_DEATH = "age at death"


class DatedFact(NamedTuple):
    """A dated statement about a subject.

    Attributes:
        subject: its compared words.
        first, last: the days, as of `Moment`; years for AGE_AT_DEATH.
        value: the date's or the age's place in the claim. said: the fact in a few words.
    """

    kind: FactKind
    subject: frozenset[str]
    first: float
    last: float
    value: Span
    said: str


def _verbs(words: str) -> frozenset[str]:
    return frozenset(map(base, words.split()))


_BORN, _DIED = _verbs("born"), _verbs("died")
_BEGUN = _verbs("founded established formed incorporated created launched")
_ENDED = _verbs("dissolved disbanded abolished demolished")
#: What nobody does before birth, and no company, band or club before it is founded.
_DEEDS = _verbs(
    "acquired attended became began bought composed directed discovered enrolled emigrated graduated hired invented joined "
    "married moved opened painted performed played published recorded released resigned retired settled sold studied taught "
    "toured traveled travelled won wrote"
)
#: What nobody does after death.
_OF_THE_LIVING = _verbs(
    "attended emigrated enrolled graduated joined married moved resigned retired settled studied taught traveled travelled"
)
_UNSURE = re.compile(
    r"\b(?:would|could|might|may have|if|planned|expected|scheduled|proposed|according|claim(?:s|ed)?|allegedly|reportedly"
    r"|rumou?r\w*|legend\w*|fiction\w*|believed|said|posthum\w+|supposed\w*|perhaps|probably|possibly|re-?\w*(?:founded|established|formed|opened))\b",
    re.IGNORECASE,
)
_OWNED = re.compile(r"[^\W\d_]['’](?:s\b|(?=\s))")
_ITS_DEBUT = re.compile(
    r"(?P<owner>\b[^.,;]*?)(?:['’]s?|\b(?:its|his|her|their))\s+(?P<year>(?:1\d|20)\d\d)\s+(?:debut|first)\b", re.IGNORECASE
)
_WAS_OLD = re.compile(r"\b(?:was|turned)\s+(?P<age>\d{1,3})(?:\s+years\s+old)?\s+in\s+(?P<year>(?:1\d|20)\d\d)\b")
_MOST_AGE = 120


def read_facts(text: str, spoken_of: frozenset[str]) -> Iterator[DatedFact]:
    """The dated facts of a claim.

    Args:
        text: the claim.
        spoken_of: the subject of the claim before it, for whom "its" or "she" stands; empty where that is not known.
    """
    if _UNSURE.search(text):
        return
    clauses = read_sentence(text)
    if debut := _ITS_DEBUT.search(text):
        owner = subject_words(debut["owner"]) or spoken_of
        year = int(debut["year"])
        if owner:
            span = Span(start=debut.start("year"), end=debut.end("year"))
            yield DatedFact(FactKind.DEED, owner, *_year(year), span, f"a debut in {year}")
        return
    if _OWNED.search(text):
        return
    for clause in clauses:
        subject = clause.subject or (spoken_of if clause.goes_on else frozenset())
        of_another = clause.goes_on and bool(clause.subject)  # "his father", "her grandson Ada Holm"
        if (
            subject
            and not of_another
            and not clause.owned
            and not clause.negated
            and not any(_is_kin(value) for value in clause.values)
        ):
            yield from _of_clause(clause, subject, text)
    if old := _WAS_OLD.search(text):
        subject = clauses[0].subject or (spoken_of if clauses[0].goes_on else frozenset())
        if subject and not clauses[0].owned and int(old["age"]) <= _MOST_AGE:
            yield _imply_birth(
                subject, int(old["age"]), *_year(int(old["year"])), Span(start=old.start("age"), end=old.end("year")), text
            )


def subject_words(text: str) -> frozenset[str]:
    """The compared words of a subject that is written alone, as "The Lumens"."""
    clauses = read_sentence(f"{text.strip()} was")
    return clauses[0].subject if clauses else frozenset()


def _of_clause(clause: ReadClause, subject: frozenset[str], text: str) -> Iterator[DatedFact]:
    ages = [(value.span, age) for value in clause.values if (age := _age_of(value)) is not None]
    dates = [
        (value, days)
        for value in clause.values
        if isinstance(value.measure, Moment) and (days := value.measure.days) is not None
    ]
    for value, (first, last) in dates:
        kind = _kind_of(clause, value)
        if kind is not None:
            yield DatedFact(kind, subject, first, last, value.span, _said(kind, value, text))
        if len(ages) == len(dates) == 1:
            (place, age), *_ = ages
            span = Span(start=min(value.span.start, place.start), end=max(value.span.end, place.end))
            yield _imply_birth(subject, int(age), first, last, span, text)
    if ages and not dates and clause.verbs & _DIED:
        (place, age), *_ = ages
        yield DatedFact(FactKind.AGE_AT_DEATH, subject, age, age, place, f"died at {age:g}")


def _kind_of(clause: ReadClause, value: Value) -> FactKind | None:
    if value.role == "life":
        return FactKind.BIRTH if base("birth") in value.words else FactKind.DEATH if base("death") in value.words else None
    if value.role:
        return None
    if clause.verbs & _BORN:
        return FactKind.BIRTH
    if clause.verbs & _DIED:
        return FactKind.DEATH
    if clause.passive:
        return FactKind.BEGIN if clause.verbs & _BEGUN else FactKind.END if clause.verbs & _ENDED else None
    return FactKind.LIVING if clause.verbs & _OF_THE_LIVING else FactKind.DEED if clause.verbs & _DEEDS else None


def _imply_birth(subject: frozenset[str], age: int, first: float, last: float, span: Span, text: str) -> DatedFact:
    """The birth that an age at a date implies."""
    return DatedFact(FactKind.AGE, subject, first - (age + 1) * YEAR + 1, last - age * YEAR, span, text[span.start : span.end])


def _said(kind: FactKind, value: Value, text: str) -> str:
    date = text[value.span.start : value.span.end]
    words = {FactKind.BIRTH: "born", FactKind.DEATH: "died", FactKind.BEGIN: "founded", FactKind.END: "ended"}
    return f"{words[kind]} {date}" if kind in words else f"something done {date}"


def _age_of(value: Value) -> float | None:
    """A person's age in years; None of any other value, and of one that is only about so many."""
    measure = value.measure
    if not isinstance(measure, Quantity) or not measure.dimensions or measure.dimensions[0][0] != "age":
        return None
    return measure.low if not measure.hedge and measure.low == measure.high and measure.low <= _MOST_AGE else None


def _is_kin(value: Value) -> bool:
    """Whether a clause speaks of somebody by what they are to another one: "Lund's daughter was born"."""
    return isinstance(value.measure, Role) and value.measure.bound


def _year(year: int) -> tuple[float, float]:
    return year * YEAR, (year + 1) * YEAR - 1
