"""An event loop in a thread of its own, for an engine that outlives its callers' loops.

Below `llm/vllm.py`: no call is ever left waiting on a loop that has ended, and none runs on two.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

from localfact.errors import EngineError
from localfact.tasks import Result, cancelled

_CLOSED = "The language model engine was closed."


class LoopThread:
    """Runs coroutines until it is ended. Any thread and any event loop may call it."""

    def __init__(self, name: str) -> None:
        """Starts the thread; it never keeps the interpreter alive."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()
        self._calls: set[asyncio.Task[Any]] = set()
        self._ended = False
        self._ending = threading.Lock()

    def wait(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Blocks until the coroutine has run there; returns what it returns."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    async def call(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Runs the coroutine there and waits here; a cancelled caller cancels it.

        Raises:
            EngineError: the thread was ended before or meanwhile.
        """
        with self._ending:
            if self._ended:
                coroutine.close()
                raise EngineError(_CLOSED)
            future = asyncio.run_coroutine_threadsafe(self._kept(coroutine), self._loop)
        return await asyncio.wrap_future(future)

    def end(self, last: Callable[[], None]) -> None:
        """Fails every open call, runs `last` on the loop, and ends loop and thread. The second time it does nothing."""
        with self._ending:
            if self._ended:
                return
            self._ended = True
        self.wait(self._cleared(last))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _kept(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        task = asyncio.current_task()
        assert task is not None
        self._calls.add(task)
        try:
            return await coroutine
        except asyncio.CancelledError:
            if self._ended:
                raise EngineError(_CLOSED) from None
            raise
        finally:
            self._calls.discard(task)

    async def _cleared(self, last: Callable[[], None]) -> None:
        await cancelled(self._calls)
        last()
        await asyncio.sleep(0)
        await cancelled(asyncio.all_tasks() - {asyncio.current_task()})
