"""Runs coroutines at once and ends them together: none is left running when one fails or the caller is cancelled."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from localfact.errors import LocalFactError

Entry = TypeVar("Entry")
Result = TypeVar("Result")


async def cancel(tasks: Iterable[asyncio.Future[Any] | None]) -> None:
    """Cancels the tasks and waits until all have ended; their errors are ignored."""
    waiting = [task for task in tasks if task is not None and not task.done()]
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


async def together(coroutines: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    """Runs the coroutines at once. Returns all results in order or, once all have ended, raises the first error in that order.

    Waiting for all makes what was sent independent of which failed first, so that a repetition from a transcript sends the
    same. A cancelled caller cancels them all.
    """
    ended = await asyncio.gather(*coroutines, return_exceptions=True)
    for end in ended:
        if isinstance(end, BaseException):
            raise end
    return [end for end in ended if not isinstance(end, BaseException)]


async def for_each(items: Iterable[Entry], do: Callable[[Entry], Awaitable[None]], at_once: int) -> None:
    """Calls `do` for every item, started in their order, at most `at_once` at a time.

    Raises:
        LocalFactError: the first that `do` raises, after the other running calls were cancelled and have ended.
    """
    waiting = iter(items)

    async def work() -> None:
        for item in waiting:
            await do(item)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(max(1, at_once)):
                group.create_task(work())
    except ExceptionGroup as errors:  # not `except*`: out of that Python 3.11.2 raises a group again
        ours, others = errors.split(LocalFactError)
        if ours is None or others is not None:
            raise
        raise ours.exceptions[0] from None


def complete(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Runs a coroutine from synchronous code, also where an event loop is running already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
