"""What two claims make of one slot: whether both fill it, with values that do not go together.

A slot is a subject, a verb, and what the value is of (`relations/values`). "Won in 1903" and "won in 1911" are no conflict, and
neither are two things that something includes.
"""

import re
from typing import NamedTuple

from localfact.records import Span
from localfact.relations.values.judging import Ruling, judge_values, read_sentence
from localfact.relations.values.ranks import Rank
from localfact.relations.values.vocabulary import repeated_verbs

#: From this strength on, in both directions, another value in the same slot is a contradiction by itself.
SURE = 0.8
#: What lists some of several.
_SOME_OF_SEVERAL = re.compile(
    r"\b(?:includ\w*|such as|among|features?|featured|featuring|for (?:example|instance)|e\.g|one of|another|other|also|"
    r"various|several|some|sometimes|often|usually|can|may|might|could|would|if|each|either|per)\b",
    re.IGNORECASE,
)


class SlotFinding(NamedTuple):
    """What two claims make of a slot.

    Attributes:
        sure: both fill it, with values that cannot both hold.
        may_differ: it looks so in one direction, or one of them denies what the other states.
        values: the values, as characters of the first and of the second text; None where that is not plain.
    """

    sure: bool
    may_differ: bool
    values: tuple[Span | None, Span | None] = (None, None)
    reason: str | None = None


def compare_slots(one: str, other: str) -> SlotFinding:
    """What two claims make of one slot."""
    forward, backward = judge_values(one, other), judge_values(other, one)
    values: tuple[Span | None, Span | None] = (None, None)
    if forward.ruling is Ruling.OTHER and forward.said is not None and forward.claimed is not None:
        values = forward.said, forward.claimed
    elif backward.ruling is Ruling.OTHER and backward.said is not None and backward.claimed is not None:
        values = backward.claimed, backward.said
    both = [said.ruling is Ruling.OTHER for said in (forward, backward)]
    several = any(_SOME_OF_SEVERAL.search(text) or _may_happen_again(text) for text in (one, other))
    several = several or _speaks_of_its_own(one) != _speaks_of_its_own(other) or _number_others(one, other, values)
    sure = all(both) and min(forward.strength, backward.strength) >= SURE and not several
    reason = None
    if values[0] is not None and values[1] is not None:
        written = (text[span.start : span.end] for text, span in ((one, values[0]), (other, values[1])))
        reason = " against ".join(f"“{value}”" for value in written)
    return SlotFinding(sure, (any(both) and not several) or _denies(one) != _denies(other), values, reason)


def _may_happen_again(text: str) -> bool:
    """Whether what the text tells may be true of several values, one after the other."""
    return any(clause.verbs & repeated_verbs() for clause in read_sentence(text))


def _speaks_of_its_own(text: str) -> bool:
    """Whether the subject is somebody else's who was spoken of: "his father"."""
    clauses = read_sentence(text)
    return bool(clauses) and clauses[0].goes_on and bool(clauses[0].subject)


def _number_others(one: str, other: str, values: tuple[Span | None, Span | None]) -> bool:
    """Whether the texts speak of two of a row ("the first edition", "the second edition"), and other values of them differ."""
    ranks = [
        {
            value.measure.place
            for clause in read_sentence(text)
            for value in clause.values
            if isinstance(value.measure, Rank) and value.span != span
        }
        for text, span in zip((one, other), values, strict=True)
    ]
    return all(ranks) and ranks[0].isdisjoint(ranks[1])


def _denies(text: str) -> bool:
    return any(clause.negated for clause in read_sentence(text))
