"""The database file of a project: its tables, facts about the project, damage, copies.

SQLite in WAL mode, synced at every change: what a browser was told is saved, is saved, whatever is killed afterwards.
"""

import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from localfact.annotation.tasks import AnnotationTask
from localfact.errors import InputError
from localfact.runtime.formats import other_format
from localfact.runtime.links import new_file
from localfact.runtime.sqlite import connect, number, transaction

#: "lfan" in the header of the file, and the version of the tables.
APPLICATION_ID, SCHEMA = 0x6C66616E, 1
#: The mode of a file that holds the secrets of a project.
PRIVATE_FILE = 0o600

_TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE tasks (position INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, task TEXT NOT NULL, wanted INTEGER NOT NULL);
CREATE TABLE annotators (name TEXT PRIMARY KEY);
CREATE TABLE works (position INTEGER NOT NULL, annotator TEXT NOT NULL, role TEXT NOT NULL, seen REAL NOT NULL,
  finished INTEGER NOT NULL DEFAULT 0, claims INTEGER NOT NULL DEFAULT 0, judged INTEGER NOT NULL DEFAULT 0,
  seconds REAL NOT NULL DEFAULT 0, PRIMARY KEY (position, annotator, role));
CREATE TABLE steps (position INTEGER NOT NULL, annotator TEXT NOT NULL, role TEXT NOT NULL, number INTEGER NOT NULL,
  key TEXT NOT NULL, step TEXT NOT NULL, at REAL NOT NULL,
  PRIMARY KEY (position, annotator, role, number), UNIQUE (position, annotator, role, key));
"""


class AnnotationDatabase:
    """An open file; its methods may be called from any thread.

    Raises:
        InputError: the file is damaged, or is no database of a project.
    """

    def __init__(self, file: Path, clock: Callable[[], float] = time.time) -> None:
        self.file = file
        self._clock = clock
        self._lock = threading.RLock()
        with damage(file):
            self._database = connect(f"file:{quote(os.fsencode(file))}?mode=rw")
            application, version = (number(self._database, name) for name in ("application_id", "user_version"))
            if (application, version) != (APPLICATION_ID, SCHEMA):
                self._database.close()
                if application != APPLICATION_ID:
                    raise InputError(f"{file} is no annotation database of localfact. Name another folder.")
                again = "Make the project again in a new folder: localfact annotate RUN --out FOLDER"
                raise InputError(other_format(f"The annotation database {file}", version, SCHEMA, again))
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = FULL")

    @classmethod
    def create(cls, file: Path, tasks: Sequence[AnnotationTask], wanted: Sequence[int], facts: Mapping[str, object]) -> None:
        """Writes a new database.

        Args:
            tasks: in the order of the input.
            wanted: by how many people each is to be annotated.
            facts: about the project.
        """
        _make_private_file(file)
        database = connect(f"file:{quote(os.fsencode(file))}")
        try:
            with transaction(database):
                for statement in _TABLES.split(";"):
                    if statement.strip():
                        database.execute(statement)
                for position, (task, people) in enumerate(zip(tasks, wanted, strict=True), start=1):
                    row = (position, task.id, task.model_dump_json(exclude_defaults=True), people)
                    database.execute("INSERT INTO tasks VALUES (?, ?, ?, ?)", row)
                for name, value in facts.items():
                    database.execute("INSERT INTO facts VALUES (?, ?)", (name, json.dumps(value)))
                database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                database.execute(f"PRAGMA user_version = {SCHEMA}")
        finally:
            database.close()

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._database.close()

    def check(self) -> None:
        """Checks the integrity of the whole file.

        Raises:
            InputError: it is damaged.
        """
        with self._hold_database() as database:
            (found,) = database.execute("PRAGMA integrity_check(1)").fetchone()
        if found != "ok":
            raise InputError(f"{self.file} is damaged ({str(found)[:200]}).")

    def back_up(self, file: Path) -> None:
        """Copies everything that is saved, into a new file."""
        _make_private_file(file)
        copy = sqlite3.connect(file)
        try:
            with self._hold_database() as database:
                database.backup(copy)
        finally:
            copy.close()

    def facts(self) -> dict[str, object]:
        """The facts about the project: name -> value."""
        with damage(self.file):
            return {name: json.loads(value) for name, value in self._rows("SELECT name, value FROM facts")}

    def set_fact(self, name: str, value: object) -> None:
        """Writes one fact."""
        with self._hold_database() as database:
            database.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, json.dumps(value)))

    @contextmanager
    def _hold_database(self) -> Iterator[sqlite3.Connection]:
        with self._lock, damage(self.file):
            yield self._database

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self._hold_database() as database:
            return database.execute(query, values).fetchall()


def is_whole(copy: Path) -> bool:
    """Whether a copy is undamaged and has tasks, so that it can take the place of a database; nothing is written beside it."""
    try:
        with closing(connect(f"file:{quote(str(copy))}?mode=ro&immutable=1")) as database:
            (found,) = database.execute("PRAGMA integrity_check(1)").fetchone()
            has_tasks = database.execute("SELECT 1 FROM tasks, facts").fetchone() is not None
            return found == "ok" and has_tasks and number(database, "application_id") == APPLICATION_ID
    except (sqlite3.DatabaseError, InputError):
        return False


def _make_private_file(file: Path) -> None:
    """Makes an empty file, its owner's alone whatever the user's mask; what SQLite makes beside it gets the same mode."""
    with new_file(file) as made:
        os.fchmod(made.fileno(), PRIVATE_FILE)


@contextmanager
def damage(file: Path) -> Iterator[None]:
    """Turns errors of SQLite and of unreadable records into an InputError that names the file."""
    try:
        yield
    except (sqlite3.DatabaseError, ValueError, TypeError) as error:
        said = str(error) if isinstance(error, sqlite3.Error) else "a record in it cannot be read"
        raise InputError(f"{file} cannot be used: {said}.") from error
