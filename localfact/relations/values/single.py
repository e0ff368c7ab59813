"""Slots that have one value: where one was born, who built it, who is mayor. Another value there speaks against a claim.

What one may have several of (children, works, awards, where one lived) is none of them. slots.txt has a line a slot:
"<slot>: <word that says it> ... | <governor of its value> ...". countries.txt has the words that end names of lands and
regions: one place lies in the other, so that only values of the same level are rivals.
"""

from functools import cache
from pathlib import Path

from localfact.relations.values.clauses import ReadClause
from localfact.relations.values.names import Name
from localfact.relations.values.vocabulary import base

SLOTS_FILE = Path(__file__).with_name("slots.txt")
COUNTRIES_FILE = Path(__file__).with_name("countries.txt")


@cache
def _slots() -> dict[str, frozenset[str]]:
    """A compared word that says a slot -> the governors of its value."""
    found: dict[str, frozenset[str]] = {}
    for line in SLOTS_FILE.read_text(encoding="utf-8").splitlines():
        words, governors = line.partition(": ")[2].split(" | ")
        for word in words.split():
            found[base(word)] = found.get(base(word), frozenset()) | frozenset(governors.split())
    return found


@cache
def _countries() -> frozenset[str]:
    return frozenset(COUNTRIES_FILE.read_text(encoding="utf-8").split())


def happens_once(claim: ReadClause) -> bool:
    """Whether the claim says what is done to its subject, or befalls it, once: whatever else it says, the slot is the same."""
    return (claim.passive or base("died") in claim.verbs) and all(verb in _slots() for verb in claim.verbs)


def has_one_value(words: frozenset[str], governor: str) -> bool:
    """Whether a name behind that governor, in a clause with those compared words, fills a slot that has one value."""
    slots = _slots()
    return any(governor in slots[word] for word in words & slots.keys())


def are_of_one_level(one: Name, other: Name) -> bool:
    """Whether both are lands or regions, or neither is: Lervika is no rival of Norway."""
    return (one.parts[-1] in _countries()) == (other.parts[-1] in _countries())
