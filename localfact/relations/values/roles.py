"""Roles and what one is it of: "treasurer of the club", "the son of a tailor"; the list is roles.txt."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from localfact.records import Span
from localfact.relations.values.value import Measure, Value, ValueAgreement, is_free
from localfact.relations.values.vocabulary import words_of_kind

ROLES_FILE = Path(__file__).with_name("roles.txt")
#: Words before a role that make another one of it.
_CHANGING = words_of_kind("role-changing")
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)?")
_OF = re.compile(r"\s+(?:of|at|for|to|in)\b|[’']s\b")
_HELD = re.compile(
    r"\b(?:was|is|were|are|as|became|become|be|been|named|elected|appointed|and|,|the|an?|its|his|her|their|[’']s)\s+"
    r"(?:(?:the|an?|its|his|her|their)\s+)?(?P<before>(?:[a-z]+[\s-]){0,2}?)$"
)


@dataclass(frozen=True)
class Role:
    """A role: its noun with what changes it, and whether the text says of what it is one."""

    noun: str
    bound: bool

    def agreement(self, said: Measure) -> ValueAgreement | None:
        """See `Measure`. One may have several roles; of one thing mostly one."""
        if not isinstance(said, Role):
            return None
        if self.noun == said.noun:
            return ValueAgreement.SAME
        return ValueAgreement.OTHER if self.bound and said.bound else ValueAgreement.OPEN


@cache
def _roles() -> frozenset[str]:
    return frozenset(ROLES_FILE.read_text(encoding="utf-8").split())


def read_roles(text: str, taken: Collection[Span]) -> Iterator[Value]:
    """The roles in a sentence that somebody is said to have, in none of the spans `taken`."""
    roles = _roles()
    for found in _WORD.finditer(text):
        if found.group() not in roles:
            continue
        span = Span(start=found.start(), end=found.end())
        held = _HELD.search(text[: found.start()])
        if held is None or not is_free(span, taken):
            continue
        before = [word for word in re.split(r"[\s-]", held["before"]) if word in _CHANGING]
        bound = bool(_OF.match(text, found.end())) or text[: held.start("before")].rstrip().endswith((" its", "’s", "'s"))
        yield Value(span, Role(" ".join([*before, found.group()]), bound))
