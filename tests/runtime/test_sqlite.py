import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from localfact.runtime.sqlite import Connection, connect


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A file whose schema is broken, and has a name that is no text: SQLite's message about it is none either."""
    file = tmp_path / "file.sqlite"
    with closing(sqlite3.connect(file)) as database:
        database.execute("CREATE TABLE kept (a)")
    content = file.read_bytes()
    assert b"tablekeptkept" in content
    file.write_bytes(content.replace(b"tablekeptkept", b"table\xcfeptkept").replace(b"CREATE TABLE kept", b"CREATE TABLE (ept"))
    return file


def test_a_damage_that_sqlite_cannot_tell_in_words_is_still_an_error_of_sqlite(damaged: Path) -> None:
    with closing(sqlite3.connect(damaged)) as plain, pytest.raises(UnicodeDecodeError):
        plain.execute("SELECT * FROM sqlite_master")
    with pytest.raises(sqlite3.DatabaseError, match="damaged"):
        connect(damaged.as_uri())
    with closing(sqlite3.connect(damaged, factory=Connection)) as ours, pytest.raises(sqlite3.DatabaseError):
        ours.execute("SELECT * FROM sqlite_master")
