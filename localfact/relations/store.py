"""The file of relation predictions, one SQLite database: what a model said of which pair.

Format 2: table `models` (id, identity); table `relations` (model, premise, hypothesis, entailment, contradiction, neutral,
windows, window_start, window_end), each text as the first 16 bytes of its SHA-256. While the file is open a write-ahead
log lies beside it.
"""

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from localfact.errors import InputError, WriteError
from localfact.records import Distribution, Failure, Pair
from localfact.runtime.formats import other_format
from localfact.runtime.sqlite import connect, is_empty, number, primary_code, transaction
from localfact.stages import context_of

#: Marks the file as ours in SQLite's header: "LFRL".
APPLICATION = 0x4C46524C
FORMAT = 2
#: Bytes of each text's SHA-256 that are stored: 128 bits, so that no two texts collide in practice.
HASH_BYTES = 16

SCHEMA = (
    "CREATE TABLE models (id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE) STRICT",
    """
    CREATE TABLE relations (
        model INTEGER NOT NULL REFERENCES models, premise BLOB NOT NULL, hypothesis BLOB NOT NULL,
        entailment REAL NOT NULL, contradiction REAL NOT NULL, neutral REAL NOT NULL, windows INTEGER NOT NULL,
        window_start INTEGER, window_end INTEGER,
        PRIMARY KEY (model, premise, hypothesis)
    ) STRICT, WITHOUT ROWID
    """,
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {FORMAT}",
)
FIELDS = ("entailment", "contradiction", "neutral", "windows")
COLUMNS = ", ".join((*FIELDS, "window_start", "window_end"))
FIND = f"SELECT {COLUMNS} FROM relations WHERE model = ? AND premise = ? AND hypothesis = ?"
#: Of every model: named one by one, so that the table is looked up by its key and not read through.
OF = "SELECT id FROM models WHERE substr(identity, 1, length(?1)) = ?1"
KEPT = f"SELECT {', '.join(FIELDS)} FROM relations WHERE model IN ({OF}) AND premise = ?2 AND hypothesis = ?3"
INSERT = f"INSERT OR IGNORE INTO relations (model, premise, hypothesis, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"


class RelationStore:
    """The opened file, for the predictions of the model named by `identity`. One thread at a time may use it.

    With a `window`, pairs that were split are those of the model with that window, and no other's are found.
    """

    def __init__(self, file: Path, identity: str, window: int | None = None) -> None:
        self._file = file
        # The model that pairs which fit are kept under, and the one for pairs that were split.
        identities = [identity] if window is None else [identity, f"{identity}, window={window}"]
        with explain_errors(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            self._database = connect(file.absolute().as_uri())
            try:
                self._prepare()
                with transaction(self._database):
                    self._models = [self._number_of(one) for one in identities]
            except BaseException:
                self._database.close()
                raise

    def _prepare(self) -> None:
        with transaction(self._database):
            if is_empty(self._database):
                for statement in SCHEMA:
                    self._database.execute(statement)
            if number(self._database, "application_id") != APPLICATION:
                raise foreign(self._file)
            if (version := number(self._database, "user_version")) != FORMAT:
                cure = "Remove it: the pairs it kept are then asked again."
                raise InputError(other_format(f"The cache of relations {self._file}", version, FORMAT, cure))
        with suppress(sqlite3.OperationalError):  # another process is at this very step
            self._database.execute("PRAGMA journal_mode = WAL")
        # The log is not synced at every commit: a kill loses nothing, a power cut at most the last predictions.
        self._database.execute("PRAGMA synchronous = NORMAL")

    def _number_of(self, identity: str) -> int:
        self._database.execute("INSERT OR IGNORE INTO models (identity) VALUES (?)", (identity,))
        return int(self._database.execute("SELECT id FROM models WHERE identity = ?", (identity,)).fetchone()[0])

    def find(self, pairs: Iterable[Pair]) -> dict[Pair, Distribution]:
        """The predictions that the file has of the pairs, for those that it has."""
        found = {}
        with explain_errors(self._file):
            for pair in pairs:
                rows = (self._database.execute(FIND, (model, *key_of(pair))).fetchone() for model in self._models)
                row = next((row for row in rows if row is not None), None)
                if row is not None:
                    found[pair] = _prediction(row)
        return found

    def add(self, predictions: Mapping[Pair, Distribution | Failure]) -> None:
        """Adds the predictions in one transaction, failures left out. Rows that another process added meanwhile stay."""
        rows = [
            (
                self._models[-1] if said.windows > 1 else self._models[0],
                *key_of(pair),
                *(getattr(said, name) for name in FIELDS),
                *((said.window.start, said.window.end) if said.window is not None else (None, None)),
            )
            for pair, said in predictions.items()
            if isinstance(said, Distribution)
        ]
        with explain_errors(self._file), transaction(self._database):
            self._database.executemany(INSERT, rows)

    def close(self) -> None:
        """Closes the file; its log is folded into it unless another process has it open."""
        with closing(self._database), suppress(sqlite3.Error):
            self._database.execute("PRAGMA busy_timeout = 0")
            self._database.execute("PRAGMA journal_mode = DELETE")


def read_kept(file: Path, pairs: Iterable[Pair], *, of: str = "") -> dict[Pair, list[Distribution]]:
    """Reads the stored predictions for the pairs, by default whichever model made them. The file is opened read-only.

    Args:
        file: the cache of relation predictions, an SQLite file.
        pairs: the premise-hypothesis pairs to look up.
        of: only those of models whose identity begins so.

    Returns:
        Pair -> a distribution of each model whose prediction the file has; an empty mapping where there is no file.

    Raises:
        InputError: the file is not a cache of relation predictions, or is damaged.
    """
    found: dict[Pair, list[Distribution]] = {}
    if file.is_file():
        with explain_errors(file), closing(connect(f"{file.absolute().as_uri()}?mode=ro")) as database:
            for pair in pairs:
                rows = database.execute(KEPT, (of, *map(text_hash, pair))).fetchall()
                found[pair] = [Distribution.model_validate(dict(zip(FIELDS, row, strict=True))) for row in rows]
    return found


def _prediction(row: Sequence[float | None]) -> Distribution:
    *probabilities, start, end = row
    plain: dict[str, Any] = dict(zip(FIELDS, probabilities, strict=True))
    if start is not None:
        plain["window"] = {"start": start, "end": end}
    return Distribution.model_validate(plain)


def key_of(pair: Pair) -> tuple[bytes, bytes]:
    """The key of a pair in the file; a context that it was read in is part of it."""
    context = context_of(pair)
    return text_hash(pair.premise), text_hash(f"{pair.hypothesis}\0{context}" if context else pair.hypothesis)


def text_hash(text: str) -> bytes:
    """The key of a text in the file: the first HASH_BYTES bytes of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:HASH_BYTES]


@contextmanager
def explain_errors(file: Path) -> Iterator[None]:
    """Turns errors of SQLite and the operating system, and rows that are no prediction, into a LocalFactError."""
    try:
        yield
    except sqlite3.Error as error:
        code = primary_code(error)
        if code == sqlite3.SQLITE_NOTADB:
            raise foreign(file) from error
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR):
            raise damage_error(file, str(error)) from error
        raise unwritable(file, str(error)) from error
    except ValidationError as error:
        raise damage_error(file, "a prediction in it is none") from error
    except OSError as error:
        raise unwritable(file, error.strerror or str(error)) from error


def foreign(file: Path) -> InputError:
    """The error for a file that localfact did not make."""
    return InputError(f"{file} holds no relations of localfact. Move it away, or name another folder.")


def damage_error(file: Path, reason: str) -> InputError:
    """The error for a file that does not hold what was written to it."""
    return InputError(f"{file} is damaged: {reason}. Remove it: the pairs it kept are then asked again.")


def unwritable(file: Path, reason: str) -> WriteError:
    """The error for a file that cannot be opened or written."""
    return WriteError(f"{file} cannot be written: {reason}. The relations kept before stand; the same command goes on.")
