"""Finds by rule what cannot be true in one order of time: a death before the birth, a deed before the founding, an age that no
date of birth allows, an order told both ways, and a duration that its own dates do not have.

The rules speak only of what is plain (`facts.py`); where they are silent, nothing follows.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from localfact.coherence.facts import YEAR, DatedFact, FactKind, read_facts
from localfact.records import Claim, Span
from localfact.relations.values.clauses import ReadClause
from localfact.relations.values.judging import read_sentence
from localfact.relations.values.matching import share
from localfact.relations.values.moments import Moment
from localfact.relations.values.vocabulary import WEEKDAYS, repeated_verbs

_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}
_NUMBER = rf"(?P<number>\d{{1,3}}|{'|'.join(_NUMBERS)})"
_LASTING = (
    "celebration|ceremony|conference|event|exhibition|festival|journey|meeting|reign|siege|strike|summit|tour|tournament|trip"
    "|voyage|war"
)
#: "lasted three days", "a three-day festival"
_DURATION = re.compile(
    rf"\b(?:(?:for|lasted|lasts|spanned|ran for|took)\s+(?:exactly\s+)?{_NUMBER}\s+(?P<unit>day|year)s?\b"
    rf"|{_NUMBER.replace('number', 'other')}-(?P<kind>day|year)\s+(?:{_LASTING})\b)",
    re.IGNORECASE,
)
_DAYS = "|".join(WEEKDAYS)
_WEEK = re.compile(rf"\bfrom\s+(?P<first>{_DAYS})\s+(?:to|until|till|through)\s+(?P<last>{_DAYS})\b", re.IGNORECASE)
_YEARS = re.compile(r"\bfrom\s+(?P<first>1\d{3}|20\d\d)\s+(?:to|until|till|through)\s+(?P<last>1\d{3}|20\d\d)\b")
WEEK = 7


class TimeConflict(NamedTuple):
    """Two claims by their positions, or two parts of one, that cannot both be true, with the values and the reason."""

    first: int
    second: int
    first_value: Span
    second_value: Span
    reason: str


def find_time_conflicts(claims: Sequence[Claim]) -> list[TimeConflict]:
    """The conflicts among the claims of a text, those of one pair of claims once, in the order of the text."""
    facts = list(_facts(claims))
    found: dict[tuple[int, int], TimeConflict] = {}
    for conflict in (*_conflicts(facts), *_orders(claims), *_durations(claims)):
        found.setdefault((conflict.first, conflict.second), conflict)
    return [found[key] for key in sorted(found)]


def _facts(claims: Sequence[Claim]) -> Iterator[tuple[int, DatedFact]]:
    spoken_of = frozenset[str]()
    for place, claim in enumerate(claims):
        yield from ((place, fact) for fact in read_facts(claim.text, spoken_of))
        clauses = read_sentence(claim.text)
        if clauses and not clauses[0].goes_on:
            spoken_of = frozenset() if clauses[0].owned else clauses[0].subject


def _conflicts(facts: Sequence[tuple[int, DatedFact]]) -> Iterator[TimeConflict]:
    of_subject: defaultdict[frozenset[str], list[tuple[int, DatedFact]]] = defaultdict(list)
    for place, fact in facts:
        of_subject[_whole(fact.subject, facts)].append((place, fact))
    for own in of_subject.values():
        deaths = [fact for _, fact in own if fact.kind is FactKind.DEATH]
        resolved = [(place, _born(fact, deaths)) for place, fact in own]
        for number, (place, one) in enumerate(resolved):
            for other_place, other in resolved[number + 1 :]:
                if reason := _reason(one, other) or _reason(other, one):
                    yield TimeConflict(place, other_place, one.value, other.value, reason)


def _whole(subject: frozenset[str], facts: Sequence[tuple[int, DatedFact]]) -> frozenset[str]:
    """The only longer name that a part of it stands for: "Holm" is "Ada Holm" where the text names no other Holm."""
    longer = {fact.subject for _, fact in facts if subject < fact.subject}
    return next(iter(longer)) if len(longer) == 1 else subject


def _born(fact: DatedFact, deaths: Sequence[DatedFact]) -> DatedFact:
    """An age at death as the birth that it implies, where the text says when that was."""
    if fact.kind is not FactKind.AGE_AT_DEATH or len(deaths) != 1:
        return fact
    years = fact.first
    return fact._replace(kind=FactKind.AGE, first=deaths[0].first - (years + 1) * YEAR + 1, last=deaths[0].last - years * YEAR)


def _reason(one: DatedFact, other: DatedFact) -> str | None:
    """Why the first fact and the second cannot both be true; None where they can."""
    kinds = one.kind, other.kind
    if kinds in ((FactKind.BIRTH, FactKind.DEATH), (FactKind.BEGIN, FactKind.END)) and one.first > other.last:
        return f"{other.said}, before {one.said}"
    if (
        one.kind in (FactKind.BIRTH, FactKind.BEGIN)
        and other.kind in (FactKind.DEED, FactKind.LIVING)
        and other.last < one.first
    ):
        return f"{other.said}, before {one.said}"
    if kinds == (FactKind.DEATH, FactKind.LIVING) and one.last < other.first:
        return f"{other.said}, after {one.said}"
    apart = one.last < other.first or other.last < one.first
    if kinds == (FactKind.BIRTH, FactKind.AGE) and apart:
        return f"{other.said} does not go with {one.said}"
    if kinds in ((FactKind.BIRTH, FactKind.BIRTH), (FactKind.DEATH, FactKind.DEATH)) and apart:
        return f"{one.said} and {other.said}"
    return None


def _orders(claims: Sequence[Claim]) -> Iterator[TimeConflict]:
    """ "A before B in 1990", and A dated later in another claim."""
    read = [read_sentence(claim.text) for claim in claims]
    for place, clauses in enumerate(read):
        if len(clauses) != 2 or clauses[1].opener not in ("before", "after") or clauses[0].verbs & repeated_verbs():
            continue
        bound = _date(clauses[1])
        if bound is None or clauses[0].values:
            continue
        before = clauses[1].opener == "before"
        for other, said in enumerate(read):
            date = _date(said[0]) if len(said) == 1 and other != place else None
            if date is None or not _same_event(clauses[0], said[0]):
                continue
            (first, last), (bound_first, bound_last) = date[0], bound[0]
            if (before and first > bound_last) or (not before and last < bound_first):
                texts = [claims[at].text[span.start : span.end] for at, span in ((other, date[1]), (place, bound[1]))]
                reason = f"{texts[0]} is not {clauses[1].opener} {texts[1]}"
                sides = sorted(((place, bound[1]), (other, date[1])), key=lambda side: side[0])
                yield TimeConflict(sides[0][0], sides[1][0], sides[0][1], sides[1][1], reason)


def _date(clause: ReadClause) -> tuple[tuple[float, float], Span] | None:
    """The days of the one date of a clause that states something, and its place."""
    found = [(value.measure.days, value.span) for value in clause.values if isinstance(value.measure, Moment)]
    days, span = found[0] if len(found) == 1 and not clause.negated else (None, None)
    return None if days is None or span is None else (days, span)


def _same_event(one: ReadClause, other: ReadClause) -> bool:
    """Whether both clauses tell of the same: one subject, one verb, the same things."""
    alike = one.subject == other.subject and bool(one.subject) and one.verbs == other.verbs and bool(one.verbs)
    return alike and share(one.words, other.words) == 1 and share(other.words, one.words) == 1


def _durations(claims: Sequence[Claim]) -> Iterator[TimeConflict]:
    """ "three days, from Monday to Tuesday", "for 25 years from 1990 to 2000"."""
    for place, claim in enumerate(claims):
        duration = _DURATION.search(claim.text)
        if duration is None:
            continue
        written = duration["number"] or duration["other"]
        number = _NUMBERS.get(written.lower()) or int(written)
        days = (duration["unit"] or duration["kind"]).lower() == "day"
        between = (_WEEK if days else _YEARS).search(claim.text)
        if between is None or (duration["number"] and not _is_beside(duration, between, claim.text)):
            continue
        if days:
            begin, end = (WEEKDAYS.index(between[name].lower()) for name in ("first", "last"))
            fits = (number - (end - begin)) % WEEK in (0, 1)
        else:
            fits = abs(number - (int(between["last"]) - int(between["first"]))) <= 1
        if not fits:
            first, second = sorted(match.span() for match in (duration, between))
            reason = f"{between.group()} is not {written} {'days' if days else 'years'}"
            yield TimeConflict(place, place, _span(first), _span(second), reason)


def _span(place: tuple[int, int]) -> Span:
    return Span(start=place[0], end=place[1])


def _is_beside(one: re.Match[str], other: re.Match[str], text: str) -> bool:
    """Whether nothing but a comma stands between two parts of a text: "for 25 years, from 1990 to 2000"."""
    first, second = sorted((one, other), key=lambda match: match.start())
    return not text[first.end() : second.start()].strip(" ,")
