"""Minimal edits: a value of a claim gives way to another value of its passage, or two values of a passage change places.

Nothing but the passage's own words goes into an edit, so that shared words do not tell what is true. The teacher says what is.
"""

import random
from typing import NamedTuple

from localfact.records import Span
from localfact.relations.values.clauses import read_clauses
from localfact.text import sentences


class Slot(NamedTuple):
    """A value or a name in a text: what kind it is of, where it stands, and how it is spelled."""

    kind: str
    span: Span
    text: str


def slots(text: str) -> list[Slot]:
    """The values and names of a text in the order of their places; a name's kind is what governs it ("in", "verb")."""
    found: dict[tuple[int, int], Slot] = {}
    for place in sentences(text):
        for clause in read_clauses(text[place.start : place.end]):
            named = [(type(value.measure).__name__, value.span) for value in clause.values]
            for kind, span in named + [(f"name {bound.governor}", bound.name.span) for bound in clause.names]:
                where = place.start + span.start, place.start + span.end
                spelled = text[slice(*where)]
                own = Span(start=where[0], end=where[1])
                found.setdefault(where, Slot(f"{kind} {len(spelled.split())}"[:40], own, spelled))
    return [found[where] for where in sorted(found)]


def edited_claim(claim: str, passage: str, chance: random.Random) -> str | None:
    """The claim with one value or name exchanged for another of the same kind in the passage; None where there is none."""
    theirs = slots(passage)
    choices = [
        claim[: own.span.start] + other.text + claim[own.span.end :]
        for own in slots(claim)
        for other in theirs
        if own.kind == other.kind and _differ(own.text, other.text) and other.text.casefold() not in claim.casefold()
    ]
    return chance.choice(sorted(set(choices))) if choices else None


def edited_passage(claim: str, passage: str, chance: random.Random) -> str | None:
    """The passage with a value of the claim and another of its kind in each other's place; None where there are not two."""
    theirs, said = slots(passage), {own.text.casefold() for own in slots(claim)}
    choices = [
        (one, other) if one.span.start < other.span.start else (other, one)
        for one in theirs
        for other in theirs
        if one.text.casefold() in said
        and other.text.casefold() not in said
        and one.kind == other.kind
        and _differ(one.text, other.text)
    ]
    if not choices:
        return None
    first, second = chance.choice(choices)
    between = passage[first.span.end : second.span.start]
    return passage[: first.span.start] + second.text + between + first.text + passage[second.span.end :]


def _differ(one: str, other: str) -> bool:
    """Whether neither is part of the other: "May 1980" and "1980" may be the same day."""
    return one.casefold() not in other.casefold() and other.casefold() not in one.casefold()
