"""Reads rows of a table whose first line names its columns: CSV, TSV, and what Excel and pandas write under these names."""

import ast
import csv
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from localfact.errors import InputError
from localfact.inputs.json_rows import KNOWN_NAMES, TEXT_NAMES, UNPARSABLE, Row, RowError, names_of, plain_name

Line = TypeVar("Line")

#: Ending of a file that is a table -> what usually stands between its cells.
DELIMITERS: Mapping[str, str] = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
#: What may stand there instead, and what messages call it.
SEPARATORS: Mapping[str, str] = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
#: The most characters of a cell; the library's own limit is shorter than some responses.
LONGEST_CELL = 50_000_000
#: The most characters of a cell that is read as a list that Python wrote.
LONGEST_LIST = 1_000_000
#: Cells that stand for no value, as pandas and databases write it.
MISSING = frozenset({"", "nan", "<na>", "null", "none"})
#: How often reading goes on after a quote that is never closed.
MOST_OPEN_QUOTES = 100
#: How Excel is told in a first line what separates the cells, and how pandas names a column that has no name.
_SEP = re.compile(r'"?sep=(.)"?\s*$', re.IGNORECASE)
_NAMELESS = re.compile(r"(?:unnamed:_\d+)?")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
#: A text in a list that numpy wrote, and the white space where its comma would be. One that is not closed reaches to the end.
_TEXT = r"{0}(?:[^{0}\\]|\\.)*+(?:{0}|\\?\Z)"
_NO_COMMA = re.compile(rf"""({_TEXT.format("'")}|{_TEXT.format('"')})(\s+(?=['"]))?""", re.DOTALL)


def separator_in(lines: Sequence[str], usual: str | None) -> str | None:
    """What separates the cells under a head: that by which most of the names are known, else that which makes most columns.

    Args:
        lines: the first of the table.
        usual: what its ending stands for; None for a file that may be no table.

    Returns:
        None where no table was expected, and no name of the head is known.
    """
    known: dict[str, tuple[int, bool, int]] = {}
    for one in SEPARATORS:
        head = _head(lines, one)
        known[one] = (sum(name in KNOWN_NAMES for name in head), one == usual and len(head) > 1, len(head))
    best = max(known, key=lambda one: known[one])
    if usual is None:  # the second line of a table has as many cells as its head, and at least two
        records = list(itertools.islice(csv.reader(iter(lines), delimiter=best, skipinitialspace=True), 2))
        return best if known[best][0] and 1 < len(records[0]) == len(records[-1]) and len(records) == 2 else None
    return usual if known[best][2] <= 1 else best


def _head(lines: Sequence[str], separator: str) -> list[str]:
    try:
        return [plain_name(name) for name in next(csv.reader(iter(lines), delimiter=separator, skipinitialspace=True), [])]
    except csv.Error:
        return []


def separator_named(line: str) -> str | None:
    """What a first line as Excel reads it ("sep=;") says; None for any other line."""
    said = _SEP.match(line)
    return said[1] if said else None


def table_rows(
    path: Path, lines: Iterator[str], separator: str, note: Callable[[str], None], answers: Sequence[str] = ()
) -> Iterator[Row | RowError]:
    """Yields a row of a table as a mapping from column to cell, without empty cells; names are as ours are written.

    A column without a name is pandas' index: its cells are ids where they are no numbers and there are no others.

    Args:
        lines: of the file, with their ends.
        note: is told at the end what was not read.
        answers: names of which the head must have one.

    Raises:
        InputError: the table has no head, two columns have the same name, or none has one of `answers`.
    """
    csv.field_size_limit(LONGEST_CELL)
    records = _Records(lines, separator)
    try:
        written = next((cells for cells in records if any(cell.strip() for cell in cells)), [])
    except csv.Error as error:
        raise InputError(f"{path} is no table: {error}.") from None
    head = [plain_name(name) if plain_name(name) in KNOWN_NAMES else name.replace("\ufeff", "").strip() for name in written]
    head = ["" if _NAMELESS.fullmatch(plain_name(name)) else name for name in head]
    named = [name for name in head if name]
    if not named or len(set(named)) < len(named):
        raise InputError(f"The columns of {path} need different names in its first line; it has {', '.join(head)}.")
    if answers and not set(named) & set(answers):
        raise InputError(_without_answers(path, separator, named))
    return _rows(records, head, note)


def _without_answers(path: Path, separator: str, named: Sequence[str]) -> str:
    several = f"{SEPARATORS.get(separator, repr(separator))} separate {len(named)} columns"
    columns = several if len(named) > 1 else "it has one column"
    return (
        f"{path} has no response: {columns} ({names_of(named)}), and none is a response. "
        "Its first line must name the columns; call that of the texts 'response', or as docs/inputs.md has it."
    )


def _rows(records: "_Records", head: Sequence[str], note: Callable[[str], None]) -> Iterator[Row | RowError]:
    nameless = 0
    for cells in lines_or_errors(records):
        if isinstance(cells, csv.Error):
            yield RowError(f"The row is no row of a table: {cells}.")
        elif any(cell.strip() for cell in cells):
            if any(cell.strip() for cell in cells[len(head) :]):
                yield RowError(f"The row has {len(cells)} cells under {len(head)} names.")
                continue
            row = {name: _value(name, cell) for name, cell in zip(head, cells, strict=False) if name and not _is_missing(cell)}
            if head[0] == "" and "id" not in head and not _NUMBER.fullmatch(cells[0].strip() or "0"):
                row["id"] = cells[0]
            unread = (cell.strip() for name, cell in zip(head[1:], cells[1:], strict=False) if not name)
            nameless += any(cell and not _NUMBER.fullmatch(cell) for cell in unread)
            yield row
    if nameless:
        note(f"Cells under a column without a name were not read, in {nameless} rows. Name the column in the first line.")


def _is_missing(cell: str) -> bool:
    return cell.strip().casefold() in MISSING


class _Records:
    """The records of a table; a quote that is not closed spoils the line where it was opened, not those that follow."""

    def __init__(self, lines: Iterator[str], separator: str) -> None:
        self.separator = separator
        self.lines, self.taken = lines, [""]
        self.number = self.reopened = self.width = 0
        self.reader = self._read()

    def _read(self) -> Iterator[list[str]]:
        return csv.reader(map(self._take, self.lines), delimiter=self.separator, skipinitialspace=self.separator != "\t")

    def _take(self, line: str) -> str:
        self.taken.append(line)
        return line

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        self.number += len(self.taken)
        self.taken = []
        cells = next(self.reader)
        self.width = self.width or len(cells)
        if len(self.taken) > 1 and (len(cells) > self.width or self._is_torn()):
            if self.reopened == MOST_OPEN_QUOTES:
                raise csv.Error(f"a quote in line {self.number} is not closed, nor were {self.reopened} before it")
            self.reopened += 1
            self.lines, self.taken = itertools.chain(self.taken[1:], self.lines), self.taken[:1]
            self.reader = self._read()
            raise csv.Error(f"a quote in line {self.number} is not closed there")
        return cells

    def _is_torn(self) -> bool:
        """Whether what was taken for one record of several lines has a quote that does not close as it should."""
        try:
            list(csv.reader(iter(self.taken), delimiter=self.separator, strict=True))
        except csv.Error:
            return True
        return False


def lines_or_errors(lines: Iterator[Line]) -> Iterator[Line | csv.Error]:
    """What a reader of the csv module yields; a line that it cannot read does not stop the others."""
    while True:
        try:
            yield next(lines)
        except StopIteration:
            return
        except csv.Error as error:
            yield error


def _value(name: str, cell: str) -> Any:
    """A cell: a text; or a list or an object, as JSON or as Python and numpy write them, but where its column holds texts."""
    if name in TEXT_NAMES or not cell.lstrip().startswith(("[", "{")):
        return cell
    try:
        return json.loads(cell)
    except UNPARSABLE:
        return _python_value(cell)


def _python_value(cell: str) -> Any:
    if len(cell) > LONGEST_LIST:
        return cell
    try:
        # Only constants, lists and dictionaries are read so; nothing of it is run.
        value = ast.literal_eval(_NO_COMMA.sub(lambda text: text[1] + "," * (text[2] is not None), cell.strip()))
    except (*UNPARSABLE, SyntaxError, MemoryError, TypeError):
        return cell
    return value if isinstance(value, list | dict) and _is_plain(value) else cell


def _is_plain(value: object) -> bool:
    """Whether a value has a form in JSON."""
    if isinstance(value, dict):
        return all(isinstance(name, str) for name in value) and all(map(_is_plain, value.values()))
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int | float | bool)
