"""An event loop in a thread of its own, for an engine that is used from several event loops, at once or one after the other.

A call never waits on a loop that has ended.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent import futures
from typing import Any

from localfact.errors import EngineError
from localfact.runtime.tasks import Result, cancel

#: Seconds between two calls of what is to be done while a thread waits for the loop.
_PATIENCE_SECONDS = 0.1


class LoopThread:
    """Runs coroutines in a daemon thread until it is ended. Any thread and any event loop may call it.

    Args:
        name: what lives there, in words, for messages: "language model engine".
    """

    def __init__(self, name: str) -> None:
        self._closed = f"The {name} was closed: make another to ask again."
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()
        self._calls: set[asyncio.Task[Any]] = set()
        self._ended = False
        self._ending = threading.Lock()

    def wait(self, coroutine: Coroutine[Any, Any, Result], meanwhile: Callable[[], None] = lambda: None) -> Result:
        """Runs the coroutine in the thread, blocks until it returns, and returns its result; calls `meanwhile` now and then.

        Raises:
            EngineError: the thread was ended before or meanwhile.
        """
        running = self._begin(coroutine)
        try:
            while not futures.wait([running], timeout=_PATIENCE_SECONDS).done:
                meanwhile()
            return running.result()
        except futures.CancelledError:
            if self._ended:
                raise EngineError(self._closed) from None
            raise
        finally:
            running.cancel()  # Ctrl-C: nobody waits for it any more

    async def call(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Runs the coroutine in the thread and awaits its result; cancelling the caller cancels it.

        Raises:
            EngineError: the thread was ended before or meanwhile.
        """
        try:
            return await asyncio.wrap_future(self._begin(coroutine))
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if self._ended and caller is not None and not caller.cancelling():
                raise EngineError(self._closed) from None
            raise

    def end(self, last: Callable[[], Awaitable[None]], free: Callable[[], None] = lambda: None) -> None:
        """Cancels every open call, awaits `last` on the loop, and ends loop and thread. Further calls do nothing.

        Args:
            last: releases what lives on the loop.
            free: called now and then while the loop has not ended; unblocks whatever delays it.
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

    def _begin(self, coroutine: Coroutine[Any, Any, Result]) -> futures.Future[Result]:
        with self._ending:
            if self._ended:
                coroutine.close()
                raise EngineError(self._closed)
            return asyncio.run_coroutine_threadsafe(self._track(coroutine), self._loop)

    async def _track(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        task = asyncio.current_task()
        assert task is not None
        self._calls.add(task)
        # Retrieves the error: where the caller was cancelled, asyncio would log it as never retrieved.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            return await coroutine
        finally:
            self._calls.discard(task)

    async def _cancel_all(self, last: Callable[[], Awaitable[None]]) -> None:
        await cancel(self._calls)
        try:
            await last()
        finally:
            await cancel(asyncio.all_tasks() - {asyncio.current_task()})
