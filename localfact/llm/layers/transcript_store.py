"""The SQLite file of a transcript: opening, reading and adding calls and evidence. See `llm/layers/recording.py`.

While it is recorded to it has a write-ahead log beside it, so that several processes can share it and a kill loses nothing. The
last one to close it folds the log in and leaves one plain file, which can be read from a read-only medium.
"""

import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from localfact.errors import InputError, MissingError, PromptTooLongError, RequestError
from localfact.llm.calls import Call, Keys, is_failure, json_text
from localfact.llm.engine import EngineIdentity
from localfact.llm.layers.transcript_errors import damage_error, explain_errors, unusable
from localfact.llm.layers.transcript_texts import DEPTH, Base, Bases, lines_of, pack, unpack
from localfact.runtime.formats import other_format
from localfact.runtime.recent import Recent
from localfact.runtime.sqlite import connect, is_empty, number, primary_code, transaction

#: Marks the file as ours in SQLite's header: "LFTR".
APPLICATION = 0x4C465452
#: The format of the file; a file of another is refused.
FORMAT = 3

SCHEMA = (
    "CREATE TABLE identities (id INTEGER PRIMARY KEY, model TEXT NOT NULL, identity TEXT NOT NULL UNIQUE) STRICT",
    """
    CREATE TABLE calls (
        row INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, kind TEXT NOT NULL, stage TEXT NOT NULL,
        model INTEGER NOT NULL REFERENCES identities, base INTEGER, request BLOB NOT NULL, answer BLOB NOT NULL
    ) STRICT
    """,
    "CREATE TABLE evidence (key BLOB PRIMARY KEY, evidence BLOB NOT NULL) STRICT",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {FORMAT}",
)
#: An answer for this window has precedence over one for any window.
FIND = "SELECT base, answer FROM calls WHERE key IN (:windowed, :whole) ORDER BY key = :windowed DESC LIMIT 1"
RECORDED = "SELECT stage, base, request, answer FROM calls WHERE kind <> 'count' ORDER BY rowid LIMIT ?"
#: Seconds to wait before each further try to fold in the log of a closed file.
CLOSING_WAITS = (0.01, 0.03, 0.1, 0.3)
#: A row whose request failed keeps its number.
KEEP = """
    INSERT INTO calls (key, kind, stage, model, base, request, answer)
    SELECT ?, ?, ?, id, ?, ?, ? FROM identities WHERE identity = ?
    ON CONFLICT (key) DO UPDATE
    SET stage = excluded.stage, model = excluded.model,
        base = excluded.base, request = excluded.request, answer = excluded.answer
    RETURNING row
"""
#: Characters of the texts of bases that are kept in memory.
TEXTS_KEPT = 1 << 25


class CallStore:
    """An open transcript file; made by `to_record` or `to_replay`. One thread at a time may use it."""

    def __init__(self, file: Path, database: sqlite3.Connection, *, records: bool) -> None:
        self.file = file
        self._database = database
        self._records = records
        self._bases = Bases()
        self._texts: Recent[str] = Recent(TEXTS_KEPT)

    @classmethod
    def to_record(cls, file: Path) -> "CallStore":
        """Opens the file for reading and writing, or makes it with its folder.

        Raises:
            WriteError: it cannot be written. InputError: it is no transcript, another version's, or damaged.
        """
        with explain_errors(file, records=True):
            file.parent.mkdir(parents=True, exist_ok=True)
            database = connect(file.absolute().as_uri())
            try:
                with transaction(database):
                    if is_empty(database):
                        for statement in SCHEMA:
                            database.execute(statement)
                    check(file, database)
                    # A file that cannot be written is to fail now, before a model is loaded.
                    database.execute(f"PRAGMA user_version = {FORMAT}")
                # Fails while another process does the same or reads: then that one, or the next, switches the mode.
                with suppress(sqlite3.OperationalError):
                    database.execute("PRAGMA journal_mode = WAL")
                # The log is not synced at every call: a kill loses nothing, a power cut at most the last answers.
                database.execute("PRAGMA synchronous = NORMAL")
            except BaseException:
                database.close()
                raise
        return cls(file, database, records=True)

    @classmethod
    def to_replay(cls, file: Path) -> "CallStore":
        """Opens the file read-only, also on a read-only medium.

        Raises:
            MissingError: there is no such file. InputError: it is no transcript, another version's, or damaged.
        """
        if not file.exists():
            raise MissingError(f"There is no transcript {file}. Record one with the model: --transcript {file}")
        address = f"{file.absolute().as_uri()}?mode=ro"
        logs = [file.with_name(file.name + end) for end in ("-wal", "-journal")]
        with explain_errors(file, records=False):
            try:
                database = open_checked(file, address)
            except sqlite3.OperationalError as error:
                # A file without a log is opened as immutable: else SQLite would want to make files beside it.
                logged = any(log.exists() and log.stat().st_size for log in logs)
                if logged or primary_code(error) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
                    raise
                database = open_checked(file, f"{address}&immutable=1")
            return cls(file, database, records=False)

    def identities(self) -> list[EngineIdentity]:
        """The identities of the engines in the file, in the order in which they were introduced."""
        with explain_errors(self.file, records=self._records):
            rows = self._database.execute("SELECT identity FROM identities ORDER BY id").fetchall()
        try:
            return [EngineIdentity.model_validate_json(row) for (row,) in rows]
        except ValidationError as error:
            raise damage_error(self.file, "an identity is not in its schema") from error

    def introduce(self, identity: EngineIdentity) -> None:
        """Adds an engine's identity unless it is there."""
        with explain_errors(self.file, records=True), transaction(self._database):
            row = (identity.model, identity_as_json(identity))
            self._database.execute("INSERT OR IGNORE INTO identities (model, identity) VALUES (?, ?)", row)

    def find(self, keys: Keys) -> str | None:
        """The recorded answer under either key, as JSON; None where there is none."""
        with explain_errors(self.file, records=self._records):
            return self._find(keys)

    def _find(self, keys: Keys) -> str | None:
        asked = {name: bytes.fromhex(key) for name, key in keys._asdict().items()}
        row = self._database.execute(FIND, asked).fetchone()
        return None if row is None else self._text("answer", row[0], row[1])

    def _text(self, column: Literal["request", "answer"], base: int | None, stored: Any, depth: int = 0) -> str:
        """A text as it was before it was written into that column with that base."""
        try:
            return unpack(stored, None if base is None else self._base_text(column, base, depth))
        except (ValueError, TypeError) as error:
            raise damage_error(self.file, f"a call in it cannot be read ({error})") from error

    def _base_text(self, column: Literal["request", "answer"], row: int, depth: int) -> str:
        known = self._texts.get((column, row))
        if known is not None:
            return known
        if depth == DEPTH:
            raise ValueError("its bases have bases of their own")
        found = self._database.execute(f"SELECT base, {column} FROM calls WHERE row = ?", (row,)).fetchone()
        if found is None:
            raise ValueError("its base is not there")
        text = self._text(column, found[0], found[1], depth + 1)
        self._texts.keep((column, row), text, len(text))
        return text

    def keep(
        self, call: Call[Any], keys: Keys, answer: Any | PromptTooLongError | RequestError, identity: EngineIdentity
    ) -> str:
        """Adds an answer of an introduced engine unless there is one; returns the one that is recorded.

        An answer takes the place of a request that failed.
        """
        text, windowed = call.encode(answer)
        request = json_text(call.request)
        lines = lines_of(f"{call.kind} {call.stage}", request)
        base = self._bases.of(lines)
        try:
            frames = pack(request, base and base.request), pack(text, base and base.answer)
        except ValueError as error:
            raise unusable(self.file, str(error), records=True) from error
        key = bytes.fromhex(keys.windowed if windowed else keys.whole)
        row = (key, call.kind, call.stage, base and base.row, *frames, identity_as_json(identity))
        with explain_errors(self.file, records=True):
            with transaction(self._database):
                standing = self._find(keys)
                if standing is not None and not is_failure(standing):
                    return standing
                (number,) = self._database.execute(KEEP, row).fetchone()
            # Failures give way to answers, so others do not stand on them.
            if not is_failure(text):
                self._bases.offer(Base(number, request, text, base.depth + 1 if base else 0, frozenset(lines)))
        return text

    def find_evidence(self, key: bytes) -> str | None:
        """The evidence kept under the key, as it was given; None where there is none."""
        with explain_errors(self.file, records=self._records):
            row = self._database.execute("SELECT evidence FROM evidence WHERE key = ?", (key,)).fetchone()
        try:
            return None if row is None else unpack(row[0], None)
        except (ValueError, TypeError) as error:
            raise damage_error(self.file, f"the passages of a response cannot be read ({error})") from error

    def keep_evidence(self, key: bytes, text: str) -> None:
        """Adds evidence, or puts it in the place of what was found under the same key before."""
        try:
            frame = pack(text, None)
        except ValueError as error:
            raise unusable(self.file, str(error), records=True) from error
        with explain_errors(self.file, records=True), transaction(self._database):
            self._database.execute("INSERT OR REPLACE INTO evidence VALUES (?, ?)", (key, frame))

    def read_first(self, most: int) -> Iterator[tuple[str, str, str]]:
        """Stage, request and answer (JSON) of the first calls, at most so many, one at a time; without counts of tokens."""
        with explain_errors(self.file, records=self._records):
            for stage, base, request, answer in self._database.execute(RECORDED, (most,)):
                yield str(stage), self._text("request", base, request), self._text("answer", base, answer)

    def count(self) -> int:
        """How many calls there are, without counts of tokens."""
        with explain_errors(self.file, records=self._records):
            (total,) = self._database.execute("SELECT count(*) FROM calls WHERE kind <> 'count'").fetchone()
        return int(total)

    def close(self) -> None:
        """Closes the file; a log is folded in unless another process has the file open."""
        with closing(self._database):
            if not self._records or fold_log(self._database):
                return
        # Of two processes that close at the same moment, each may find the file open in the other; so it is tried again.
        for wait in CLOSING_WAITS:
            time.sleep(wait * random.uniform(0.5, 1.5))
            if not self.file.with_name(self.file.name + "-wal").exists():
                return
            with suppress(sqlite3.Error), closing(connect(self.file.absolute().as_uri() + "?mode=rw")) as database:
                if fold_log(database):
                    return


def fold_log(database: sqlite3.Connection) -> bool:
    """Tries to fold the log into the file, which needs exclusive access; returns whether it was."""
    try:
        database.execute("PRAGMA busy_timeout = 0")
        return bool(database.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",))
    except sqlite3.Error:
        return False


def open_checked(file: Path, address: str) -> sqlite3.Connection:
    """A connection to a file that was checked to be a transcript."""
    database = connect(address)
    try:
        check(file, database)
    except BaseException:
        database.close()
        raise
    return database


def check(file: Path, database: sqlite3.Connection) -> None:
    """Raises InputError for a file that is no transcript, or one of another format."""
    if number(database, "application_id") != APPLICATION:
        raise InputError(f"{file} is no transcript of localfact. Name another file.")
    version = number(database, "user_version")
    if version != FORMAT:
        raise InputError(other_format(f"The transcript {file}", version, FORMAT, "Record another file with --transcript."))


def identity_as_json(identity: EngineIdentity) -> str:
    """All fields of an identity as JSON, in a fixed order."""
    return json_text(identity.model_dump(mode="json"))
