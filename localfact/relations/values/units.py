"""Units of measure, from units.txt: "<dimension> <factor> <spelling> ..." a line, "_" for a space."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

UNITS_FILE = Path(__file__).with_name("units.txt")


class MeasuringUnit(NamedTuple):
    """What a spelling of a unit may mean.

    Attributes:
        factors: dimension -> how many of its basic unit one is. "pounds" are of two dimensions.
    """

    factors: tuple[tuple[str, float], ...]


@cache
def units() -> dict[str, MeasuringUnit]:
    """Spelling -> unit. One-letter spellings and those with capitals inside as they are written, others in lower case."""
    found: dict[str, list[tuple[str, float]]] = {}
    for line in UNITS_FILE.read_text(encoding="utf-8").splitlines():
        dimension, factor, *spellings = line.split()
        for spelling in spellings:
            found.setdefault(spelling.replace("_", " "), []).append((dimension, float(factor)))
    return {spelling: MeasuringUnit(tuple(several)) for spelling, several in found.items()}


@cache
def unit_pattern() -> str:
    """A regular expression of all spellings, the longest first."""
    spelled = sorted(units(), key=len, reverse=True)
    return "|".join(re.escape(one) + (r"(?![\w²³])" if one[-1].isalnum() else "") for one in spelled)
