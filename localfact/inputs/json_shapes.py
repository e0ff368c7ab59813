"""Finds the rows in a document of JSON: a list, an object that wraps one, and tables as pandas and others write them."""

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from localfact.inputs.json_rows import MESSAGE_KEYS, NAMES, is_conversation, is_message, names_of, plain_name

#: How deep an object may wrap the rows.
DEEPEST = 3
#: By how much the texts of the longest column must exceed those of any other, where columns have no names.
LONGEST_BY = 2.0
#: Under what name the names of columns stand beside rows of cells.
HEADS = ("columns", "header", "headers", "fields")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


def unfold(document: object, note: Callable[[str], None], depth: int = DEEPEST) -> list[Any]:
    """The rows of a document, as values that need not be objects.

    The forms are those of pandas' `to_json` in every orientation, of a dictionary of lists (`datasets`), of an object with the
    rows under some name beside other things, and one row or one conversation by itself.

    Args:
        note: is told what had to be guessed, or was left out.
        depth: how many objects may still wrap the rows.
    """
    if isinstance(document, list):
        return _of_list(document, note)
    if not isinstance(document, dict) or depth == 0:
        return [document]
    known = {plain_name(name): value for name, value in document.items()}
    if any(isinstance(known.get(name), str) for name in NAMES):
        return [document]
    cells = document.get("data", document.get("rows"))
    head = next((document[name] for name in HEADS if name in document), None)
    if isinstance(cells, list) and isinstance(head, list) and any(isinstance(one, list) for one in cells):
        return _under_head(head, cells, document.get("index"), note)
    if cells == []:
        return []
    if (isinstance(cells, list) and {"name", "index"} <= document.keys()) or _is_series(document):
        return cells if isinstance(cells, list) else list(document.values())
    if isinstance(document.get("schema"), dict) and isinstance(cells, list):
        return _without_key(cells, document["schema"])
    if _is_columns(known):
        return _of_columns(known)
    if _is_index(document):
        return [_name_row(row, label) for label, row in document.items()]
    inner = {name: value for name, value in document.items() if plain_name(name) not in NAMES and _holds_rows(value)}
    if not inner:
        return [document]
    if len(inner) > 1:
        note(f"The rows of {names_of(inner)} were read one after the other.")
    return [row for value in inner.values() for row in unfold(value, note, depth - 1)]


def _of_list(document: list[Any], note: Callable[[str], None]) -> list[Any]:
    if is_conversation(document):
        return [document]
    if not document or not all(isinstance(one, list) and not is_conversation(one) for one in document):
        return document
    if all(isinstance(name, str) for name in document[0]) and any(plain_name(name) in NAMES for name in document[0]):
        return _under_head(document[0], document[1:], None, note)
    return _without_names(document, note)


def _holds_rows(value: object, depth: int = DEEPEST) -> bool:
    """Whether a value inside an object holds rows with names that we know."""
    if isinstance(value, dict):
        columns = {plain_name(name): cells for name, cells in value.items()}
        deeper = (cells for name, cells in columns.items() if name not in NAMES) if depth else ()
        return _is_columns(columns) or _is_index(value) or any(_holds_rows(cells, depth - 1) for cells in deeper)
    return isinstance(value, list) and any(
        isinstance(one, dict) and not is_message(one) and any(plain_name(name) in NAMES for name in one) for one in value
    )


def _is_columns(columns: Mapping[str, Any]) -> bool:
    """Whether a known name has a list of cells, or all names have cells by label."""
    if _has_cells(columns):
        return True
    values = list(columns.values())
    if not all(isinstance(cells, dict) for cells in values) or columns.keys().isdisjoint(NAMES):
        return False
    labels = values[0].keys()
    return labels.isdisjoint(MESSAGE_KEYS) and all(cells.keys() == labels for cells in values)


def _has_cells(columns: Mapping[str, Any]) -> bool:
    return any(_is_cells(columns.get(name)) for name in NAMES - {"claims", "atoms"})


def _is_series(document: Mapping[str, Any]) -> bool:
    """Whether an object is texts by number."""
    return bool(document) and all(isinstance(text, str) and _NUMBER.fullmatch(name) for name, text in document.items())


def _is_cells(value: object) -> bool:
    """Whether a value is a column: texts, or conversations."""
    if not isinstance(value, list) or not value:
        return False
    return all(one is None or isinstance(one, str) or is_conversation(one) for one in value)


def _is_index(document: Mapping[str, Any]) -> bool:
    """Whether every value is a row of known names, and the names are labels."""
    rows = document.values()
    return bool(document) and all(
        isinstance(row, dict) and not is_message(row) and not _has_cells(row) and any(plain_name(name) in NAMES for name in row)
        for row in rows
    )


def _of_columns(columns: Mapping[str, Any]) -> list[Any]:
    """The rows of columns; a value that is no column stands in every row."""
    lists = {name: cells for name, cells in columns.items() if isinstance(cells, list)}
    constant = {name: cells for name, cells in columns.items() if not isinstance(cells, list | dict)}
    if lists:
        cells = itertools.zip_longest(*lists.values())
        return [constant | dict(zip(lists, row, strict=True)) for row in cells]
    tables = {name: cells for name, cells in columns.items() if isinstance(cells, dict)}
    return [_name_row({name: cells[label] for name, cells in tables.items()}, label) for label in next(iter(tables.values()))]


def _name_row(row: Mapping[str, Any], label: object) -> dict[str, Any]:
    """A row, with its label in the table as id where it has none and the label is no number."""
    known = {plain_name(name) for name in row}
    counted = label is None or isinstance(label, int | float) or _NUMBER.fullmatch(str(label))
    return dict(row) if counted or "id" in known or "custom_id" in known else {"id": str(label), **row}


def _under_head(head: Sequence[Any], rows: Sequence[Any], index: object, note: Callable[[str], None]) -> list[Any]:
    """Rows that are lists, under the names of their columns."""
    head = [name.get("name") if isinstance(name, dict) else name for name in head]
    names = [".".join(map(str, name)) if isinstance(name, list) else str(name) for name in head]
    labels = index if isinstance(index, list) and len(index) == len(rows) else [None] * len(rows)
    longer = sum(isinstance(row, list) and len(row) > len(names) for row in rows)
    if longer:
        note(f"{longer} rows have more cells than there are names of columns; those beyond were not read.")
    return [
        _name_row(dict(zip(names, row, strict=False)), label) if isinstance(row, list) else row
        for row, label in zip(rows, labels, strict=True)
    ]


def _without_key(rows: Sequence[Any], schema: Mapping[str, Any]) -> list[Any]:
    """The rows of pandas' table, whose index is a column without a meaning of its own."""
    keys = schema.get("primaryKey")
    keys = [key for key in keys if key == "index"] if isinstance(keys, list) else []
    return [
        _name_row({name: value for name, value in row.items() if name not in keys}, next((row.get(key) for key in keys), None))
        if isinstance(row, dict)
        else row
        for row in rows
    ]


def _without_names(rows: Sequence[list[Any]], note: Callable[[str], None]) -> list[Any]:
    """Rows of cells without names: what is by far the longest text is the response; where nothing is, all stay as they are."""
    lengths = [
        sum(len(cell) for cell in column if isinstance(cell, str)) for column in itertools.zip_longest(*rows, fillvalue=None)
    ]
    best, *others = sorted(range(len(lengths)), key=lambda place: -lengths[place]) or [0]
    if not lengths or not lengths[best] or any(lengths[other] * LONGEST_BY > lengths[best] for other in others):
        return list(rows)
    rest = f"; the other {len(others)} were not read" if others else ""
    note(f"The cells have no names, so those in place {best + 1}, by far the longest texts, are taken for the responses{rest}.")
    return [{"response": row[best]} if len(row) > best else row for row in rows]
