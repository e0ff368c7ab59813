"""Reads plain text and Markdown as responses: a file each, or a folder of them, whose names are the ids."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from localfact.errors import InputError
from localfact.inputs.json_rows import Row, UnparsedJsonError, parse_json
from localfact.inputs.text_files import read_text
from localfact.runtime.plain_yaml import read_yaml
from localfact.text import path_text

#: Endings of files that are plain text.
MARKDOWN = (".md", ".markdown")
PLAIN = (".txt", ".text", *MARKDOWN)
#: Endings of files that hold rows.
ROWS = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".tab", ".parquet", ".arrow")
#: What a PDF and a file of a word processor begin with.
BINARY = ("%PDF-", "PK\x03\x04")
#: Folders that are something else, by a file in them.
OTHER_FOLDERS = {"run.yaml": "a run folder", "corpus.yaml": "a corpus"}
#: What the lines between two --- at the head of a Markdown file may say of it.
HEADING_NAMES = ("id", "prompt", "topic", "model", "source")
LONGEST_HEADING = 10_000
#: How many files that were passed over are named.
NAMED = 3


def text_row(text: str, name: str, *, markdown: bool) -> Row:
    """The row of a text: its name as id, and what its Markdown says of it at the head (front matter)."""
    text = text.replace("\r\n", "\n")
    said, text = _front_matter(text) if markdown else ({}, text)
    return {"id": name, **said, "response": text}


def check_single_text(file: Path, text: str) -> None:
    """Checks that a file that was named as one text is that.

    Raises:
        InputError: it holds rows, by its ending or as JSON, or is no text, as a PDF.
    """
    if "\0" in text or text.startswith(BINARY):
        raise InputError(f"{file} is no text file in UTF-8: save its text as one.")
    if file.suffix.lower() in ROWS or _is_json(text) or _is_json(text.strip().partition("\n")[0]):
        raise InputError(f"{file} holds data, not one text. For the responses in it: localfact eval --data {file}")


def _is_json(text: str) -> bool:
    """Whether the text is an object of JSON, or a list that begins with one."""
    if not text.strip("\ufeff \t\r\n").startswith(("{", "[")):
        return False
    try:
        value = parse_json(text)
    except UnparsedJsonError:
        return False
    return isinstance(value, Mapping) or (isinstance(value, list) and isinstance(next(iter(value), None), Mapping))


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    """What the lines between --- at the head say, and the text without them; all of the text where they say nothing."""
    end = text[:LONGEST_HEADING].find("\n---\n", 3)
    if not text.startswith("---\n") or end < 0:
        return {}, text
    try:
        given: Any = read_yaml(text[4 : end + 1].encode("utf-8", "replace"))
    except ValueError:
        return {}, text
    if not isinstance(given, dict):
        return {}, text
    said = {name: str(given[name]) for name in HEADING_NAMES if isinstance(given.get(name), str | int)}
    return said, text[end + len("\n---\n") :].lstrip("\n")


def folder_rows(folder: Path, holding: str, note: Callable[[str], None]) -> Iterator[Row]:
    """The rows of the texts in a folder and in those in it, by their names; one that cannot be read is a bad row.

    An id is the file's path in the folder without its ending; with it where that tells two files apart.

    Raises:
        InputError: there is none, or the folder is a run or a corpus.
    """
    other = next((what for name, what in OTHER_FOLDERS.items() if (folder / name).is_file()), None)
    if other is not None:
        raise InputError(f"{folder} is {other}. Name a file or a folder of {holding}.")
    files, passed_over = texts_in(folder)
    if passed_over:
        named = ", ".join(passed_over[:NAMED])
        more = f" and {len(passed_over) - NAMED} more" if len(passed_over) > NAMED else ""
        note(f"Passed over in {path_text(folder)}, as no {' or '.join(PLAIN)}: {named}{more}. Such a file can be named itself.")
    if not files:
        raise InputError(f"The folder {folder} has no text file ({', '.join(PLAIN)}). Name a file or a folder of {holding}.")
    times = Counter(_stem(file, folder) for file in files)
    return (_row_in(file, folder, times, holding) for file in files)


def texts_in(folder: Path) -> tuple[list[Path], list[str]]:
    """The text files of a folder and of the folders in it, sorted, and the paths of its other files; hidden ones are neither.

    Raises:
        InputError: the folder cannot be read.
    """
    texts, others = [], []

    def refuse(error: OSError) -> None:
        raise InputError(f"{error.filename} cannot be read: {error.strerror}.")

    for place, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            file = Path(place, name)
            if name.startswith(".") or not file.is_file():
                continue
            if file.suffix.lower() in PLAIN:
                texts.append(file)
            else:
                others.append(path_text(file.relative_to(folder)))
    return texts, others


def _stem(file: Path, folder: Path) -> str:
    return path_text(file.relative_to(folder).with_suffix("").as_posix())


def _row_in(file: Path, folder: Path, times: Counter[str], holding: str) -> Row:
    stem = _stem(file, folder)
    name = stem if times[stem] == 1 else path_text(file.relative_to(folder).as_posix())
    try:
        return text_row(read_text(file, holding), name, markdown=file.suffix.lower() in MARKDOWN)
    except InputError as error:
        return {"id": name, "error_message": str(error)}
