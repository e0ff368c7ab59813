"""Proposes edits of a contradicted claim by rule: another value, or name, of what decides in place of the claim's own.

Proposals are guesses in groups, the likeliest first: what the claim becomes by each is assessed before anything is changed.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from localfact.correcting.wording import Change, exchange, fit
from localfact.records import Claim, CountedPassage, Passage, Span
from localfact.relations.values.clauses import read_values
from localfact.relations.values.names import Name, read_names
from localfact.relations.values.roles import Role
from localfact.relations.values.value import Value, ValueAgreement
from localfact.relations.values.vocabulary import MONTHS, WEEKDAYS
from localfact.text import closest_sentences

#: The most proposals of a group: each costs as many relations as the claim has passages.
MOST = 4
#: Words with a capital that name no one and no place.
_CALENDAR = frozenset((*MONTHS, *WEEKDAYS, *(f"{day}s" for day in WEEKDAYS)))
_SMALL = re.compile(r"(?<![^\W\d_])[a-zß-öø-ÿ]+")


class Proposal(NamedTuple):
    """A change of a claim, what it goes by, and in which group it is."""

    change: Change
    passage: Passage
    sentence: Span | None
    group: int


def propose(claim: Claim, counted: CountedPassage, passage: Passage, topic: str | None) -> list[Proposal]:
    """The proposals by one passage that speaks against a claim, the likeliest first; each change once.

    The groups: the value that the verdict hangs on; other values of the deciding sentence; names of it, then of all that was
    read; two parts of the claim in each other's place. What the text is about keeps its name.
    """
    sentence = counted.sentence or next(iter(closest_sentences(passage.text, claim.text)), None)
    start, end = (sentence.start, sentence.end) if sentence else (0, len(passage.text))
    said = passage.text[start:end]
    read = passage.text[counted.window.start : counted.window.end] if counted.window else passage.text
    own, others = read_values(claim.text), read_values(said)
    decisive: list[Change] = []
    further: list[Change] = []
    for was, now in _different(own, others):
        hits = (counted.claimed == was.span, counted.value == Span(start=now.span.start + start, end=now.span.end + start))
        (decisive if all(hits) else further).append(exchange(claim.text, was, said, now))
    names = [name for name in read_names(claim.text) if not set(name.parts) & _CALENDAR]
    topical = _words(topic or "")
    movable = [name for name in names if not set(name.parts) <= topical]
    near = _exchange_names(claim.text, movable, names, said)
    far = _exchange_names(claim.text, movable, names, read)
    swapped = (_swap(claim.text, one, two) for one, two in combinations(names, 2))
    found: dict[Change, Proposal] = {}
    for group, changes in enumerate((decisive, further, near, far, swapped)):
        new = [change for change in dict.fromkeys(changes) if change not in found and change.applied(claim.text) != claim.text]
        found |= {change: Proposal(change, passage, sentence, group) for change in new[:MOST]}
    return list(found.values())


def _different(own: Sequence[Value], others: Sequence[Value]) -> Iterator[tuple[Value, Value]]:
    """Values of the claim, each beside one of the source that cannot be true with it, and that the claim does not have."""
    for was in own:
        for now in others:
            agreement = was.measure.agreement(now.measure)
            roles = isinstance(was.measure, Role) and agreement is ValueAgreement.OPEN
            if agreement is ValueAgreement.OTHER or roles:
                yield was, now


def _exchange_names(claim: str, movable: Iterable[Name], names: Sequence[Name], said: str) -> Iterator[Change]:
    """The claim's names, each exchanged for one of the source that the claim has not; first those that the source has not."""
    small = set(_SMALL.findall(f"{claim} {said}"))  # what begins a sentence with a capital, and is no name
    there = [name for name in read_names(said) if not set(name.parts) & (small | _CALENDAR)]
    new = [name for name in there if not any(name.matches(own) for own in names)]
    for name in sorted(movable, key=lambda own: any(own.matches(one) for one in there)):
        for instead in new:
            yield fit(claim, Change(name.span.start, name.span.end, said[instead.span.start : instead.span.end]))


def _swap(claim: str, one: Name, two: Name) -> Change:
    """Two names in each other's place."""
    first, second = claim[one.span.start : one.span.end], claim[two.span.start : two.span.end]
    return Change(one.span.start, two.span.end, second + claim[one.span.end : two.span.start] + first)


def _words(text: str) -> set[str]:
    return {part for name in read_names(text) for part in name.parts} | set(text.lower().split())
