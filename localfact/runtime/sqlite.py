"""Opens our SQLite files, which several processes may use: transactions, header numbers, error codes."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

#: Seconds to wait for another process that is writing.
PATIENCE_SECONDS = 60.0


def connected(address: str) -> sqlite3.Connection:
    """A connection that begins no transactions by itself."""
    return sqlite3.connect(address, uri=True, timeout=PATIENCE_SECONDS, isolation_level=None, check_same_thread=False)


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
