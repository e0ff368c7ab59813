"""An event loop in a thread of its own, for an engine that outlives its callers' loops.

Below `llm/vllm.py`: no call is ever left waiting on a loop that has ended, and none runs on two.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent import futures
from typing import Any

from localfact.errors import EngineError
from localfact.runtime.tasks import Result, cancelled

_CLOSED = "The language model engine was closed."
#: How long to wait each time for a loop before something is done meanwhile.
_PATIENCE_SECONDS = 0.1


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

    def wait(self, coroutine: Coroutine[Any, Any, Result], meanwhile: Callable[[], None] = lambda: None) -> Result:
        """Blocks until the coroutine has run there, doing `meanwhile` now and then; returns what it returns."""
        running = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        while not futures.wait([running], timeout=_PATIENCE_SECONDS).done:
            meanwhile()
        return running.result()

    async def call(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Runs the coroutine there and waits here; a cancelled caller cancels it.

        Raises:
            EngineError: the thread was ended before or meanwhile.
        """
        with self._ending:
            if self._ended:
                coroutine.close()
                raise EngineError(_CLOSED)
            future = asyncio.run_coroutine_threadsafe(self._tracked(coroutine), self._loop)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if self._ended and caller is not None and not caller.cancelling():
                raise EngineError(_CLOSED) from None
            raise

    def end(self, last: Callable[[], None], free: Callable[[], None] = lambda: None) -> None:
        """Cancels every open call, runs `last` on the loop, and ends loop and thread. The second time it does nothing.

        Args:
            last: lets go of what lives on the loop.
            free: is called now and then while the loop does not come to its end; helps whatever holds it up to return.
        """
        with self._ending:
            if self._ended:
                return
            self._ended = True
        clearing = asyncio.run_coroutine_threadsafe(self._cancel_all(last), self._loop)
        while not futures.wait([clearing], timeout=_PATIENCE_SECONDS).done:
            free()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        clearing.result()

    async def _tracked(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        task = asyncio.current_task()
        assert task is not None
        self._calls.add(task)
        # Its caller may be gone when it fails: then nobody else asks for the error, and asyncio would print it.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            return await coroutine
        finally:
            self._calls.discard(task)

    async def _cancel_all(self, last: Callable[[], None]) -> None:
        await cancelled(self._calls)
        last()
        await asyncio.sleep(0)
        await cancelled(asyncio.all_tasks() - {asyncio.current_task()})
