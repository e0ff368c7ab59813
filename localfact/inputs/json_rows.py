"""Reads rows from a file: JSON lines, a JSON list or object, or a table (CSV, TSV). An unusable row stops no other."""

import csv
import io
import itertools
import json
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from localfact.errors import InputError

Row = Mapping[str, Any]
Line = TypeVar("Line")

#: What json.loads raises: ValueError for no JSON and for numbers of thousands of digits, RecursionError for endless nesting.
UNPARSABLE = (ValueError, RecursionError)
#: How many characters of a file that is not JSON a message shows.
SHOWN_CHARACTERS = 60
#: Ending of a file that is a table -> what stands between its cells.
DELIMITERS: Mapping[str, str] = {".csv": ",", ".tsv": "\t"}
#: The most characters of a cell; the library's own limit is shorter than some responses.
LONGEST_CELL = 50_000_000


class RowError(Exception):
    """Why one row cannot be used."""


def read_rows(path: Path, holding: str) -> Iterator[Row | RowError]:
    """Yields one mapping a row, or what is wrong with that row.

    Args:
        path: JSON lines, a JSON list, a single JSON object, or a table with a head (.csv, .tsv), whose cells are texts, or JSON
            where they are a list or an object; UTF-8, invalid bytes become replacement characters.
        holding: what the file should hold, for messages.

    Raises:
        InputError: the file is missing, unreadable, empty, or not JSON at all.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder. Name a file of {holding}.")
    text = read_text(path, holding)
    if path.suffix.lower() in DELIMITERS:
        return table_rows(path, text, DELIMITERS[path.suffix.lower()], holding)
    whole = parse_whole(path, text, holding)
    return iter(whole) if whole is not None else (parse_line(line) for line in text.split("\n") if line.strip())


def read_text(path: Path, holding: str) -> str:
    """The text of a file, UTF-8; invalid bytes become lone surrogates, which `readable` makes replacement characters of.

    Raises:
        InputError: the file is missing, unreadable or empty.
    """
    try:
        text = path.read_text(encoding="utf-8-sig", errors="surrogateescape")
    except FileNotFoundError:
        raise InputError(f"There is no file {path}. Name a file of {holding}.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    if not text.strip():
        raise InputError(f"{path} is empty. It should hold {holding}.")
    return text


def table_rows(path: Path, text: str, delimiter: str, holding: str) -> Iterator[Row | RowError]:
    """Yields a row of a table as a mapping from column to cell, without empty cells.

    Raises:
        InputError: the table has no head, or a column has no name or that of another.
    """
    csv.field_size_limit(LONGEST_CELL)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        head = [name.strip() for name in next(lines, [])]
    except csv.Error as error:
        raise InputError(f"{path} is no table: {error}. It should hold {holding}.") from None
    if "" in head or len(set(head)) < len(head):
        raise InputError(f"The columns of {path} need different names in its first line; it has {', '.join(head)}.")
    return _table_rows(lines, head)


def _table_rows(lines: Iterator[list[str]], head: Sequence[str]) -> Iterator[Row | RowError]:
    for cells in lines_or_errors(lines):
        if isinstance(cells, csv.Error):
            yield RowError(f"The row is no row of a table: {cells}.")
        elif any(cells):
            too_many = RowError(f"The row has {len(cells)} cells under {len(head)} names.") if len(cells) > len(head) else None
            yield too_many or _values(dict(zip(head, cells, strict=False)))


def lines_or_errors(lines: Iterator[Line]) -> Iterator[Line | csv.Error]:
    """What a reader of the csv module yields; a line that it cannot read does not stop the others."""
    while True:
        try:
            yield next(lines)
        except StopIteration:
            return
        except csv.Error as error:
            yield error


def _values(cells: Mapping[str, str]) -> Row:
    return {name: _value(cell) for name, cell in cells.items() if cell.strip()}


def _value(cell: str) -> Any:
    if not cell.lstrip().startswith(("[", "{")):
        return cell
    try:
        return json.loads(cell)
    except UNPARSABLE:
        return cell


def first(row: Row, keys: Sequence[str]) -> Any:
    """The value of the first of `keys` that the row has with a value other than null."""
    return next((row[key] for key in keys if row.get(key) is not None), None)


def find_unused_name(name: str, used: Container[str]) -> str:
    """The name, or the first of "name#2", "name#3", ... that is not used yet."""
    repetitions = (f"{name}#{count}" for count in itertools.count(2))
    return next(one for one in itertools.chain([name], repetitions) if one not in used)


def broken_bytes(path: Path) -> int:
    """How many bytes of the file are not UTF-8; `read_rows` makes a replacement character of each."""
    text = path.read_bytes().decode("utf-8", errors="surrogateescape")
    return sum("\udc80" <= character <= "\udcff" for character in text) if not text.isascii() else 0


def parse_whole(path: Path, text: str, holding: str) -> list[Row | RowError] | None:
    """The rows of a JSON list or of a single object spread over lines; None when the text is JSON lines."""
    try:
        document = json.loads(text)
    except UNPARSABLE as error:
        if any(isinstance(parse_line(line), dict) for line in text.split("\n")):
            return None
        shown = text.lstrip().split("\n", 1)[0][:SHOWN_CHARACTERS]
        raise InputError(f"{path} is not JSON: {error}. It should hold {holding} (it begins with {shown!r}).") from None
    rows = document if isinstance(document, list) else [document]
    if not rows:
        raise InputError(f"{path} is an empty list. It should hold {holding}.")
    return [row if isinstance(row, dict) else RowError("The row is not a JSON object.") for row in rows]


def parse_line(line: str) -> Row | RowError:
    """Parses one line of JSON lines."""
    try:
        row = json.loads(line)
    except UNPARSABLE as error:
        return RowError(f"The line is not JSON: {error}.")
    return row if isinstance(row, dict) else RowError("The line is not a JSON object.")
