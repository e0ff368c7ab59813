"""SQLite files of our own: opened by one process or several, written whole or not at all, told apart by their header."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

#: How long to wait for another process that is writing.
PATIENCE_SECONDS = 60.0


def connected(address: str) -> sqlite3.Connection:
    """A connection that begins no transaction by itself."""
    return sqlite3.connect(address, uri=True, timeout=PATIENCE_SECONDS, isolation_level=None, check_same_thread=False)


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """Everything inside, or nothing; no other process writes meanwhile."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        # A full disk makes SQLite take the transaction back itself.
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def is_empty(database: sqlite3.Connection) -> bool:
    """Whether nobody has put anything into the file yet."""
    return number(database, "application_id") == 0 and not database.execute("SELECT 1 FROM sqlite_master").fetchone()


def number(database: sqlite3.Connection, pragma: str) -> int:
    """A number in the header of the file."""
    (value,) = database.execute(f"PRAGMA {pragma}").fetchone()
    return int(value)


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's number for the error, without the bits that only tell more of the same."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
