"""Keeps every call of a language model in one SQLite file and answers from it: a run again, bit for bit, without the model.

The file, format 1: table `calls` (key, kind, stage, model, request, answer), in the order in which they were recorded, request
and answer as JSON to be read with any SQLite browser; table `identities` (id, model, identity): the engines that answered.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from localfact.errors import EngineError, InputError, MissingError, PromptTooLongError
from localfact.llm.engine import Chat, Choice, Engine, EngineIdentity, Generation
from localfact.llm.labels import checked
from localfact.llm.transcript_calls import Call, CallResult, ChooseCall, CountCall, GenerateCall, Keys
from localfact.llm.transcript_store import CallStore

Result = TypeVar("Result")

#: How much of a key and of a message an error shows.
KEY_DIGITS = 12
EXCERPT_CHARACTERS = 80


class _TranscriptEngine:
    """What recording and replaying share: calls become keys, and what is recorded under them becomes answers again."""

    def __init__(self, store: CallStore, identity: EngineIdentity) -> None:
        self._store = store
        self._identity = identity
        # One thread: the file is written by one at a time anyhow, and the event loop never waits for a disk.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="transcript")
        self._closed = False

    @property
    def identity(self) -> EngineIdentity:
        """The engine that answers, or answered."""
        return self._identity

    async def count(self, chat: Chat, *, prefix: str = "") -> int:
        """As `Engine.count`."""
        return await self._answer(CountCall(tuple(chat), "", prefix))

    async def generate(
        self,
        chat: Chat,
        *,
        max_tokens: int,
        stop: Sequence[str] = (),
        temperature: float = 0.0,
        seed: int = 0,
        stage: str,
    ) -> Generation:
        """As `Engine.generate`; the usage is that of the recorded call."""
        return await self._answer(GenerateCall(tuple(chat), stage, max_tokens, tuple(stop), temperature, seed))

    async def choose(self, chat: Chat, labels: Sequence[str], *, prefix: str = "", stage: str) -> Choice:
        """As `Engine.choose`; the usage is that of the recorded call."""
        return await self._answer(ChooseCall(tuple(chat), stage, checked(labels), prefix))

    async def _answer(self, call: Call[CallResult]) -> CallResult:
        keys = call.keys(self._identity)
        recorded = await self._recorded(call, keys)
        try:
            return call.decoded(recorded)
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(
                f"{self._store.file} is damaged: what it keeps under the key {keys.whole[:KEY_DIGITS]}... is no answer. "
                "Copy it again, or remove it and record again with --transcript."
            ) from error

    async def _recorded(self, call: Call[CallResult], keys: Keys) -> str:
        """The answer as it is recorded, of a call with these keys."""
        raise NotImplementedError

    async def _in_thread(self, function: Callable[..., Result], *arguments: object) -> Result:
        try:
            future = asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)
        except RuntimeError:
            raise EngineError(f"The transcript {self._store.file} was closed; no call can be answered from it.") from None
        return await future

    async def _close(self) -> None:
        """Ends thread and file, after what is still being written."""
        self._thread.submit(self._store.close)
        await asyncio.to_thread(self._thread.shutdown)


@dataclass
class _Flight:
    """A call on its way to the engine, and how many callers wait for it."""

    task: asyncio.Task[str]
    waiting: int = 0


class RecordingEngine(_TranscriptEngine):
    """Answers from the file what it has; asks the engine the rest and keeps the answers.

    The first answer that is recorded stands for all: other coroutines, threads and processes on the same file get it too. Equal
    calls at the same time are asked once. A prompt that is too long is an answer like any other; no other error is recorded. A
    killed process loses no answer that a caller had; a machine without power may lose the last ones, not the file.
    """

    def __init__(self, engine: Engine, file: Path) -> None:
        """Opens the file, or makes it.

        Raises:
            WriteError: it cannot be written. InputError: it is no transcript, another version's, or damaged.
        """
        super().__init__(CallStore.to_record(file), engine.identity)
        self._store.introduce(engine.identity)
        self._engine = engine
        # Per event loop: a task belongs to one.
        self._flights: dict[tuple[asyncio.AbstractEventLoop, str], _Flight] = {}

    async def aclose(self) -> None:
        """Ends the engine, then the file: it is whole, and one file alone, unless another process has it open."""
        if self._closed:
            return
        self._closed = True
        try:
            await self._engine.aclose()
        finally:
            here = asyncio.get_running_loop()
            open_calls = [flight.task for (loop, _), flight in self._flights.items() if loop is here]
            for task in open_calls:
                task.cancel()
            await asyncio.gather(*open_calls, return_exceptions=True)
            await self._close()

    async def _recorded(self, call: Call[CallResult], keys: Keys) -> str:
        slot = (asyncio.get_running_loop(), keys.windowed)
        while True:
            flight = self._flights.get(slot)
            leads = flight is None
            if flight is None:
                flight = self._flights[slot] = _Flight(asyncio.create_task(self._found_or_asked(call, keys)))
            flight.waiting += 1
            try:
                return await asyncio.shield(flight.task)
            except asyncio.CancelledError:
                if flight.task.cancelled() and not _is_cancelled():
                    raise EngineError("The engine was closed while a call was open.") from None
                raise
            except Exception:
                # Whoever only waited along asks for itself: the failure was not its own.
                if leads:
                    raise
            finally:
                flight.waiting -= 1
                if flight.task.done() or not flight.waiting:
                    flight.task.cancel()
                    if self._flights.get(slot) is flight:
                        del self._flights[slot]

    async def _found_or_asked(self, call: Call[CallResult], keys: Keys) -> str:
        found = await self._in_thread(self._store.find, keys)
        if found is not None:
            return found
        answer: CallResult | PromptTooLongError
        try:
            answer = await call.ask(self._engine)
        except PromptTooLongError as error:
            answer = error
        return await self._in_thread(self._store.keep, call, keys, answer, self._identity)


class ReplayEngine(_TranscriptEngine):
    """Answers from the file alone; it needs no model, no tokenizer, and no folder that can be written.

    A call that was not recorded raises `MissingError`.
    """

    def __init__(self, file: Path, model: str | None = None) -> None:
        """Opens the file as the engine named `model`, which may be left out where there is only one.

        Raises:
            MissingError: there is no such file. InputError: it is no transcript or damaged, or `model` names none or several.
        """
        store = CallStore.to_replay(file)
        try:
            identity = chosen_identity(file, store.identities(), model)
        except BaseException:
            store.close()
            raise
        super().__init__(store, identity)

    async def aclose(self) -> None:
        """Closes the file."""
        if not self._closed:
            self._closed = True
            await self._close()

    async def _recorded(self, call: Call[CallResult], keys: Keys) -> str:
        found = await self._in_thread(self._store.find, keys)
        if found is None:
            raise MissingError(
                f"{self._store.file} has no answer for {named(call, keys)}: the data, the options or the prompts are not those "
                f"of the recorded run, or it did not get so far. Record it with the model: --transcript {self._store.file}"
            )
        return found


def prepare(file: Path) -> None:
    """Makes a transcript or checks the one that is there, before a model is loaded for it.

    Raises:
        WriteError: it cannot be written. InputError: it is no transcript, another version's, or damaged.
    """
    CallStore.to_record(file).close()


def identities(file: Path) -> list[EngineIdentity]:
    """The engines whose answers the file keeps, in the order in which they came.

    Raises:
        MissingError: there is no such file. InputError: it is no transcript, another version's, or damaged.
    """
    with closing(CallStore.to_replay(file)) as store:
        return store.identities()


def chosen_identity(file: Path, known: Sequence[EngineIdentity], model: str | None) -> EngineIdentity:
    """The one of the known identities that `model` names: by its name, as NAME@REVISION, or as the error lists it.

    Raises:
        InputError: none or several; the message lists them.
    """
    found = [one for one in known if model in (None, one.model, f"{one.model}@{one.revision}", described(one))]
    if len(found) == 1:
        return found[0]
    if not known:
        raise InputError(f"{file} has no calls yet. Record some with --transcript {file}")
    listed = "; ".join(f"'{described(one)}'" for one in found or known)
    wrong = f"keeps no answers of {model}, but of" if not found else "keeps answers of several models"
    raise InputError(f"{file} {wrong}: {listed}. Name one of them with --model.")


def described(identity: EngineIdentity) -> str:
    """All of an identity in one line."""
    precision = f"{identity.dtype} {identity.quantisation}" if identity.quantisation else identity.dtype
    return f"{identity.model}@{identity.revision} {precision}, template {identity.template}, window {identity.window}"


def named(call: Call[CallResult], keys: Keys) -> str:
    """A call in words a person can find it by: kind, stage, key, and how its last message ends."""
    stage = f" of the stage '{call.stage}'" if call.stage else ""
    # What many prompts share comes first, so the end tells them apart.
    words = " ".join(call.chat[-1].content.split()) if call.chat else ""
    excerpt = "".join(character for character in words[-EXCERPT_CHARACTERS:] if character.isprintable())
    return f"the call '{call.kind}'{stage} (key {keys.whole[:KEY_DIGITS]}..., ending in “{excerpt}”)"


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
