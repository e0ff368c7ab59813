"""Reads rows of JSON from a file: JSON lines, a list, or one object. An unusable row is reported and stops no other."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from localfact.errors import InputError

Row = Mapping[str, Any]

#: What json.loads raises: ValueError for no JSON and for numbers of thousands of digits, RecursionError for endless nesting.
UNPARSABLE = (ValueError, RecursionError)
#: How many characters of a file that is not JSON a message shows.
SHOWN_CHARACTERS = 60


class RowError(Exception):
    """Why one row cannot be used."""


def read_rows(path: Path, holding: str) -> Iterator[Row | RowError]:
    """Yields one JSON object a row, or what is wrong with that row.

    Args:
        path: JSON lines, a JSON list, or a single JSON object; UTF-8, invalid bytes become replacement characters.
        holding: what the file should hold, for messages.

    Raises:
        InputError: the file is missing, unreadable, empty, or not JSON at all.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder. Name a file of {holding}.")
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        raise InputError(f"There is no file {path}. Name a file of {holding}.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise InputError(f"{path} is empty. It should hold {holding}.")
    whole = parse_whole(path, text, holding)
    return iter(whole) if whole is not None else (parse_line(line) for line in text.split("\n") if line.strip())


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
