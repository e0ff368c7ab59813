"""What a text makes of a claim's values: the same in the same slot, another there, or nothing."""

import operator
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from localfact.records import Span
from localfact.relations.assertions import is_question
from localfact.relations.values.binding import has_rival, is_ahead, is_other_order, is_reversed
from localfact.relations.values.clauses import BoundName, ReadClause, read_clauses
from localfact.relations.values.keyfacts import read_key_fact
from localfact.relations.values.matching import LAST_SPOKEN_OF, ClauseFit, PlacedClause, fit, held_of
from localfact.relations.values.moments import Moment
from localfact.relations.values.quantities import Quantity
from localfact.relations.values.ranks import Rank
from localfact.relations.values.roles import Role
from localfact.relations.values.single import are_of_one_level, happens_once, has_one_value
from localfact.relations.values.value import Value, ValueAgreement
from localfact.relations.values.vocabulary import base, repeated_verbs
from localfact.text import sentences

#: The least fit of a clause whose value is the same, or another one, for that to be found.
LEAST_SAME, LEAST_OTHER = 0.6, 0.6
#: How much the same counts for more than another value: a text that says both is not against the claim.
FOR_THE_CLAIM = 1.1
#: How much a clause with another value counts that does not say when, where the claim does; and the other way round.
UNDATED = 0.6
#: A name in another's place: what it counts behind a verb or "by", and behind "in" or "at", where the one may lie in the other.
NAMED, PLACED = 0.9, 0.7
#: Another name behind a verb of what one does more than once: "painted the Lagoon series".
OF_SEVERAL = 0.6
#: The least coverage of a clause whose other value is sure, where the slot has one value; of one that says when or where what
#: happens once was done, by whomever, which counts as so much covered.
SURELY_COVERED, ONCE = 0.9, 0.9
#: What each thing costs that a clause speaks of and the claim does not, and the most of it; another date of what happens again.
FOREIGN, LEAST_NARROW, AGAIN = 0.05, 0.75, 0.75
#: Another subject of the same predicate, or a value that another clause has more to say of.
SUBJECT = 0.7
#: Two parts of the claim in each other's place.
REVERSED = 0.9
#: Another ordinal without a superlative: "first" is said of much.
ORDINAL = 0.75
#: What the same names are worth where no value is.
NAMES_ALONE = 0.75
_IN = frozenset(("in", "at", "near", "on", "from", "to", "with", "for", "as", "of"))
CACHED_TEXTS = 512
CACHED_SENTENCES = 8_192


class Ruling(StrEnum):
    """What values say of a pair."""

    SAME = "same"
    OTHER = "other"
    NOTHING = "nothing"


class ValueFinding(NamedTuple):
    """What a text makes of a claim's values.

    Attributes:
        strength: how surely, in [0, 1].
        sentence, said: of the text, the sentence that decides and the value in it. claimed: the value in the claim.
        sure: another value in a slot that has one, where subject and predicate are the claim's.
    """

    ruling: Ruling
    strength: float = 0.0
    sentence: Span | None = None
    said: Span | None = None
    claimed: Span | None = None
    sure: bool = False


NOTHING = ValueFinding(Ruling.NOTHING)


class ReadText(NamedTuple):
    """A text read once: its sentences and their clauses."""

    spans: tuple[Span, ...]
    clauses: tuple[PlacedClause, ...]


class Compared(NamedTuple):
    """A value or name of the claim beside a clause: its own place, what was made of it, and the place of the text's."""

    claimed: Span
    agreement: ValueAgreement | None
    said: Span | None
    weight: float = 1.0
    dates: bool = False
    words: frozenset[str] = frozenset()
    ranged: bool = False
    valued: bool = False
    single: bool = False


@lru_cache(maxsize=CACHED_TEXTS)
def read_text(text: str) -> ReadText:
    """Reads the clauses of all sentences of a text."""
    spans = tuple(span for span in sentences(text) if not is_question(text[span.start : span.end]))
    read = [_read_line(text[span.start : span.end]) for span in spans]
    every = [clause for clauses in read for clause in clauses]
    behind = list(accumulate((clause.words for clause in reversed(every)), operator.or_, initial=frozenset[str]()))[::-1]
    placed: list[PlacedClause] = []
    last_subject, before, named = frozenset[str](), frozenset[str](), frozenset[str]()
    for number, clauses in enumerate(read):
        beside = frozenset[str]().union(*(clause.words for clause in clauses))
        for clause in clauses:
            placed.append(PlacedClause(clause, number, beside, last_subject, before, behind[len(placed) + 1], named))
            last_subject = clause.subject if clause.subject and not clause.goes_on else last_subject
            before |= clause.words
            named |= frozenset(base(part) for bound in clause.names for part in bound.name.parts)
    return ReadText(spans, tuple(placed))


@lru_cache(maxsize=CACHED_SENTENCES)
def read_sentence(text: str) -> tuple[ReadClause, ...]:
    """The clauses of a sentence, or of a claim: each is read once, however a passage is shortened to see what it hangs on."""
    return tuple(read_clauses(text))


def _read_line(text: str) -> tuple[ReadClause, ...]:
    return read_key_fact(text) or read_sentence(text)


def judge_values(text: str, claim: str) -> ValueFinding:
    """What the text makes of the claim's values; the gravest of what its clauses give."""
    every = read_sentence(claim)
    clauses = [clause for clause in every if clause.values or clause.names or clause.predicate]
    if not clauses:
        return NOTHING
    read = read_text(text)
    if is_other_order(every, [placed.clause for placed in read.clauses]):
        return ValueFinding(Ruling.OTHER, REVERSED)
    found = [_judge(clause, read) for clause in clauses]
    if others := [one for one in found if one.ruling is Ruling.OTHER]:
        return max(others, key=lambda one: one.strength)
    telling = [
        one for clause, one in zip(clauses, found, strict=True) if clause.values or any(name.governor for name in clause.names)
    ]
    if telling and all(one.ruling is Ruling.SAME for one in telling):
        return min(telling, key=lambda one: one.strength)
    return NOTHING


def _judge(claim: ReadClause, read: ReadText) -> ValueFinding:
    same, other, plain = NOTHING, NOTHING, 0.0
    own: list[PlacedClause] = []
    others: list[PlacedClause] = []
    apart = frozenset[str]()
    for placed in read.clauses:
        compared = list(_compare(claim, placed.clause))
        words = frozenset(word for one in compared for word in one.words)
        apart |= words
        silent = compared and all(one.agreement is None for one in compared)
        if claim.values and silent and not is_reversed(claim, placed.clause):
            continue  # as most clauses are: it can say nothing, so how well it fits need not be known
        fitting = fit(claim, placed, words)
        one = _rule(claim, fitting, compared, placed)
        span = read.spans[placed.sentence]
        if one.ruling is Ruling.SAME and one.strength > same.strength:
            same = _place_in_text(one, span)
        elif one.ruling is Ruling.OTHER and one.strength > other.strength:
            other = _place_in_text(one, span)
        elif other.strength < SUBJECT and agrees(compared) and has_rival(claim, placed):
            other = ValueFinding(Ruling.OTHER, SUBJECT, span, None, None)
        if (
            not claim.values
            and fitting.whole >= LEAST_SAME
            and one.ruling is Ruling.NOTHING
            and claim.negated == placed.clause.negated
        ):
            plain = max(plain, fitting.whole)
        valued = [one.agreement for one in compared if one.valued]
        if ValueAgreement.SAME in valued:
            own.append(placed)
        elif ValueAgreement.OTHER in valued:
            others.append(placed)
    if other.strength >= LEAST_OTHER and other.strength > FOR_THE_CLAIM * max(same.strength, plain):
        return other
    if same.strength >= LEAST_SAME:
        return same
    if (ahead := is_ahead(claim, apart, own, others)) is not None:
        return ValueFinding(Ruling.OTHER, SUBJECT, read.spans[ahead.sentence], None, None)
    return NOTHING


def agrees(compared: Sequence[Compared]) -> bool:
    """Whether all that was compared is the same."""
    return all(one.agreement is ValueAgreement.SAME for one in compared)


def _place_in_text(finding: ValueFinding, span: Span) -> ValueFinding:
    """The finding with its sentence, and the value's place in the text."""
    said = finding.said
    moved = Span(start=said.start + span.start, end=said.end + span.start) if said else None
    return finding._replace(sentence=span, said=moved)


def _rule(claim: ReadClause, fitting: ClauseFit, compared: Sequence[Compared], placed: PlacedClause) -> ValueFinding:
    """What one clause of the text says of the claim's values."""
    if is_reversed(claim, placed.clause):
        return ValueFinding(Ruling.OTHER, REVERSED * max(fitting.coverage, fitting.whole), None, None, None)
    if claim.negated != placed.clause.negated:
        return NOTHING
    same = [one for one in compared if one.agreement is ValueAgreement.SAME]
    others = [one for one in compared if one.agreement is ValueAgreement.OTHER]
    if not others:
        silent = [one for one in compared if one.agreement is None and not one.dates]
        opened = any(one.agreement is ValueAgreement.OPEN for one in compared)
        if not same or silent or opened:
            return NOTHING
        telling = any(one.valued or one.single for one in same)
        return ValueFinding(Ruling.SAME, fitting.whole * (1.0 if telling else NAMES_ALONE), None, same[0].said, same[0].claimed)
    if len(others) > 1 and not same and not all(one.ranged for one in others):
        return NOTHING
    worst = max(others, key=lambda one: one.weight)
    if worst.single and happens_once(claim):
        fitting = fitting._replace(coverage=max(fitting.coverage, ONCE))
    strength = fitting.whole * worst.weight * _narrowness(claim, placed.clause)
    if worst.dates and claim.verbs & repeated_verbs():
        strength *= AGAIN
    unsaid = [one for one in compared if one.agreement is None]
    if any(one.dates for one in unsaid) and not worst.dates:
        strength *= UNDATED
    if not worst.dates and not any(one.dates for one in compared) and _has_dates(placed.clause) and _has_quantity(claim):
        strength *= UNDATED
    sure = worst.single and len(others) == 1 and fitting.subject >= LAST_SPOKEN_OF and fitting.coverage >= SURELY_COVERED
    return ValueFinding(Ruling.OTHER, strength, None, worst.said, worst.claimed, sure and fitting.governor == 1)


def _narrowness(claim: ReadClause, said: ReadClause) -> float:
    """How far the clause speaks of the same alone: less for each thing of its own that the claim does not have."""
    counted = frozenset[str]().union(*(value.words for value in said.values))
    own = (said.own - said.subject - said.described - counted).difference(*(name.described for name in said.names))
    foreign = len(own - held_of(own, claim.words))
    return max(1 - FOREIGN * foreign, LEAST_NARROW)


def _has_quantity(claim: ReadClause) -> bool:
    return any(isinstance(value.measure, Quantity) for value in claim.values)


def _has_dates(clause: ReadClause) -> bool:
    return any(isinstance(value.measure, Moment) for value in clause.values)


def _compare(claim: ReadClause, said: ReadClause) -> Iterator[Compared]:
    for value in claim.values:
        yield _compare_value(value, claim, said)
    for bound in claim.names:
        if bound.governor:
            yield from _compare_name(bound, claim, said)


def _compare_value(value: Value, claim: ReadClause, said: ReadClause) -> Compared:
    dates = isinstance(value.measure, Moment)
    weight = ORDINAL if isinstance(value.measure, Rank) and not value.measure.order else 1.0
    words = (
        frozenset(base(part) for part in value.measure.noun.split()) if isinstance(value.measure, Role) else frozenset[str]()
    )
    found: dict[ValueAgreement, Span] = {}
    for one in said.values:
        agreement = value.measure.agreement(one.measure) if _are_of_one_role(value, one, claim) else None
        if agreement is not None:
            found.setdefault(agreement, one.span)
    for agreement in (ValueAgreement.SAME, ValueAgreement.OPEN, ValueAgreement.OTHER):
        if agreement in found:
            single = dates and has_one_value(claim.verbs, "date")
            return Compared(value.span, agreement, found[agreement], weight, dates, words, bool(value.role), True, single)
    return Compared(value.span, None, None, 1.0, dates, words, valued=True)


def _are_of_one_role(value: Value, one: Value, claim: ReadClause) -> bool:
    """Whether neither begins what the other ends, and neither is of a birth where the other is of a death."""
    if one.role == "life":
        return bool(held_of(one.words, value.words if value.role == "life" else claim.words))
    return not (value.role and one.role) or value.role == one.role


def _compare_name(bound: BoundName, claim: ReadClause, said: ReadClause) -> Iterator[Compared]:
    """The claim's name beside those of the clause that stand in its place."""
    words = frozenset(map(base, bound.name.parts)) | bound.described
    single = has_one_value(claim.words, bound.governor)
    fits = next((one for one in said.names if bound.name.matches(one.name)), None)
    if fits is not None:
        filled = single and fits.governor == bound.governor
        yield Compared(bound.name.span, ValueAgreement.SAME, fits.name.span, 1.0, words=words, single=filled)
        return
    rivals = [one for one in said.names if one.governor == bound.governor and are_of_one_level(one.name, bound.name)]
    if rivals:
        again = bound.governor == "verb" and claim.verbs & repeated_verbs()
        weight = 1.0 if single else OF_SEVERAL if again else PLACED if bound.governor in _IN else NAMED
        yield Compared(bound.name.span, ValueAgreement.OTHER, rivals[0].name.span, weight, words=words, single=single)
