"""Names in a sentence, with titles and initials, and whether two are the same; roles, as "treasurer of the club"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from localfact.records import Span
from localfact.relations.values.vocabulary import MONTHS, STOP_WORDS, WEEKDAYS, words_of_kind

_TITLES = words_of_kind("title")
_PARTICLES = "(?:&|de|del|della|da|di|du|van|von|der|den|la|le|of the|of|bin|ibn|al|y)"
_PART = r"(?:[A-Z]\.(?:\s?[A-Z]\.)*|[^\W\d_a-zß-öø-ÿ][^\W\d_]*(?:['’-][^\W\d_]+)*)"
_NAME = re.compile(rf"\b{_PART}(?:\s+(?:{_PARTICLES}\s+)?{_PART})*")
_WORDS = re.compile(r"[^\W\d_]+")
#: Words that open a sentence with a capital.
_OPENING = words_of_kind("opening")


@dataclass(frozen=True)
class Name:
    """A name in a sentence: its place, and its parts in lower case, without titles, particles and the marks of initials."""

    span: Span
    parts: tuple[str, ...]

    def matches(self, other: "Name") -> bool:
        """Whether both may name the same: one has all parts of the other, an initial standing for any part that it begins."""
        shorter, longer = sorted((self.parts, other.parts), key=len)
        if shorter == longer:
            return True
        if not _one_is_the_other(shorter[-1], longer[-1]) and shorter[0] != longer[0]:
            return "".join(part[0] for part in longer) == "".join(shorter)
        left = list(longer)
        for part in shorter:
            fits = next((place for place, one in enumerate(left) if _one_is_the_other(part, one)), None)
            if fits is None:
                return False
            del left[: fits + 1]
        return True


def _one_is_the_other(one: str, other: str) -> bool:
    return one == other or (min(len(one), len(other)) == 1 and one[0] == other[0])


def read_names(text: str) -> Iterator[Name]:
    """The names in a sentence, in order: runs of capitalised words that are no months, and none that only begin it."""
    for found in _NAME.finditer(text):
        words = [match for match in _WORDS.finditer(found.group()) if match.group().lower() not in ("s",)]
        kept = [match for match in words if match.group()[0].isupper() and not _is_common(match.group().lower())]
        if kept:
            start, end = found.start() + kept[0].start(), found.start() + kept[-1].end()
            yield Name(Span(start=start, end=end), tuple(match.group().lower() for match in kept))


def _is_common(word: str) -> bool:
    return (word in STOP_WORDS and len(word) > 1) or word in _TITLES or word in _OPENING or word in MONTHS or word in WEEKDAYS
