"""Opens our SQLite files, which several processes may use: transactions, header numbers, error codes.

A file may come from somebody else. Ours have tables and indexes and nothing else: a view or a trigger would run as ours.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from localfact.runtime.links import refuse_linked_companions

#: Seconds to wait for another process that is writing.
PATIENCE_SECONDS = 60.0


#: What a schema of ours is made of; SQLite calls the rest view, trigger, and a virtual table is a table without a root page.
FOREIGN = "SELECT type, name FROM sqlite_master WHERE type NOT IN ('table', 'index') OR (type = 'table' AND rootpage = 0)"


class Connection(sqlite3.Connection):
    """A connection that raises sqlite3.DatabaseError, not UnicodeDecodeError, where the schema of a damaged file is no text."""

    def execute(self, *asked: Any) -> sqlite3.Cursor:
        """Overrides `sqlite3.Connection.execute`."""
        try:
            return super().execute(*asked)
        except UnicodeDecodeError:
            raise sqlite3.DatabaseError("its schema is damaged") from None


def connect(address: str) -> sqlite3.Connection:
    """A connection that begins no transactions by itself, to a file with tables alone.

    Args:
        address: `file:` and what follows, percent-encoded.

    Raises:
        InputError: a file beside it is a symbolic link.
        sqlite3.DatabaseError: the file is damaged, no database, or has a view, a trigger or a virtual table.
    """
    refuse_linked_companions(Path(os.fsdecode(unquote_to_bytes(urlsplit(address).path))))
    database = sqlite3.connect(
        address, uri=True, timeout=PATIENCE_SECONDS, isolation_level=None, check_same_thread=False, factory=Connection
    )
    try:
        database.execute("PRAGMA trusted_schema = OFF")
        foreign = database.execute(FOREIGN).fetchone()
        if foreign is not None:
            raise sqlite3.DatabaseError(f"it has a {foreign[0]} named {foreign[1]!r}, and ours have none")
    except BaseException:
        database.close()
        raise
    return database


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """Runs the block in a transaction that excludes other writers; it is rolled back on an error."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        # On a full disk SQLite has rolled the transaction back itself.
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def is_empty(database: sqlite3.Connection) -> bool:
    """Whether nothing was written to the file yet."""
    return number(database, "application_id") == 0 and not database.execute("SELECT 1 FROM sqlite_master").fetchone()


def number(database: sqlite3.Connection, pragma: str) -> int:
    """A whole number from the header of the file: the value of a pragma."""
    (value,) = database.execute(f"PRAGMA {pragma}").fetchone()
    return int(value)


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's primary error code, without the bits of the extended one."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
