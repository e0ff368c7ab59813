"""Keeps every prediction of a relation model in one SQLite file, so that no pair is asked twice.

Kept in the run folder, one set of FR3 pairs serves FR1, FR2 and FR3, and a run that goes on.

Format 1: table `models` (id, identity); table `relations` (model, premise, hypothesis, entailment, contradiction, neutral,
windows), the texts as the first half of their SHA-256. While it is open it has a write-ahead log beside it.
"""

import asyncio
import hashlib
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

from pydantic import ValidationError

from localfact.errors import InputError, LocalFactError, WriteError
from localfact.records import Distribution, Failure, Pair
from localfact.runtime.sqlite import connected, is_empty, number, primary_code, transaction
from localfact.stages import RelationModel, Relations

Result = TypeVar("Result")

#: Marks the file as ours in SQLite's header: "LFRL".
APPLICATION = 0x4C46524C
FORMAT = 1
#: Bytes of a hash that are enough to tell all texts there ever will be apart.
HASH_BYTES = 16
#: How many pairs are asked before they are kept where a model tells nothing until it has answered them all.
PAIRS_AT_ONCE = 1_024

SCHEMA = (
    "CREATE TABLE models (id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE) STRICT",
    """
    CREATE TABLE relations (
        model INTEGER NOT NULL REFERENCES models, premise BLOB NOT NULL, hypothesis BLOB NOT NULL,
        entailment REAL NOT NULL, contradiction REAL NOT NULL, neutral REAL NOT NULL, windows INTEGER NOT NULL,
        PRIMARY KEY (model, premise, hypothesis)
    ) STRICT, WITHOUT ROWID
    """,
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {FORMAT}",
)
FIELDS = ("entailment", "contradiction", "neutral", "windows")
FIND = f"SELECT {', '.join(FIELDS)} FROM relations WHERE model = ? AND premise = ? AND hypothesis = ?"
KEEP = f"INSERT OR IGNORE INTO relations (model, premise, hypothesis, {', '.join(FIELDS)}) VALUES (?, ?, ?, ?, ?, ?, ?)"


@runtime_checkable
class TellingModel(RelationModel, Protocol):
    """A RelationModel that hands over its predictions one by one: what it answered is kept though it is stopped."""

    async def tell(self, pairs: Sequence[Pair], told: Callable[[Relations], None]) -> None:
        """Gives `told` the prediction of each pair, equal ones once, as soon as it is there, on the event loop.

        What `told` raises ends the call.
        """
        ...


class CachedRelations:
    """A RelationModel that asks another one only what its file does not have. Any number of coroutines may call it at once."""

    def __init__(self, model: RelationModel, file: Path) -> None:
        """Opens the file, or makes it with its folder.

        Raises:
            InputError: the file is damaged, something else's, or another version's. WriteError: it cannot be written.
        """
        self._model = model
        self._store = RelationStore(file, model.identity)
        # One thread: the file is written by one at a time anyhow, and the event loop never waits for a disk.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="relations")
        # Pairs on their way. None as their answer: whoever asked was stopped, ask again.
        self._promised: dict[Pair, asyncio.Future[Distribution | Failure | None]] = {}
        self._counts = Counter({"asked": 0, "found": 0})

    @property
    def identity(self) -> str:
        """The identity of the model behind."""
        return self._model.identity

    @property
    def counts(self) -> Mapping[str, int]:
        """asked: pairs that the model answered; found: pairs that were in the file, or on their way for another response.

        Each call's equal pairs count once.
        """
        return dict(self._counts)

    async def relate(self, pairs: Sequence[Pair]) -> Sequence[Distribution | Failure]:
        """One prediction a pair, in order: the kept one where there is one, bit for bit. Failures are not kept.

        Raises:
            LocalFactError: as the model behind. InputError: the file is damaged. WriteError: it cannot be written.
        """
        answers: dict[Pair, Distribution | Failure] = {}
        while missing := [pair for pair in dict.fromkeys(pairs) if pair not in answers]:
            others = {pair: self._promised[pair] for pair in missing if pair in self._promised}
            answers |= await self._settle([pair for pair in missing if pair not in others])
            for pair, promise in others.items():
                answer = await asyncio.shield(promise)  # a caller that is cancelled must not cancel what others wait for
                if answer is not None:
                    answers[pair] = answer
                    self._counts["found"] += 1
        return [answers[pair] for pair in pairs]

    async def _settle(self, pairs: Sequence[Pair]) -> dict[Pair, Distribution | Failure]:
        """Answers pairs that nobody else is asking: from the file, the rest from the model, and keeps what that says."""
        answers: dict[Pair, Distribution | Failure] = {}
        self._promised.update((pair, asyncio.get_running_loop().create_future()) for pair in pairs)
        try:
            self._answer(kept := await self._in_thread(self._store.find, pairs), answers)
            self._counts["found"] += len(kept)
            unknown = sorted((pair for pair in pairs if pair not in kept), key=lambda pair: pair.premise)
            if unknown:
                await self._ask(unknown, answers)
        finally:
            self._answer(dict.fromkeys(pair for pair in pairs if pair not in answers), {})
        return answers

    async def _ask(self, pairs: Sequence[Pair], answers: dict[Pair, Distribution | Failure]) -> None:
        """Asks the model, and keeps what it says as soon as it says it, however the call ends."""
        fresh: dict[Pair, Distribution | Failure] = {}
        writes: list[Future[None]] = []

        def keep() -> None:
            # Promised no longer, though not written yet: whoever looks for them does so in the same thread, and later.
            writes.append(self._thread.submit(self._store.keep, dict(fresh)))
            self._answer(fresh, answers)
            fresh.clear()

        def told(said: Relations) -> None:
            self._counts["asked"] += len(said)
            fresh.update(said)
            if writes and writes[-1].done():
                writes.pop().result()
            if not writes:  # while one is under way, the next gathers
                keep()

        try:
            if isinstance(self._model, TellingModel):
                await self._model.tell(pairs, told)
            else:
                for begin in range(0, len(pairs), PAIRS_AT_ONCE):
                    asked = pairs[begin : begin + PAIRS_AT_ONCE]
                    told(dict(zip(asked, await self._model.relate(asked), strict=True)))
                    await self._in_thread(writes[-1].result)
        finally:
            if fresh:
                keep()
        for write in writes:
            await self._in_thread(write.result)

    def _answer(
        self,
        said: Mapping[Pair, Distribution | Failure] | Mapping[Pair, None],
        answers: dict[Pair, Distribution | Failure],
    ) -> None:
        for pair, answer in said.items():
            self._promised.pop(pair).set_result(answer)
            if answer is not None:
                answers[pair] = answer

    async def _in_thread(self, function: Callable[..., Result], *arguments: object) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)

    def close(self) -> None:
        """Closes the file, one plain file then. May be called again; nothing may be asked any more."""
        self._thread.shutdown()
        self._store.close()


class RelationStore:
    """The opened file, for the predictions of one model. One thread at a time may use it."""

    def __init__(self, file: Path, identity: str) -> None:
        """Opens the file, or makes it, and makes the model known in it."""
        self._file = file
        with explained(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            self._database = connected(file.absolute().as_uri())
            try:
                self._prepare()
                with transaction(self._database):
                    self._database.execute("INSERT OR IGNORE INTO models (identity) VALUES (?)", (identity,))
                (self._model,) = self._database.execute("SELECT id FROM models WHERE identity = ?", (identity,)).fetchone()
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
                raise InputError(
                    f"{self._file} keeps relations in format {version}; this localfact reads {FORMAT}. Use the version that "
                    "made it, or remove the file: its pairs are then asked again."
                )
        with suppress(sqlite3.OperationalError):  # another process is at this very step
            self._database.execute("PRAGMA journal_mode = WAL")
        # The log is not flushed at every commit: a kill loses nothing of it, a power cut the last answers at most.
        self._database.execute("PRAGMA synchronous = NORMAL")

    def find(self, pairs: Iterable[Pair]) -> dict[Pair, Distribution]:
        """The kept predictions of those pairs that have one."""
        found = {}
        with explained(self._file):
            for pair in pairs:
                row = self._database.execute(FIND, (self._model, *map(text_hash, pair))).fetchone()
                if row is not None:
                    found[pair] = self._read(row)
        return found

    def _read(self, row: Sequence[float]) -> Distribution:
        try:
            return Distribution.model_validate(dict(zip(FIELDS, row, strict=True)))
        except ValidationError as error:
            raise damaged(self._file, "a prediction in it is none") from error

    def keep(self, predictions: Mapping[Pair, Distribution | Failure]) -> None:
        """Adds the predictions, all of them or none; not the failures. What another process kept meanwhile stands."""
        rows = [
            (self._model, *map(text_hash, pair), said.entailment, said.contradiction, said.neutral, said.windows)
            for pair, said in predictions.items()
            if isinstance(said, Distribution)
        ]
        with explained(self._file), transaction(self._database):
            self._database.executemany(KEEP, rows)

    def close(self) -> None:
        """Closes it; it becomes one plain file unless somebody else has it open."""
        with closing(self._database), suppress(sqlite3.Error):
            self._database.execute("PRAGMA busy_timeout = 0")
            self._database.execute("PRAGMA journal_mode = DELETE")


def text_hash(text: str) -> bytes:
    """What a text is known by in the file."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:HASH_BYTES]


@contextmanager
def explained(file: Path) -> Iterator[None]:
    """Turns what SQLite and the operating system say into a sentence."""
    try:
        yield
    except sqlite3.Error as error:
        raise explanation(file, error) from error
    except OSError as error:
        raise unwritable(file, error.strerror or str(error)) from error


def explanation(file: Path, error: sqlite3.Error) -> LocalFactError:
    """The sentence for what SQLite says."""
    code = primary_code(error)
    if code == sqlite3.SQLITE_NOTADB:
        return foreign(file)
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR):
        return damaged(file, str(error))
    return unwritable(file, str(error))


def foreign(file: Path) -> InputError:
    """The sentence for a file that something else made."""
    return InputError(f"{file} holds no relations of localfact. Move it away, or name another folder.")


def damaged(file: Path, reason: str) -> InputError:
    """The sentence for a file that cannot be what was written."""
    return InputError(f"{file} is damaged: {reason}. Remove it: the pairs it kept are then asked again.")


def unwritable(file: Path, reason: str) -> WriteError:
    """The sentence for a file that the machine does not let us use."""
    return WriteError(f"{file} cannot be written: {reason}. The relations kept before stand; the same command goes on.")
