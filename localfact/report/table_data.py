"""A table as data: columns, rows in groups, facts and notes. formats.py shows it in five formats."""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Literal

from localfact.text import collapse


@dataclass(frozen=True)
class Number:
    """A number in a cell.

    Attributes:
        sd: its standard deviation; None for none.
        decimals: how many people see.
        signed: whether people see a plus sign.

    Raises:
        ValueError: a number is infinite or NaN.
    """

    value: float
    sd: float | None = None
    decimals: int = 2
    signed: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.value) and (self.sd is None or math.isfinite(self.sd))):
            raise ValueError(f"{self.value} ± {self.sd} in a table")

    def __str__(self) -> str:
        """Rounded, the deviation after a space, where a narrow terminal may break the line."""
        # Adding 0.0 turns the -0.0 that rounding leaves of a small negative number into 0.0.
        value = format(round(self.value, self.decimals) + 0.0, f"{'+' if self.signed else ''}.{self.decimals}f")
        return value if self.sd is None else f"{value} ±{self.sd:.{self.decimals}f}"


Cell = str | Number


def number(value: float | None, decimals: int = 2, *, signed: bool = False) -> Cell:
    """The cell of a number that may be missing: empty for None."""
    return "" if value is None else Number(value, decimals=decimals, signed=signed)


@dataclass(frozen=True)
class Column:
    """A column: its head, unique in its table, and the alignment of its cells."""

    name: str
    align: Literal["left", "right"] = "right"


@dataclass(frozen=True)
class Group:
    """Rows under one heading, "" for none; each row has one cell for each column."""

    heading: str
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Table:
    """A table with the facts and notes that readers need.

    Attributes:
        facts: name -> value, about the whole table: which data, which policy.
        notes: sentences for people, below the table.
        grouped_by: what the headings of the groups are, for programs.

    Raises:
        ValueError: a row has more or fewer cells than there are columns, or two columns have one name.
    """

    title: str
    columns: tuple[Column, ...]
    groups: tuple[Group, ...]
    facts: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    grouped_by: str = "group"

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        if len(set(names)) != len(names):
            raise ValueError(f"two columns have one name: {names}")
        for group in self.groups:
            for row in group.rows:
                if len(row) != len(names):
                    raise ValueError(f"a row of {len(row)} cells in a table of {len(names)} columns: {row}")

    def with_deviations(self) -> set[str]:
        """The columns in which some number has a standard deviation."""
        return {
            column.name
            for group in self.groups
            for row in group.rows
            for column, cell in zip(self.columns, row, strict=True)
            if isinstance(cell, Number) and cell.sd is not None
        }


def tell_apart(names: Iterable[str], what: str, taken: Collection[str] = ()) -> list[str]:
    """Names that data gives, on one line each, as heads of columns or keys: none twice and none of ours.

    Args:
        what: they name, in a word; "n" becomes "n (source)" where it is taken, then "n (source 2)".
        taken: names of ours, and others that come before.
    """
    found: dict[str, None] = {}
    for name in map(collapse, names):
        ways = chain((name, f"{name} ({what})"), (f"{name} ({what} {number})" for number in count(2)))
        found[next(way for way in ways if way not in taken and way not in found)] = None
    return list(found)


def name_sources(sources: Iterable[str], taken: Collection[str]) -> list[str]:
    """The sources of prompts as heads of columns, as `tell_apart` makes them; "" is no source."""
    return tell_apart((collapse(source) or "no source" for source in sources), "source", taken)
