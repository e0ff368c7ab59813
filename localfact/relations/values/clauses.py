"""Takes a sentence apart into clauses: what each says of what, which values stand in it, and what governs its names.

No grammar: a clause ends at a mark or a joining word where a verb or a value follows. One without a verb goes on with that
of the clause before it, one without a subject with its subject.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from localfact.relations.assertions import blank_notes, calls_untrue
from localfact.relations.values.moments import Moment, read_moments
from localfact.relations.values.names import Name, read_names
from localfact.relations.values.quantities import read_quantities
from localfact.relations.values.ranks import read_ranks
from localfact.relations.values.roles import read_roles
from localfact.relations.values.segments import LATER, RELATIVE, SentencePart, Word, cut_segments
from localfact.relations.values.subjects import (
    PLACE_KINDS,
    PREPOSITIONS,
    content_of,
    find_described_name,
    find_head,
    is_owned,
)
from localfact.relations.values.value import Value
from localfact.relations.values.vocabulary import PRONOUNS, base, is_weak, words_of_kind

#: No words of a sentence: what only says that a number is a place in an order.
_NO_WORD = re.compile(r"\b[Nn]o\. ?(?=\d)|\b[Nn]umber (?=one\b|\d)|(?<=st|nd|rd|th) place\b")
_RANGE = re.compile(r"\s*(?:to|until|till|through|and|–|—|−|-)\s*")
_SUBORDINATE = frozenset(("before", "after", "when", "because", "although"))
_NEGATIONS = words_of_kind("negation")
_BACK = frozenset(("its", "his", "her", "their", "there", "it", "him", "them"))
_DEFINITE = _BACK | {"the"}
#: Governors that name opposite ends: a name behind one of them is not the same behind another.
_ENDS = ("from", "to", "than", "by", "over", "against")
#: How far behind a preposition or verb a name may stand that it governs: "in the coastal town of Lervika".
REACH = 5


class BoundName(NamedTuple):
    """A name and what governs it: the preposition or verb before it; "" for one in the subject.

    `described` are the compared words between the two: "by the engineer Marit Aas".
    """

    name: Name
    governor: str
    described: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ReadClause:
    """What a clause says.

    Attributes:
        words: compared words, with those that it takes over; without numbers and dates.
        subject: of these, those before its verb, or taken over; of "the old port of Lervika" the name alone.
        described: what stood before that name, where it only says what sort of thing it is.
        verbs: its verbs that say something by themselves.
        goes_on: its subject is a pronoun, or begins with "its": what was spoken of before is meant, too.
        owned: its subject is somebody's or something's: "Lund's wife", "the mayor of Lund".
        own: the words that it does not take over.
        definite: it speaks of "the" something behind its verb.
        points_back: behind its verb "its", "there" or the like stands for what was spoken of.
        passive: its subject does not do what its verb says. opener: the joining word or mark before it.
    """

    words: frozenset[str]
    subject: frozenset[str]
    described: frozenset[str]
    verbs: frozenset[str]
    values: tuple[Value, ...]
    names: tuple[BoundName, ...]
    goes_on: bool
    owned: bool
    own: frozenset[str]
    negated: bool
    definite: bool
    points_back: bool
    passive: bool
    opener: str

    @cached_property
    def doer(self) -> frozenset[str]:
        """The words for who does it: the subject, or in a passive clause the name behind "by"."""
        return words_of_name(self, "by") if self.passive else self.subject

    @cached_property
    def named(self) -> Mapping[str, frozenset[str]]:
        """Governor -> the compared words of the names that have it."""
        found: dict[str, frozenset[str]] = {}
        for bound in self.names:
            found[bound.governor] = found.get(bound.governor, frozenset()).union(map(base, bound.name.parts))
        return found

    @cached_property
    def slots(self) -> Mapping[str, frozenset[str]]:
        """Slot -> the words for what fills it: who does it, to what it is done, and the ends, as behind "from" and "to"."""
        first, second = ("done", "doer") if self.passive else ("doer", "done")
        found = {first: self.subject, second: words_of_name(self, "by" if self.passive else "verb")}
        return found | {end: words_of_name(self, end) for end in _ENDS if end != "by" or not self.passive}

    @cached_property
    def unplaced(self) -> frozenset[str]:
        """The words of the predicate that fill no slot."""
        return self.predicate.difference(*self.slots.values())

    @cached_property
    def counted(self) -> frozenset[str]:
        """The words that its numbers count."""
        return _find_counted(self.values)

    @cached_property
    def predicate(self) -> frozenset[str]:
        """The words besides those of the subject and those that numbers count."""
        return self.words - self.subject - self.described - self.counted


def words_of_name(clause: ReadClause, governor: str) -> frozenset[str]:
    """The compared words of the names of a clause that have that governor."""
    return clause.named.get(governor, frozenset())


def read_clauses(text: str) -> list[ReadClause]:
    """The clauses of a sentence, in order."""
    text = _NO_WORD.sub(lambda found: " " * len(found[0]), blank_notes(text))
    values = read_values(text)
    names = list(read_names(text))
    untrue = calls_untrue(text)
    found: list[ReadClause] = []
    for segment in cut_segments(text, values):
        found.append(_clause(segment, names, found, untrue=untrue))
    if len(found) > 1 and not found[0].subject and not found[0].goes_on and found[0].verbs:  # "Founded in 1866, the brewery"
        subject = found[1].subject
        found[0] = replace(found[0], subject=subject, words=found[0].words | subject)
    return found


def read_values(text: str) -> list[Value]:
    """The values of a sentence, in order; ranges of dates marked."""
    moments = sorted(read_moments(text), key=lambda value: value.span.start)
    for place in range(len(moments) - 1):
        first, second = moments[place], moments[place + 1]
        between = text[first.span.end : second.span.start]
        if _RANGE.fullmatch(between) and (between.strip() != "and" or first.role == "start"):
            moments[place] = Value(first.span, first.measure, role="start")
            moments[place + 1] = Value(second.span, second.measure, role="end")
    taken = [value.span for value in moments]
    quantities = list(read_quantities(text, taken))
    taken += [value.span for value in quantities]
    ranks = list(read_ranks(text, taken))
    taken += [value.span for value in ranks]
    return sorted([*moments, *quantities, *ranks, *read_roles(text, taken)], key=lambda value: value.span.start)


def _clause(segment: SentencePart, names: Sequence[Name], before: Sequence[ReadClause], *, untrue: bool) -> ReadClause:
    words = segment.words
    verb_at = next((place for place, word in enumerate(words) if word.verb), None)
    head = find_head(words, verb_at, segment.opening)
    previous = before[-1] if before else None
    verbs = frozenset(word.base for word in words if word.verb and not is_weak(word.lower))
    own = content_of(words)
    pronoun = bool(head) and head[0].lower in PRONOUNS
    begin = find_described_name(head, names)
    subject, described = content_of(head[begin:]), content_of(head[:begin])
    taken: frozenset[str] = frozenset()
    owned = is_owned(head[begin:])
    if not subject and not pronoun and previous is not None:
        subject, pronoun, owned = _subject_before(segment, previous), previous.goes_on, previous.owned
        taken |= subject
    if verb_at is None and previous is not None and segment.opener not in _SUBORDINATE:
        taken |= previous.verbs | (previous.words - previous.subject - _find_counted(previous.values))
        verbs = previous.verbs
    rest = [word for word in words if not head or word.start > head[-1].start]
    bound = tuple(_bound_names(words, names, head))
    if previous is not None and segment.opener == "(" and subject == _subject_before(segment, previous):
        bound += tuple(one._replace(governor="") for one in previous.names[-1:])
    values = tuple(_lives(segment, words, bool(taken or previous)))
    return ReadClause(
        words=own | taken | subject,
        subject=subject,
        described=described,
        verbs=verbs,
        values=values,
        names=bound,
        goes_on=pronoun,
        owned=owned,
        own=own,
        negated=untrue or any(word.lower in _NEGATIONS or word.lower.endswith("n't") for word in words),
        definite=any(word.lower in _DEFINITE for word in rest),
        points_back=segment.opener == "where" or any(word.lower in _BACK for word in rest),
        passive=_is_passive(words),
        opener=segment.opener,
    )


def _is_passive(words: Sequence[Word]) -> bool:
    """Whether a form of "be" stands before another verb."""
    verbs = [word for word in words if word.verb]
    return any(one.base == "be" and not is_weak(next_.lower) for one, next_ in pairwise(verbs))


def _find_counted(values: Sequence[Value]) -> frozenset[str]:
    return frozenset(word for value in values for word in value.words)


def _subject_before(segment: SentencePart, previous: ReadClause) -> frozenset[str]:
    """The subject that a clause without one has from the clause before it."""
    if segment.opener in RELATIVE | {"("} and previous.names:
        return frozenset(base(part) for part in previous.names[-1].name.parts)
    return previous.subject or (frozenset() if previous.goes_on else previous.own)


def _bound_names(words: Sequence[Word], names: Sequence[Name], head: Sequence[Word]) -> Iterator[BoundName]:
    if not words:
        return
    for name in names:
        at = next((place for place, word in enumerate(words) if word.start == name.span.start), None)
        if at is None:
            continue
        if head and head[0].start <= name.span.start < head[-1].end:
            yield BoundName(name, "")
            continue
        governor = next((place for place in range(at - 1, max(-1, at - 1 - REACH), -1) if _governs(words, place)), None)
        if governor is not None:
            word, described = words[governor], content_of(words[governor + 1 : at])
            yield BoundName(name, word.lower if word.lower in PREPOSITIONS else "verb", described)
        elif words[0].verb or not head:
            yield BoundName(name, "")


def _governs(words: Sequence[Word], place: int) -> bool:
    """Whether the word there governs names behind it; "of" in "the town of Lervika" does not."""
    word = words[place]
    named_place = word.lower == "of" and place > 0 and words[place - 1].lower in PLACE_KINDS
    return word.verb or (word.lower in PREPOSITIONS and not named_place)


def _is_before_later(value: Value, words: Sequence[Word]) -> bool:
    """Whether the value only says how much later: in "two years later, on 3 May 1990" the date says it all."""
    return next((word.lower in LATER for word in words if word.start >= value.span.end), False)


def _lives(segment: SentencePart, words: Sequence[Word], follows: bool) -> Iterator[Value]:
    """The segment's values; of a range in brackets, or with "lived" or "lasted", as those of birth and death, or both ends."""
    lived = any(word.base == "liv" for word in words)
    lasted = any(word.verb and word.base == base("lasted") for word in words)
    alone = segment.opener == "(" and follows and not content_of(words)
    marked = {word.lower for word in words} & {"b", "d", "born", "died"} if segment.opener == "(" else set[str]()
    dated = any(isinstance(value.measure, Moment) for value in segment.values)
    for value in segment.values:
        if dated and not isinstance(value.measure, Moment) and _is_before_later(value, words):
            continue
        if isinstance(value.measure, Moment) and value.role and (lived or alone or lasted):
            ends = ("birth", "begin") if value.role == "start" else ("death", "end")
            said = ends[:1] if lived else ends[1:] if lasted else ends
            yield Value(value.span, value.measure, frozenset(map(base, said)), "life")
        elif isinstance(value.measure, Moment) and marked:
            yield Value(value.span, value.measure, frozenset({base("birth" if marked & {"b", "born"} else "death")}), "life")
        else:
            yield value
