"""A cache of relation predictions in one SQLite file: no pair is sent to the same model twice.

The file lies in the run folder. The pairs of an FR3 run also serve FR1 and FR2, and a run that is resumed.

Format 2: table `models` (id, identity); table `relations` (model, premise, hypothesis, entailment, contradiction, neutral,
windows, window_start, window_end, share), each text as the first 16 bytes of its SHA-256. While the file is
open a write-ahead log lies beside it.
"""

import asyncio
import hashlib
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

from pydantic import ValidationError

from localfact.errors import InputError, LocalFactError, WriteError
from localfact.records import Distribution, Failure, Pair
from localfact.runtime.formats import other_format
from localfact.runtime.sqlite import connected, is_empty, number, primary_code, transaction
from localfact.runtime.usage import decided_by
from localfact.stages import RelationModel, Relations

Result = TypeVar("Result")

#: Marks the file as ours in SQLite's header: "LFRL".
APPLICATION = 0x4C46524C
FORMAT = 2
#: Bytes of each text's SHA-256 that are stored: 128 bits, so that no two texts collide in practice.
HASH_BYTES = 16
#: Pairs in one call of a model that is no `ReportingModel`: its predictions are written once the whole call has returned.
PAIRS_AT_ONCE = 1_024

SCHEMA = (
    "CREATE TABLE models (id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE) STRICT",
    """
    CREATE TABLE relations (
        model INTEGER NOT NULL REFERENCES models, premise BLOB NOT NULL, hypothesis BLOB NOT NULL,
        entailment REAL NOT NULL, contradiction REAL NOT NULL, neutral REAL NOT NULL, windows INTEGER NOT NULL,
        window_start INTEGER, window_end INTEGER, share REAL,
        PRIMARY KEY (model, premise, hypothesis)
    ) STRICT, WITHOUT ROWID
    """,
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {FORMAT}",
)
FIELDS = ("entailment", "contradiction", "neutral", "windows")
COLUMNS = ", ".join((*FIELDS, "window_start", "window_end", "share"))
FIND = f"SELECT {COLUMNS} FROM relations WHERE model = ? AND premise = ? AND hypothesis = ?"
#: Of every model: named one by one, so that the table is looked up by its key and not read through.
KEPT = f"SELECT {', '.join(FIELDS)} FROM relations WHERE model IN (SELECT id FROM models) AND premise = ? AND hypothesis = ?"
INSERT = f"INSERT OR IGNORE INTO relations (model, premise, hypothesis, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


@runtime_checkable
class ReportingModel(RelationModel, Protocol):
    """A RelationModel that reports its predictions while it works, so that those made before an interruption can be saved."""

    async def relate_reporting(self, pairs: Sequence[Pair], report: Callable[[Relations], None]) -> None:
        """Calls `report`, on the event loop, with predictions as soon as they are made; equal pairs are reported once.

        An exception that `report` raises ends the call.
        """
        ...


@runtime_checkable
class SplittingModel(RelationModel, Protocol):
    """A RelationModel that splits long pairs by a window that is another on another machine, and no part of its identity."""

    @property
    def machine_window(self) -> int:
        """Tokens of that window."""
        ...


class CachedRelations:
    """A RelationModel that asks another one for the pairs that its file lacks. Any number of coroutines may call it at once."""

    def __init__(self, model: RelationModel, file: Path) -> None:
        """Opens the file, or makes it with its folder.

        Raises:
            InputError: the file is damaged, something else's, or another version's. WriteError: it cannot be written.
        """
        self._model = model
        self._window = model.machine_window if isinstance(model, SplittingModel) else None
        self._store = RelationStore(file, model.identity, self._window)
        # One thread: SQLite has one writer at a time anyhow, and the event loop never waits for a disk.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="relations")
        # Pairs that some call is looking up or predicting. None as the result: that call was cancelled, so ask again.
        self._pending: dict[Pair, asyncio.Future[Distribution | Failure | None]] = {}
        self._counts = Counter({"asked": 0, "found": 0})

    @property
    def identity(self) -> str:
        """The identity of the model whose predictions are cached."""
        return self._model.identity

    @property
    def counts(self) -> Mapping[str, int]:
        """`asked`: pairs that the model predicted; `found`: pairs read from the file or shared with a call at the same time.

        Equal pairs of one call count once.
        """
        return dict(self._counts)

    async def relate(self, pairs: Sequence[Pair]) -> Sequence[Distribution | Failure]:
        """One prediction a pair, in order: bit for bit the cached one where there is one. Failures are not cached.

        Raises:
            LocalFactError: what the model raises. InputError: the file is damaged. WriteError: it cannot be written.
        """
        answers: dict[Pair, Distribution | Failure] = {}
        while missing := [pair for pair in dict.fromkeys(pairs) if pair not in answers]:
            others = {pair: self._pending[pair] for pair in missing if pair in self._pending}
            answers |= await self._predictions([pair for pair in missing if pair not in others])
            for pair, result in others.items():
                answer = await asyncio.shield(result)  # a caller that is cancelled must not cancel what others wait for
                if answer is not None:
                    answers[pair] = answer
                    self._counts["found"] += 1
        if self._window is not None and any(isinstance(said, Distribution) and said.windows > 1 for said in answers.values()):
            decided_by(self._window)  # also where another call, or another process, asked the model
        return [answers[pair] for pair in pairs]

    async def _predictions(self, pairs: Sequence[Pair]) -> dict[Pair, Distribution | Failure]:
        """Predictions of pairs that no other call is working on: from the file, the rest from the model."""
        answers: dict[Pair, Distribution | Failure] = {}
        self._pending.update((pair, asyncio.get_running_loop().create_future()) for pair in pairs)
        try:
            self._resolve(cached := await self._in_thread(self._store.find, pairs), answers)
            self._counts["found"] += len(cached)
            unknown = sorted((pair for pair in pairs if pair not in cached), key=lambda pair: pair.premise)
            if unknown:
                await self._ask_model(unknown, answers)
        finally:
            self._resolve(dict.fromkeys(pair for pair in pairs if pair not in answers), {})
        return answers

    async def _ask_model(self, pairs: Sequence[Pair], answers: dict[Pair, Distribution | Failure]) -> None:
        """Asks the model and writes each prediction as soon as it is reported, also where the call is cancelled later."""
        unwritten: dict[Pair, Distribution | Failure] = {}
        writes: list[Future[None]] = []

        def write() -> None:
            # No longer pending, though not written yet: look-ups run later in the same thread, and so find them.
            writes.append(self._thread.submit(self._store.add, dict(unwritten)))
            self._resolve(unwritten, answers)
            unwritten.clear()

        def report(said: Relations) -> None:
            self._counts["asked"] += len(said)
            unwritten.update(said)
            if writes and writes[-1].done():
                writes.pop().result()
            if not writes:  # one write at a time; what is reported meanwhile goes into the next
                write()

        try:
            if isinstance(self._model, ReportingModel):
                await self._model.relate_reporting(pairs, report)
            else:
                for begin in range(0, len(pairs), PAIRS_AT_ONCE):
                    asked = pairs[begin : begin + PAIRS_AT_ONCE]
                    report(dict(zip(asked, await self._model.relate(asked), strict=True)))
                    await self._in_thread(writes[-1].result)
        finally:
            if unwritten:
                write()
        for each in writes:
            await self._in_thread(each.result)

    def _resolve(
        self,
        said: Mapping[Pair, Distribution | Failure] | Mapping[Pair, None],
        answers: dict[Pair, Distribution | Failure],
    ) -> None:
        for pair, answer in said.items():
            self._pending.pop(pair).set_result(answer)
            if answer is not None:
                answers[pair] = answer

    async def _in_thread(self, function: Callable[..., Result], *arguments: object) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)

    def close(self) -> None:
        """Closes the file and folds its log into it. May be called again; `relate` may not."""
        self._thread.shutdown()
        self._store.close()


class RelationStore:
    """The opened file, for the predictions of the model named by `identity`. One thread at a time may use it.

    With a `window`, pairs that were split are those of the model with that window, and no other's are found.
    """

    def __init__(self, file: Path, identity: str, window: int | None = None) -> None:
        self._file = file
        self._splits = window is not None
        identities = [identity, f"{identity}, window={window}"] if self._splits else [identity]
        with explained(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            self._database = connected(file.absolute().as_uri())
            try:
                self._prepare()
                with transaction(self._database):
                    for one in identities:
                        self._database.execute("INSERT OR IGNORE INTO models (identity) VALUES (?)", (one,))
                self._model, *split = (
                    int(self._database.execute("SELECT id FROM models WHERE identity = ?", (one,)).fetchone()[0])
                    for one in identities
                )
                self._split_model = split[0] if split else self._model
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

    def find(self, pairs: Iterable[Pair]) -> dict[Pair, Distribution]:
        """The predictions that the file has of the pairs, for those that it has."""
        found = {}
        with explained(self._file):
            for pair in pairs:
                said = self._find(self._model, pair)
                if self._splits and said is None:
                    said = self._find(self._split_model, pair)
                if said is not None:
                    found[pair] = said
        return found

    def _find(self, model: int, pair: Pair) -> Distribution | None:
        row = self._database.execute(FIND, (model, *map(text_hash, pair))).fetchone()
        return None if row is None else self._read(row)

    def _read(self, row: Sequence[float | None]) -> Distribution:
        *probabilities, start, end, share = row
        plain: dict[str, Any] = {**dict(zip(FIELDS, probabilities, strict=True)), "share": share}
        if start is not None:
            plain["window"] = {"start": start, "end": end}
        try:
            return Distribution.model_validate(plain)
        except ValidationError as error:
            raise damaged(self._file, "a prediction in it is none") from error

    def add(self, predictions: Mapping[Pair, Distribution | Failure]) -> None:
        """Adds the predictions in one transaction, failures left out. Rows that another process added meanwhile stay."""
        rows = [
            (
                self._split_model if said.windows > 1 else self._model,
                *map(text_hash, pair),
                *(getattr(said, name) for name in FIELDS),
                *_window(said),
                said.share,
            )
            for pair, said in predictions.items()
            if isinstance(said, Distribution)
        ]
        with explained(self._file), transaction(self._database):
            self._database.executemany(INSERT, rows)

    def close(self) -> None:
        """Closes the file; its log is folded into it unless another process has it open."""
        with closing(self._database), suppress(sqlite3.Error):
            self._database.execute("PRAGMA busy_timeout = 0")
            self._database.execute("PRAGMA journal_mode = DELETE")


def kept(file: Path, pairs: Iterable[Pair]) -> dict[Pair, list[Distribution]]:
    """The probabilities that a file has of the pairs, by any model; nothing where there is no file. It is not changed.

    Raises:
        InputError: it is no cache of relations, or damaged.
    """
    found: dict[Pair, list[Distribution]] = {}
    if file.is_file():
        with explained(file), closing(connected(f"{file.absolute().as_uri()}?mode=ro")) as database:
            for pair in pairs:
                rows = database.execute(KEPT, tuple(map(text_hash, pair))).fetchall()
                try:
                    found[pair] = [Distribution.model_validate(dict(zip(FIELDS, row, strict=True))) for row in rows]
                except ValidationError as error:
                    raise damaged(file, "a prediction in it is none") from error
    return found


def _window(said: Distribution) -> tuple[int | None, int | None]:
    return (said.window.start, said.window.end) if said.window is not None else (None, None)


def text_hash(text: str) -> bytes:
    """The key of a text in the file: the first HASH_BYTES bytes of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:HASH_BYTES]


@contextmanager
def explained(file: Path) -> Iterator[None]:
    """Turns errors of SQLite and the operating system inside the block into a LocalFactError."""
    try:
        yield
    except sqlite3.Error as error:
        raise explanation(file, error) from error
    except OSError as error:
        raise unwritable(file, error.strerror or str(error)) from error


def explanation(file: Path, error: sqlite3.Error) -> LocalFactError:
    """The error for the user that stands for one of SQLite."""
    code = primary_code(error)
    if code == sqlite3.SQLITE_NOTADB:
        return foreign(file)
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR):
        return damaged(file, str(error))
    return unwritable(file, str(error))


def foreign(file: Path) -> InputError:
    """The error for a file that localfact did not make."""
    return InputError(f"{file} holds no relations of localfact. Move it away, or name another folder.")


def damaged(file: Path, reason: str) -> InputError:
    """The error for a file that does not hold what was written to it."""
    return InputError(f"{file} is damaged: {reason}. Remove it: the pairs it kept are then asked again.")


def unwritable(file: Path, reason: str) -> WriteError:
    """The error for a file that cannot be opened or written."""
    return WriteError(f"{file} cannot be written: {reason}. The relations kept before stand; the same command goes on.")
