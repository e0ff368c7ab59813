"""The papers' tables as printed: a YAML file each in printed/, named by paper and number, each cell where the paper has it.

A file lists what names a row, the columns, and the rows as they stand in the paper: their names, then a cell a column. A cell
is a number, a number and its standard deviation, a text, or nothing. Known errors of the paper stand with the table, and are
mended nowhere.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import model_validator

from localfact.errors import InputError
from localfact.records import Record
from localfact.runtime.plain_yaml import read_yaml

FOLDER = Path(__file__).resolve().parent / "printed"
#: "Table 12", "fastfact 3", "factreasoner-12", "12": the paper, where it is named, and the number.
_NAME = re.compile(r"(?:(factreasoner|fastfact)[\s-]*)?(?:table\s*|figure\s*|section\s*)?([\d.]+)", re.IGNORECASE)

Cell = float | str | tuple[float, float] | None
#: What a table is of: scores of runs; p-values of differences; a data set; calls or tokens; people beside a run; single claims.
Kind = Literal["scores", "significance", "data", "costs", "alignment", "examples"]


class PrintedTable(Record):
    """One table of a paper.

    Attributes:
        paper: FactReasoner or FastFact.
        number: as printed ("12").
        section: where it stands.
        about: what it shows.
        kind: what its cells are of. data_set, contexts: what the runs were over, where the table is of runs.
        names: what names a row ("model", "assessor").
        columns: of its figures.
        rows: names and cells, in the paper's order.
        needs: what it takes to measure such a table again.
        faults: known errors of the paper in it.
    """

    paper: Literal["FactReasoner", "FastFact"]
    number: str
    section: str
    about: str
    kind: Kind
    data_set: str | None = None
    contexts: str | None = None
    names: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    needs: str = ""
    faults: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _rows_are_whole(self) -> "PrintedTable":
        whole = len(self.names) + len(self.columns)
        for row in self.rows:
            if len(row) != whole:
                raise ValueError(f"row {row[: len(self.names)]} has {len(row)} cells, not {whole}")
            if not all(isinstance(name, str) for name in row[: len(self.names)]):
                raise ValueError(f"row {row[: len(self.names)]} has no names")
        return self

    @property
    def title(self) -> str:
        """Of which paper it is, where it stands, and what it shows."""
        return f"{self.paper}, Table {self.number} ({self.section}): {self.about}"

    def names_of(self, row: tuple[Cell, ...]) -> dict[str, str]:
        """What names a row: "model" -> "llama-3.1-70b-instruct"."""
        return {name: str(value) for name, value in zip(self.names, row, strict=False)}

    def figures(self, row: tuple[Cell, ...]) -> dict[str, Cell]:
        """Column -> cell of a row, empty ones left out."""
        cells = zip(self.columns, row[len(self.names) :], strict=True)
        return {column: cell for column, cell in cells if cell is not None}


@cache
def printed_tables() -> Mapping[tuple[str, str], PrintedTable]:
    """All tables: (paper, number) -> table, each paper's in the order of their numbers."""
    found = [PrintedTable.model_validate(read_yaml(file.read_bytes())) for file in sorted(FOLDER.glob("*.yaml"))]
    found.sort(key=lambda table: (table.paper, [int(part) for part in table.number.split(".")]))
    return {(table.paper, table.number): table for table in found}


def printed_table(name: str) -> PrintedTable:
    """The table that is called so: "12" is FactReasoner's, "fastfact 3" FastFact's.

    Raises:
        InputError: there is none.
    """
    found = _NAME.fullmatch(name.strip())
    if found is not None:
        paper = "FastFact" if (found[1] or "").lower() == "fastfact" else "FactReasoner"
        if (paper, found[2]) in printed_tables():
            return printed_tables()[paper, found[2]]
    raise InputError(f"There is no table '{name}'. `localfact papers tables` lists them: 12, or fastfact-3.")
