"""Reads rows from a user's file, whatever its form: JSON lines, a document of JSON, a table, plain text, a folder of texts, or
another tool's log or data set.

JSON lines and tables are read a line at a time. What cannot be used is a bad row that stops no other, or is told in a note.
"""

import hashlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from localfact.errors import InputError
from localfact.inputs.arrow_tables import is_table, rows_of_tables, table_files
from localfact.inputs.batches import Prompts, requests_beside
from localfact.inputs.broken_json import whole_elements
from localfact.inputs.json_rows import Row, RowError, UnparsedJsonError, as_row, names_of, parse_json
from localfact.inputs.json_shapes import unfold
from localfact.inputs.logs.inspect_logs import archive_rows, is_eval_archive
from localfact.inputs.logs.known_logs import LogLines, log_rows
from localfact.inputs.logs.lm_eval import results_beside
from localfact.inputs.plain_texts import MARKDOWN, PLAIN, folder_rows, text_row, texts_in
from localfact.inputs.tables import DELIMITERS, separator_in, separator_named, table_rows
from localfact.inputs.text_files import count_broken, open_text
from localfact.runtime.files import file_digest
from localfact.text import path_text

#: How many characters of a file that is not JSON a message shows.
SHOWN_CHARACTERS = 60
#: How many lines tell what separates the cells of a table.
HEAD_LINES = 20


class OpenedRows(NamedTuple):
    """The rows of a file, to be taken once; `notes` has, by any name, what a reader must know of those taken so far."""

    rows: Iterator[Row | RowError]
    notes: dict[str, str]


def read_rows(path: Path, holding: str) -> Iterator[Row | RowError]:
    """The rows of a file; arguments and errors as of `open_rows`."""
    return open_rows(path, holding).rows


def open_rows(path: Path, holding: str, answers: Sequence[str] = ()) -> OpenedRows:
    """The rows of a file: one mapping a row, or what is wrong with that row.

    Args:
        path: JSON lines; a document of JSON in one of the forms of `json_shapes.unfold`; a table with a head, whose cells are
            texts, or lists and objects as JSON or Python write them; UTF-8, UTF-16 or UTF-32. Parquet, Arrow, and folders of
            them; a tool's log (`logs/`). With `answers` plain text, too, or a folder of such files.
        holding: what the file should hold, for messages.
        answers: names of the fields that hold a response, where the rows are responses: a table without one is refused.

    Raises:
        InputError: the file is missing, unreadable, empty, or nothing of it is a row; also while rows are taken.
    """
    notes: dict[str, str] = {}
    if path.is_dir() and not is_table(path):
        if not answers:
            raise InputError(f"{path} is a folder. Name a file of {holding}.")
        return OpenedRows(folder_rows(path, holding, lambda text: notes.update({text: text})), notes)
    rows = _rows_of(path, holding, answers, notes)
    # What is wrong with the file as a whole is raised here, before anybody takes a row.
    head = list(itertools.islice(rows, 1))
    if not head:
        raise InputError(f"{path} is empty. It should hold {holding}.")
    return OpenedRows(itertools.chain(head, rows), notes)


def data_digest(path: Path) -> str:
    """SHA-256 of all that is read of a file or a folder, in hexadecimal: of the file itself where that is all."""
    if path.is_dir():
        files = table_files(path) or texts_in(path)[0]
    else:
        requests, results = requests_beside(path), results_beside(path)
        beside = [*(requests if len(requests) == 1 else ()), *([results] if results is not None else ())]
        if not beside:
            return file_digest(path)
        path, files = path.parent, [path, *beside]
    whole = hashlib.sha256()
    for file in files:
        whole.update(f"{path_text(file.relative_to(path))}\0{file_digest(file)}\n".encode())
    return whole.hexdigest()


def _rows_of(path: Path, holding: str, answers: Sequence[str], notes: dict[str, str]) -> Iterator[Row | RowError]:
    def note(text: str) -> None:
        notes[text] = text

    if is_table(path):
        lines = LogLines(path, notes)
        values = (row for value in rows_of_tables(path, answers, note) for row in lines.rows(value))
        yield from (_row(value, False, "row") for value in values)
    elif _is_zip(path) and is_eval_archive(path):
        yield from archive_rows(path, note)
    else:
        rows, requests = _rows_of_text(path, holding, answers, notes), requests_beside(path)
        if len(requests) > 1:
            names = names_of(one.name for one in requests)
            note(f"Answers have no prompt from beside them: {names} all hold requests of this batch. Leave one of them there.")
        yield from map(Prompts(requests[0], notes.__setitem__).join, rows) if len(requests) == 1 else rows


def _is_zip(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == b"PK\x03\x04"
    except OSError:
        return False


def _rows_of_text(path: Path, holding: str, answers: Sequence[str], notes: dict[str, str]) -> Iterator[Row | RowError]:
    def note(text: str) -> None:
        notes[text] = text

    with open_text(path, holding) as file:
        read = _count_broken_bytes(file, path, notes)
        head = list(itertools.islice(itertools.dropwhile(_is_blank, read), HEAD_LINES))
        if not head:
            raise InputError(f"{path} is empty. It should hold {holding}.")
        lines = itertools.chain(head, read)
        if not _begins_json(head[0]) and (separated := _separator(path, head)) is not None:
            if separator_named(head[0]):
                next(lines)
            yield from table_rows(path, lines, separated, note, answers)
        elif _may_be_prose(path) and answers:
            yield from _json_or_prose(path, holding, lines, notes)
        else:
            yield from _json_rows(path, holding, lines, bool(answers), notes)


def _count_broken_bytes(lines: Iterator[str], path: Path, notes: dict[str, str]) -> Iterator[str]:
    """The lines, with a note of how many bytes of them were not UTF-8."""
    broken = 0
    for line in lines:
        if found := count_broken(line):
            broken += found
            said = f"{path_text(path)} is not UTF-8 throughout: {broken:,} bytes became replacement characters."
            notes["broken"] = f"{said} Convert it, with iconv say."
        yield line


def _is_blank(line: str) -> bool:
    return not line.strip("\ufeff\x1e \t\r\n")


def _begins_json(line: str) -> bool:
    return line.lstrip("\ufeff\x1e \t").startswith(("{", "["))


def _separator(path: Path, head: Sequence[str]) -> str | None:
    """What separates the cells of a table; None for what is none."""
    if (named := separator_named(head[0])) is not None:
        return named
    suffix = path.suffix.lower()
    return None if suffix in MARKDOWN else separator_in(head, DELIMITERS.get(suffix))


def _may_be_prose(path: Path) -> bool:
    return path.suffix.lower() in ("", *PLAIN)


def _json_or_prose(path: Path, holding: str, lines: Iterator[str], notes: dict[str, str]) -> Iterator[Row | RowError]:
    text = "".join(lines)
    if _begins_json(text):
        try:
            yield from _json_rows(path, holding, iter(text.splitlines(keepends=True)), True, notes)
        except InputError:
            pass
        else:
            return
    yield text_row(text, path_text(path.stem), markdown=path.suffix.lower() in MARKDOWN)


def _json_rows(path: Path, holding: str, lines: Iterator[str], texts: bool, notes: dict[str, str]) -> Iterator[Row | RowError]:
    """Rows of JSON lines, which are not held together in memory, or of a document.

    Args:
        texts: whether a text is a row, too: a response.
    """
    first, logged = next(lines), LogLines(path, notes)
    more = list(itertools.islice(itertools.filterfalse(_is_blank, lines), 1))
    if more and not isinstance(parse_json(first), UnparsedJsonError):
        for line in itertools.chain([first], more, lines):
            if not _is_blank(line):
                yield from (_row(value, texts, "line") for value in logged.rows(parse_json(line)))
        return
    text = "".join(itertools.chain([first], more, lines)).lstrip("\ufeff")
    document = parse_json(text)
    if (known := log_rows(path, document, lambda said: notes.update({said: said}))) is not None:
        yield from known
        return
    if not isinstance(document, UnparsedJsonError):
        values = unfold(document, lambda said: notes.update({said: said}))
        if not values:
            raise InputError(f"{path} is an empty list. It should hold {holding}.")
        yield from (_row(value, texts, "row") for each in values for value in logged.rows(each))
        return
    rows = [_row(value, texts, "row") for each in _save_rows(text) for value in logged.rows(each)]
    if not any(isinstance(row, Mapping) for row in rows):
        shown = text.lstrip().split("\n", 1)[0][:SHOWN_CHARACTERS]
        raise InputError(f"{path} is not JSON: {document}. It should hold {holding} (it begins with {shown!r}).")
    yield from rows


def _save_rows(text: str) -> list[Any]:
    """What can be read of a text that is no JSON as a whole: its lines, where half of them are objects; else its elements."""
    lines = [parse_json(line) for line in text.split("\n") if not _is_blank(line)]
    if sum(isinstance(line, dict) for line in lines) * 2 >= len(lines):
        return lines
    return list(whole_elements(text))


def _row(value: object, texts: bool, what: str) -> Row | RowError:
    return {"response": value} if texts and isinstance(value, str) else as_row(value, what)
