"""The errors for a corpus that cannot be written."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from localfact.errors import CorpusError, WriteError


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turns errors of the disk and of SQLite inside the block into a WriteError."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise write_error(folder, str(error)) from error
        raise CorpusError(f"The corpus {folder} is damaged: {error}. Copy or build it again.") from error
    except OSError as error:
        raise write_error(folder, error.strerror or str(error), error.errno) from error


def write_error(folder: Path, why: str, number: int | None = None) -> WriteError:
    """The error for a corpus that could not be written; what to do depends on the reason."""
    if number in (errno.EACCES, errno.EPERM, errno.EROFS):
        return WriteError(
            f"The corpus {folder} could not be written: {why}. Copy it to a place that can be, or mend its rights."
        )
    if number in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
        return WriteError(
            f"The corpus {folder} could not be locked: {why}. Its file system has no locks; keep a corpus that is added to on "
            "one that has."
        )
    return WriteError(
        f"The corpus {folder} could not be written: {why}. Make room and give the command again; what was added before is "
        f"kept, and `localfact corpus merge {folder}` finishes a corpus so."
    )
