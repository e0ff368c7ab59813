"""A value that stands in a sentence, and what comparing two of them can give."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from localfact.records import Span


class ValueAgreement(StrEnum):
    """What a text's value is to a claim's.

    SAME: the claim's holds where the text's does. OTHER: both cannot hold of one slot. OPEN: the text's leaves it open, as a
    year does a day.
    """

    SAME = "same"
    OTHER = "other"
    OPEN = "open"


class Measure(Protocol):
    """A kind of value: a quantity, a moment, a rank."""

    def agreement(self, said: "Measure") -> ValueAgreement | None:
        """What `said`, the text's value, is to this one, the claim's; None where the two are of different things."""


@dataclass(frozen=True)
class Value:
    """A value in a sentence.

    Attributes:
        span: its place in the sentence, with unit, hedge and era.
        measure: what it says.
        words: what else it is the value of than its clause says: compared words, as of the noun that is counted.
        role: "start" or "end" of a range; else "".
    """

    span: Span
    measure: Measure
    words: frozenset[str] = frozenset()
    role: str = ""


def is_free(span: Span, taken: Iterable[Span]) -> bool:
    """Whether a span shares no character with any that is taken."""
    return not any(span.start < other.end and other.start < span.end for other in taken)
