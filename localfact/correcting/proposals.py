"""Proposes edits of a contradicted claim by rule: another value, or name, of what decides in place of the claim's own.

Proposals are guesses in groups, the likeliest first: what the claim becomes by each is assessed before anything is changed.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from localfact.correcting.bearing import Bearing
from localfact.correcting.wording import Change, exchange, fit
from localfact.records import Claim, CountedPassage, Passage, Span
from localfact.relations.values.clauses import read_clauses, read_values
from localfact.relations.values.names import Name, read_names
from localfact.relations.values.roles import Role
from localfact.relations.values.value import Value, ValueAgreement
from localfact.relations.values.vocabulary import MONTHS, WEEKDAYS
from localfact.text import closest_sentences, sentences

#: The most proposals of a group: each costs as many relations as the claim has passages.
MOST = 4
#: Words with a capital that name no one and no place.
_CALENDAR = frozenset((*MONTHS, *WEEKDAYS, *(f"{day}s" for day in WEEKDAYS)))
_SMALL = re.compile(r"(?<![^\W\d_])[a-zß-öø-ÿ]+")
#: What is mostly said of somebody, and names nobody: "a Spanish cook".
_OF_A_PEOPLE = re.compile(r"(?:ian|ish|ese)$")
#: What stands before a place.
_OF_PLACES = frozenset(("in", "at", "near", "from", "to", "on", "into", "through", "outside", "via", "towards"))


class Proposal(NamedTuple):
    """A change of a claim, what it goes by, and in which group it is."""

    change: Change
    passage: Passage
    sentence: Span | None
    group: int


class _NameThere(NamedTuple):
    """A name in a text, and whether it stands where a place would."""

    name: Name
    text: str
    of_place: bool


def propose(claim: Claim, counted: CountedPassage, passage: Passage, topic: str | None) -> list[Proposal]:
    """The proposals by one passage that speaks against a claim, the likeliest first; each change once.

    The groups: the value that the verdict hangs on; other values, then names, in place of those that nothing that was read
    states, of the deciding sentence first; in place of those that it states, where it bears that out (`bearing.py`); two names
    in each other's place, where it has them so. What the text is about keeps its name.
    """
    sentence = counted.sentence or next(iter(closest_sentences(passage.text, claim.text)), None)
    near = passage.text[sentence.start : sentence.end] if sentence else passage.text
    read = passage.text[counted.window.start : counted.window.end] if counted.window else passage.text
    stated_near, stated = _values_of(near), [one for span in sentences(read) for one in _values_of(read[span.start : span.end])]
    own = read_values(claim.text)
    new = [was for was in own if not _states(stated, was)]
    known = [was for was in own if was not in new and not isinstance(was.measure, Role)]
    bearing = Bearing(claim.text, read)
    names, said = list(_names_of(claim.text)), list(_names_of(read))
    about = set((topic or "").lower().split())
    movable = [one for one in names if not set(one.name.parts) <= about]
    unsaid = [one for one in movable if not any(one.name.matches(other.name) for other in said)]
    groups: tuple[Iterable[Change], ...] = (
        _decisive(claim.text, own, counted, passage),
        _exchange_values(claim.text, new, stated_near),
        _exchange_values(claim.text, new, stated),
        _exchange_names(claim.text, unsaid, names, [one for one in said if one.text in near]),
        _exchange_names(claim.text, unsaid, names, said),
        _exchange_values(claim.text, known, stated, bearing),
        _exchange_names(claim.text, [] if new else movable, names, said, bearing),
        (_swap(claim.text, one.name, two.name) for one, two in combinations(names, 2)) if bearing.is_reversed() else (),
    )
    found: dict[Change, Proposal] = {}
    for group, changes in enumerate(groups):
        fresh = [
            change for change in dict.fromkeys(changes) if change not in found and change.apply_to(claim.text) != claim.text
        ]
        found |= {change: Proposal(change, passage, sentence, group) for change in fresh[:MOST]}
    return list(found.values())


def _decisive(claim: str, own: Sequence[Value], counted: CountedPassage, passage: Passage) -> Iterator[Change]:
    """The claim's value exchanged for that on which the verdict hangs, where one does."""
    if counted.value is None or counted.sentence is None:
        return
    start = counted.sentence.start
    said = passage.text[start : counted.sentence.end]
    now = next((one for one, _ in _values_of(said) if one.span.start + start == counted.value.start), None)
    was = next((one for one in own if one.span == counted.claimed), None)
    if was is not None and now is not None:
        yield exchange(claim, was, said, now)
    elif counted.claimed is not None:  # a name
        yield fit(
            claim, Change(counted.claimed.start, counted.claimed.end, passage.text[counted.value.start : counted.value.end])
        )


def _values_of(sentence: str) -> list[tuple[Value, str]]:
    """The values of a sentence, each with the sentence."""
    return [(value, sentence) for value in read_values(sentence)]


def _states(stated: Iterable[tuple[Value, str]], was: Value) -> bool:
    return any(was.measure.agreement(now.measure) is ValueAgreement.SAME for now, _ in stated)


def _exchange_values(
    claim: str, own: Iterable[Value], stated: Sequence[tuple[Value, str]], bearing: Bearing | None = None
) -> Iterator[Change]:
    """Values of the claim, each exchanged for one of the source that cannot be true with it and that the claim has not.

    With `bearing`, only where the source bears it out.
    """
    for was in own:
        for now, said in stated:
            agreement = was.measure.agreement(now.measure)
            differ = agreement is ValueAgreement.OTHER or (isinstance(was.measure, Role) and agreement is ValueAgreement.OPEN)
            if not differ or _has_words(claim, said[now.span.start : now.span.end]):
                continue
            if bearing is None or bearing.bears_out_value(was.measure, now.measure):
                yield exchange(claim, was, said, now)


def _has_words(claim: str, words: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", claim, re.IGNORECASE) is not None


def _names_of(text: str) -> Iterator[_NameThere]:
    """The names in a text; no word that has a capital only as the first of its sentence."""
    small = set(_SMALL.findall(text))
    for span in sentences(text):
        sentence = text[span.start : span.end]
        governors = {bound.name.span.start: bound.governor for clause in read_clauses(sentence) for bound in clause.names}
        for name in read_names(sentence):
            written = sentence[name.span.start : name.span.end]
            begins = name.span.start == 0 and len(name.parts) == 1 and text.count(written) == 1 and len(text) > len(sentence)
            if not begins and len(written) > 1 and not set(name.parts) & (_CALENDAR | small):
                yield _NameThere(name, written, governors.get(name.span.start, "") in _OF_PLACES)


def _exchange_names(
    claim: str,
    movable: Iterable[_NameThere],
    names: Sequence[_NameThere],
    said: Sequence[_NameThere],
    bearing: Bearing | None = None,
) -> Iterator[Change]:
    """The claim's names, each exchanged for one of the source that the claim has not, a place for a place.

    With `bearing`, only where the source bears it out.
    """
    new = [one for one in said if not any(one.name.matches(own.name) for own in names)]
    for own in movable:
        for instead in new:
            fits = own.of_place == instead.of_place and (not _is_of_a_people(instead) or _is_of_a_people(own))
            if fits and (bearing is None or bearing.bears_out_name(own.name, instead.name)):
                yield fit(claim, Change(own.name.span.start, own.name.span.end, instead.text))


def _is_of_a_people(name: _NameThere) -> bool:
    return _OF_A_PEOPLE.search(name.text) is not None


def _swap(claim: str, one: Name, two: Name) -> Change:
    """Two names in each other's place."""
    first, second = claim[one.span.start : one.span.end], claim[two.span.start : two.span.end]
    return Change(one.span.start, two.span.end, second + claim[one.span.end : two.span.start] + first)
