"""Reads FACTOR's questions (AI21Labs/factor): a text, its true completion, and three false completions.

An unusable row is reported and stops no other; localfact/api/roc.py has relation models judge the completions.
"""

import csv
import gzip
import zlib
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import IO, Any, NamedTuple

from localfact.errors import InputError
from localfact.inputs.tables import lines_or_errors
from localfact.text import readable

FACTOR = "FACTOR's CSV, with the columns full_prefix, completion, contradiction_0, contradiction_1, contradiction_2"
PREFIX_COLUMN, TRUE_COLUMN = "full_prefix", "completion"
FALSE_COLUMNS = ("contradiction_0", "contradiction_1", "contradiction_2")
COLUMNS = (PREFIX_COLUMN, TRUE_COLUMN, *FALSE_COLUMNS)
#: The most characters of a field, above the csv module's own default.
LONGEST_FIELD = 10_000_000
GZIP_MAGIC = b"\x1f\x8b"


class Question(NamedTuple):
    """One row of FACTOR: `premise` is the text with its true completion.

    `hypotheses` are the completions, the true one first.
    """

    id: str
    premise: str
    hypotheses: tuple[str, ...]


def read_questions(path: Path) -> Iterator[Question | str]:
    """Yields one question for each row of FACTOR's CSV, plain or gzip, or a sentence about what is wrong with that row.

    Raises:
        InputError: the file cannot be read, or has not FACTOR's columns.
    """
    csv.field_size_limit(max(LONGEST_FIELD, csv.field_size_limit()))
    try:
        with _text_of(path) as file:
            rows = csv.DictReader(file)
            missing = [column for column in COLUMNS if column not in (rows.fieldnames or ())]
            if missing:
                raise InputError(f"{path} has no column {' or '.join(missing)}. It should be {FACTOR}.")
            yield from map(_question, count(1), lines_or_errors(rows))
    except FileNotFoundError:
        raise InputError(f"There is no file {path}. Name {FACTOR}.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path} is damaged: {error}. Copy or download it again.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None


def _text_of(path: Path) -> IO[str]:
    with path.open("rb") as file:
        packed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    opener: Callable[..., IO[str]] = gzip.open if packed else open
    return opener(path, "rt", encoding="utf-8-sig", errors="replace", newline="")


def _question(number: int, row: dict[str, Any] | csv.Error) -> Question | str:
    if isinstance(row, csv.Error):
        return f"Row {number} is no CSV: {row}."
    texts = {column: readable(row[column] or "") for column in COLUMNS}
    blank = [column for column in COLUMNS[1:] if not texts[column].strip()]
    if blank:
        return f"Row {number} has no text in {' and '.join(blank)}."
    prefix, true = texts[PREFIX_COLUMN], texts[TRUE_COLUMN]
    space = "" if not prefix or prefix[-1].isspace() else " "
    return Question(str(number), prefix + space + true, (true, *(texts[column] for column in FALSE_COLUMNS)))
