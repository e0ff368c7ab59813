"""What the errors of SQLite and of the operating system mean for whoever reads or records a transcript."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from localfact.errors import InputError, LocalFactError, WriteError
from localfact.runtime.sqlite import primary_code


@contextmanager
def explain_errors(file: Path, *, records: bool) -> Iterator[None]:
    """Turns errors of SQLite and the operating system inside the block into a LocalFactError."""
    try:
        yield
    except sqlite3.Error as error:
        raise explanation(file, error, records=records) from error
    except OSError as error:
        raise unusable(file, error.strerror or str(error), records=records) from error


def explanation(file: Path, error: sqlite3.Error, *, records: bool) -> LocalFactError:
    """The error to show to the user for an error of SQLite."""
    code = primary_code(error)
    if code == sqlite3.SQLITE_NOTADB:
        return InputError(f"{file} is no transcript of localfact. Name another file.")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR):
        return damage_error(file, str(error))
    return unusable(file, str(error), records=records)


def damage_error(file: Path, reason: str) -> InputError:
    """The error for a file that does not hold what was written to it."""
    return InputError(f"{file} is damaged: {reason}. Copy it again, or remove it and record again with --transcript.")


def unusable(file: Path, reason: str, *, records: bool) -> LocalFactError:
    """The error for a file that cannot be opened, read or written."""
    if records:
        return WriteError(f"{file} cannot be written: {reason}. The calls recorded before are kept; the same command goes on.")
    return InputError(
        f"{file} cannot be read: {reason}. If its recording was killed, copy {file.name}-wal with it to a folder that can be "
        "written."
    )
