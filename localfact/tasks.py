"""Coroutines that run at once and end together: none is left behind when one of them fails or the caller is cancelled."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

Result = TypeVar("Result")


async def cancelled(tasks: Iterable[asyncio.Future[Any] | None]) -> None:
    """Cancels the tasks and waits until each has ended, however it ends."""
    waiting = [task for task in tasks if task is not None and not task.done()]
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


async def together(coroutines: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    """All results in order, or the first error once the others were cancelled and have ended."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        return await asyncio.gather(*tasks)
    finally:
        await cancelled(tasks)
