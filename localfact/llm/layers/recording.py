"""Records every call of a language model in one SQLite file, and replays them: the same run, bit for bit, without the model.

The file, format 3: table `calls` (row, key, kind, stage, model, base, request, answer), in the order in which they were
recorded, request and answer as JSON in frames of zstd (`transcript_texts.py`); table `identities` (id, model, identity): the
engines that answered; table `evidence` (key, evidence), the passages that were found (`evidence/recorded.py`). The first calls
are shown in a report (`localfact report RUN --calls FILE`).
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from localfact.errors import EngineError, InputError, MissingError, PromptTooLongError, RequestError
from localfact.llm.calls import Call, CallResult, Keys, is_failure
from localfact.llm.client import CallingEngine
from localfact.llm.engine import EngineIdentity
from localfact.llm.layers.transcript_store import CallStore

Result = TypeVar("Result")

#: How many characters of a key and of a message an error shows.
KEY_DIGITS = 12
EXCERPT_CHARACTERS = 80


class _TranscriptEngine(CallingEngine):
    """What recording and replaying share: calls are turned into keys, and recorded texts into answers."""

    def __init__(self, store: CallStore, identity: EngineIdentity) -> None:
        self._store = store
        self.identity = identity
        # One thread: SQLite has one writer at a time anyhow, and the event loop never waits for a disk.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="transcript")
        self._closed = False

    async def answer(self, call: Call[CallResult]) -> CallResult:
        """Returns what the transcript keeps for the call, once it does.

        Raises:
            InputError: the transcript is damaged. Else what stands in place of an answer.
        """
        keys = call.keys(self.identity)
        recorded = await self._find_recorded(call, keys)
        try:
            return call.decode(recorded)
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(
                f"{self._store.file} is damaged: what it keeps under the key {keys.whole[:KEY_DIGITS]}... is no answer. "
                "Copy it again, or remove it and record again with --transcript."
            ) from error

    async def _find_recorded(self, call: Call[CallResult], keys: Keys) -> str:
        """The recorded answer of a call with these keys, as JSON."""
        raise NotImplementedError

    async def _in_thread(self, function: Callable[..., Result], *arguments: object) -> Result:
        try:
            future = asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)
        except RuntimeError:
            raise EngineError(f"The transcript {self._store.file} was closed; no call can be answered from it.") from None
        return await future

    async def _close(self) -> None:
        """Closes thread and file, after pending writes."""
        self._thread.submit(self._store.close)
        await asyncio.to_thread(self._thread.shutdown)


@dataclass
class _Flight:
    """A call that is being made, and how many callers wait for it."""

    task: asyncio.Task[str]
    waiting: int = 0


class RecordingLayer(_TranscriptEngine):
    """Answers from the file what it has; asks the engine the rest and records the answers.

    The first answer that is recorded is given to all: other coroutines, threads and processes that use the file. Equal calls at
    the same time are made once. A prompt that is too long is recorded as an answer, and a request that failed so that a replay
    fails there too; recording makes it again. No other error is kept. A killed process loses no answer that a caller got; a
    power cut may lose the last ones, but does not damage the file.

    Raises:
        WriteError: the file cannot be written. InputError: it is no transcript, another version's, or damaged.
    """

    def __init__(self, inner: CallingEngine, file: Path) -> None:
        super().__init__(CallStore.to_record(file), inner.identity)
        self._store.introduce(inner.identity)
        self._inner = inner
        # By event loop, as a task belongs to one.
        self._flights: dict[tuple[asyncio.AbstractEventLoop, str], _Flight] = {}

    async def aclose(self) -> None:
        """Ends the engine, then closes the file and folds its log in, unless another process has it open."""
        if self._closed:
            return
        self._closed = True
        try:
            await self._inner.aclose()
        finally:
            here = asyncio.get_running_loop()
            open_calls = [flight.task for (loop, _), flight in self._flights.items() if loop is here]
            for task in open_calls:
                task.cancel()
            await asyncio.gather(*open_calls, return_exceptions=True)
            await self._close()

    async def _find_recorded(self, call: Call[CallResult], keys: Keys) -> str:
        slot = (asyncio.get_running_loop(), keys.windowed)
        while True:
            flight = self._flights.get(slot)
            leads = flight is None
            if flight is None:
                flight = self._flights[slot] = _Flight(asyncio.create_task(self._find_or_ask(call, keys)))
            flight.waiting += 1
            try:
                return await asyncio.shield(flight.task)
            except asyncio.CancelledError:
                if flight.task.cancelled() and not _is_cancelled():
                    raise EngineError("The engine was closed while a call was open.") from None
                raise
            except Exception:
                # Callers that only waited make the call again themselves: the error may concern the first caller alone.
                if leads:
                    raise
            finally:
                flight.waiting -= 1
                if flight.task.done() or not flight.waiting:
                    flight.task.cancel()
                    if self._flights.get(slot) is flight:
                        del self._flights[slot]

    async def _find_or_ask(self, call: Call[CallResult], keys: Keys) -> str:
        found = await self._in_thread(self._store.find, keys)
        if found is not None and not is_failure(found):
            return found
        answer: CallResult | PromptTooLongError | RequestError
        try:
            answer = await self._inner.answer(call)
        except (PromptTooLongError, RequestError) as error:
            answer = error
        return await self._in_thread(self._store.keep, call, keys, answer, self.identity)


class ReplayEngine(_TranscriptEngine):
    """Answers from the file alone, without a model or tokenizer; the file may be read-only.

    A call that was not recorded raises `MissingError`.

    Args:
        file: the transcript.
        model: which of its engines to replay; may be left out where there is only one.

    Raises:
        MissingError: there is no such file.
        InputError: it is no transcript or damaged, or `model` matches none or several of its engines.
    """

    def __init__(self, file: Path, model: str | None = None) -> None:
        store = CallStore.to_replay(file)
        try:
            identity = choose_identity(file, store.identities(), model)
        except BaseException:
            store.close()
            raise
        super().__init__(store, identity)

    async def aclose(self) -> None:
        """Closes the file."""
        if not self._closed:
            self._closed = True
            await self._close()

    async def _find_recorded(self, call: Call[CallResult], keys: Keys) -> str:
        found = await self._in_thread(self._store.find, keys)
        if found is None:
            raise MissingError(
                f"{self._store.file} has no answer for {describe_call(call, keys)}: the data, the options or the prompts are "
                "not those of the recorded run, or it did not get so far. "
                f"Record it with the model: --transcript {self._store.file}, or a file of your own."
            )
        return found


def prepare(file: Path) -> None:
    """Makes a transcript, or checks the one that is there, so that errors come before a model is loaded for it.

    Raises:
        WriteError: it cannot be written. InputError: it is no transcript, another version's, or damaged.
    """
    CallStore.to_record(file).close()


def identities(file: Path) -> list[EngineIdentity]:
    """The identities of the engines whose answers the file has, in the order in which they were first used.

    Raises:
        MissingError: there is no such file. InputError: it is no transcript, another version's, or damaged.
    """
    with closing(CallStore.to_replay(file)) as store:
        return store.identities()


class RecordedCall(NamedTuple):
    """A call as a transcript keeps it: its stage, the messages that were sent, one below the other, and the answer."""

    stage: str
    sent: str
    answer: str


def read_calls(file: Path, most: int, shortened: Callable[[str], str]) -> tuple[list[RecordedCall], int]:
    """The first calls of a transcript for readers, at most so many, their texts shortened; and how many there are in all.

    Raises:
        MissingError: there is no such file. InputError: it is no transcript, another version's, or damaged.
    """
    try:
        with closing(CallStore.to_replay(file)) as store:
            calls = [
                RecordedCall(stage, shortened(_show_request(json.loads(sent))), shortened(_answer(json.loads(answer))))
                for stage, sent, answer in store.read_first(most)
            ]
            total = store.count()
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"{file} is damaged: a call in it cannot be read. Record it again.") from error
    return calls, total


def _show_request(request: Mapping[str, Any]) -> str:
    messages = [f"[{message['role']}]\n{message['content']}" for message in request["messages"]]
    return "\n\n".join([*messages, *([f"[labels]\n{', '.join(request['labels'])}"] if "labels" in request else [])])


def _answer(plain: Any) -> str:
    """A generated text as it is; anything else (the probabilities of labels, an error) as JSON."""
    text = plain.get("text") if isinstance(plain, dict) else None
    return text if isinstance(text, str) else json.dumps(plain, indent=1, ensure_ascii=False)


def choose_identity(file: Path, known: Sequence[EngineIdentity], model: str | None) -> EngineIdentity:
    """The one of the known identities that `model` names: by its name, as NAME@REVISION, or as the error message lists it.

    Raises:
        InputError: it matches none or several; the message lists them.
    """
    found = [one for one in known if model in (None, one.model, f"{one.model}@{one.revision}", describe_identity(one))]
    if len(found) == 1:
        return found[0]
    if not known:
        raise InputError(f"{file} has no calls yet. Record some with --transcript {file}")
    listed = "; ".join(f"'{describe_identity(one)}'" for one in found or known)
    wrong = f"keeps no answers of {model}, but of" if not found else "keeps answers of several models"
    raise InputError(f"{file} {wrong}: {listed}. Name one of them with --model.")


def describe_identity(identity: EngineIdentity) -> str:
    """All fields of an identity in one line."""
    precision = f"{identity.dtype} {identity.quantisation}" if identity.quantisation else identity.dtype
    return f"{identity.model}@{identity.revision} {precision}, template {identity.template}, window {identity.window}"


def describe_call(call: Call[CallResult], keys: Keys) -> str:
    """A call in words that help to find it: kind, stage, key, and the end of its last message."""
    stage = f" of the stage '{call.stage}'" if call.stage else ""
    # Many prompts begin alike, so the end is shown.
    words = " ".join(call.chat[-1].content.split()) if call.chat else ""
    excerpt = "".join(character for character in words[-EXCERPT_CHARACTERS:] if character.isprintable())
    return f"the call '{call.kind}'{stage} (key {keys.whole[:KEY_DIGITS]}..., ending in “{excerpt}”)"


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
