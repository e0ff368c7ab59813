"""A relation model with a memory: no pair is sent to the same model twice.

Its file (`store.py`) lies in the run folder. The pairs of an FR3 run also serve FR1 and FR2, and a run that is resumed.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

from localfact.records import Distribution, Failure, Pair
from localfact.relations.store import RelationStore
from localfact.runtime.usage import note_window
from localfact.stages import RelationModel, Relations

Result = TypeVar("Result")

#: Pairs in one call of a model that is no `ReportingModel`: its predictions are written once the whole call has returned.
PAIRS_AT_ONCE = 1_024


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
    """A RelationModel that splits long pairs by a window that depends on the machine, and so is no part of its identity."""

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
            note_window(self._window)  # also where another call, or another process, asked the model
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
