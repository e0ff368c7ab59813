"""Who did what to whom: whether a clause of a text says of somebody else, or the other way round, what a claim says."""

from collections.abc import Sequence
from itertools import pairwise

from localfact.relations.values.clauses import ReadClause, words_of_name
from localfact.relations.values.matching import PlacedClause, coverage, held_of, share

#: How much of what the claim says a clause must say for its subject to be the claim's rival.
LEAST_COVERED = 0.8
#: How much more of what the claim says the clause with another value must say than any with the claim's own, and at least.
AHEAD, LEAST_SAID = 0.3, 0.6
#: How many other names must be the same for "President Lund gave" to be against "President Aas gave" in a text that has no Aas.
LEAST_COMMON = 2


def is_reversed(claim: ReadClause, said: ReadClause) -> bool:
    """Whether the clause gives two parts of the claim to each other: "B beat A", "from B to A"."""
    if claim.negated != said.negated or share(claim.verbs, said.words) < 1 or share(claim.unplaced, said.words) < LEAST_COVERED:
        return False
    for slot, own in claim.slots.items():
        for other, rival in claim.slots.items():
            if slot >= other or not own or not rival:
                continue
            if said.slots.get(slot) == rival and said.slots.get(other) == own:
                return True
    return False


def has_rival(claim: ReadClause, placed: PlacedClause) -> bool:
    """Whether the clause says of another one, by name, all that the claim says of its own.

    Only where the clause has a subject of its own: whom "she" means is not sure enough.
    """
    said = placed.clause
    if said.goes_on or not said.own & (said.doer or said.subject):
        return False
    ours = claim.doer or claim.subject
    theirs = said.doer or said.subject
    things = claim.words - claim.described - ours
    if not ours or not theirs or not things or claim.negated != said.negated:
        return False
    shared = held_of(ours, theirs)
    if share(claim.verbs, said.words) < 1 or not (claim.verbs or shared):
        return False
    if shared and not (ours - shared and theirs - held_of(theirs, ours)):
        return False
    if not shared and not (_has_name(claim, ours) and _names_one(placed, theirs)):
        return False
    if held_of(ours - shared, said.words):
        return False
    needed = things - theirs
    if not held_of(ours - shared, placed.before | placed.after | placed.beside):  # the text does not speak of the claim's
        return bool(shared) and _count_common_names(claim, said) >= LEAST_COMMON and share(needed, said.words) == 1
    return bool(needed) and coverage(needed, said.words, placed) >= LEAST_COVERED and share(needed, said.own) > 0


def _count_common_names(claim: ReadClause, said: ReadClause) -> int:
    """How many names both have that are not of who does it."""
    theirs = [bound.name for bound in said.names if bound.governor]
    return sum(any(bound.name.matches(name) for name in theirs) for bound in claim.names if bound.governor)


def _has_name(clause: ReadClause, words: frozenset[str]) -> bool:
    return bool(words & (words_of_name(clause, "") | words_of_name(clause, "by")))


def _names_one(placed: PlacedClause, words: frozenset[str]) -> bool:
    return _has_name(placed.clause, words) or bool(words & placed.named)


def is_ahead(
    claim: ReadClause, apart: frozenset[str], own: Sequence[PlacedClause], other: Sequence[PlacedClause]
) -> PlacedClause | None:
    """The clause with another value that says clearly more of what the claim says than each clause with the claim's value does.

    Args:
        apart: words of values. own, other: clauses with the claim's value, and with another of its kind and not the claim's.
    """
    told = claim.predicate - apart
    if not told or not own or not claim.verbs:
        return None
    best = max(_told(told, placed) for placed in own)
    for placed in other:
        said = placed.clause
        if said.subject - held_of(said.subject, claim.words) and not said.goes_on:
            continue
        score = share(told, said.words)
        if score >= LEAST_SAID and score - best >= AHEAD and claim.negated == said.negated:
            return placed
    return None


def _told(told: frozenset[str], placed: PlacedClause) -> float:
    around = placed.clause.words | (placed.before | placed.beside if placed.clause.points_back else frozenset[str]())
    return share(told, around)


def is_other_order(claim: Sequence[ReadClause], said: Sequence[ReadClause]) -> bool:
    """Whether the text has the claim's "A before B" as "B before A"."""
    if len(claim) != 2 or claim[1].opener not in ("before", "after"):
        return False
    first, second = (clause.words for clause in claim)
    return any(
        two.opener == claim[1].opener
        and share(first, two.words) == 1
        and share(second, one.words) == 1
        and share(first, one.words) < 1
        for one, two in pairwise(said)
    )
