"""Whether a source bears out an edit: whether it says beside the new words what the claim says, more than beside the old ones.

A source that has both may have each in its own place: "Ann kept the shop and Bea the patents" is no reason to exchange the two
in "Ann kept the shop".
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from localfact.relations.lexical.statements import idf_table
from localfact.relations.values.binding import is_reversed
from localfact.relations.values.judging import read_sentence, read_text
from localfact.relations.values.matching import LIGHTEST, PlacedClause, held_of
from localfact.relations.values.names import Name
from localfact.relations.values.value import Measure, ValueAgreement
from localfact.relations.values.vocabulary import base

#: What a value of the claim counts that stands beside the new words: as much as a rare word.
OF_A_VALUE = 4.0
#: The share of what the source has of the claim that stands beside the new words, by weight.
COVERED = 0.6
#: Words of the claim, and the places of its values.
_Told = frozenset[str | int]
_Holds = Callable[[PlacedClause], bool]


class Bearing:
    """A claim beside a source."""

    def __init__(self, claim: str, source: str) -> None:
        self._claim = read_sentence(claim)
        self._words = frozenset[str]().union(*(clause.words | clause.counted for clause in self._claim))
        self._verbs = frozenset[str]().union(*(clause.verbs for clause in self._claim))
        self._names = frozenset(base(part) for clause in self._claim for bound in clause.names for part in bound.name.parts)
        self._values = [value.measure for clause in self._claim for value in clause.values]
        self._clauses = list(_with_what_goes_on(read_text(source).clauses))

    def bears_out_value(self, was: Measure, now: Measure) -> bool:
        """Whether the source says beside one value what the claim says, more than beside the claim's own."""
        return self._bears_out(lambda clause: _has_value(clause, was), lambda clause: _has_value(clause, now), was=was)

    def bears_out_name(self, was: Name, now: Name) -> bool:
        """Whether the source says beside one name what the claim says, more than beside the claim's own."""
        own = frozenset(map(base, (*was.parts, *now.parts)))
        return self._bears_out(lambda clause: _has_name(clause, was), lambda clause: _has_name(clause, now), own=own)

    def is_reversed(self) -> bool:
        """Whether a clause of the source gives two parts of the claim to each other: "B beat A"."""
        return any(is_reversed(claim, placed.clause) for claim in self._claim for placed, _ in self._clauses)

    def _bears_out(
        self, has_was: _Holds, has_now: _Holds, *, was: Measure | None = None, own: frozenset[str] = frozenset()
    ) -> bool:
        told: dict[tuple[bool, bool], list[_Told]] = {}
        for placed, words in self._clauses:
            values = frozenset(at for at, one in enumerate(self._values) if one != was and _has_value(placed, one))
            said = held_of(self._words - own, words) | values
            told.setdefault((has_was(placed), has_now(placed)), []).append(said)
        before = _Told().union(*told.get((True, False), ()))
        every = _Told().union(*chain(*told.values()))
        return any(self._says_more(now, before, every) for now in told.get((False, True), ()))

    def _says_more(self, now: _Told, before: _Told, every: _Told) -> bool:
        """No value, name or verb is lost, more is won than lost, and most of what the source has of the claim is there."""
        lost = before - now
        if any(isinstance(one, int) or one in self._names for one in lost) or (every & self._verbs) - now:
            return False
        return _weigh(now - before) > _weigh(lost) and _weigh(now) >= COVERED * _weigh(every)


def _weigh(told: _Told) -> float:
    return sum(OF_A_VALUE if isinstance(one, int) else max(LIGHTEST, idf_table().weight(one)) for one in told)


def _with_what_goes_on(clauses: Sequence[PlacedClause]) -> Iterator[tuple[PlacedClause, frozenset[str]]]:
    """Each clause and its words: with those of the clause before it where it has no verb, and with whom "she" stands for."""
    before, sentence = frozenset[str](), -1
    for placed in clauses:
        clause = placed.clause
        words = clause.words | clause.counted
        if placed.sentence == sentence and not clause.own & clause.verbs:
            words |= before
        elif clause.goes_on or not clause.subject:
            words |= placed.last_subject
        if placed.sentence == sentence and clause.points_back:
            words |= before
        before, sentence = words, placed.sentence
        yield placed, words


def _has_value(placed: PlacedClause, wanted: Measure) -> bool:
    return any(wanted.agreement(one.measure) is ValueAgreement.SAME for one in placed.clause.values)


def _has_name(placed: PlacedClause, wanted: Name) -> bool:
    clause = placed.clause
    words = clause.own | clause.subject if clause.subject or not clause.goes_on else clause.own | placed.last_subject
    return base(wanted.parts[-1]) in words
