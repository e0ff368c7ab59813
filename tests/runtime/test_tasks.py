"""Coroutines that run together end together."""

import asyncio

import pytest

from localfact.runtime.tasks import together


async def forever(ended: list[str]) -> None:
    try:
        await asyncio.Event().wait()
    finally:
        ended.append("cancelled")


async def wrong() -> None:
    await asyncio.sleep(0)
    raise ValueError("wrong")


async def test_results_come_in_the_order_of_the_coroutines() -> None:
    turn = asyncio.Event()

    async def first() -> int:
        await turn.wait()
        return 1

    async def second() -> int:
        turn.set()
        return 2

    assert await together([first(), second()]) == [1, 2]


async def test_the_first_error_in_order_is_raised_once_all_have_ended() -> None:
    ended: list[str] = []

    async def late(what: str) -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        ended.append(what)
        raise KeyError(what)

    with pytest.raises(KeyError, match="first"):
        await together([late("first"), wrong(), late("last")])
    assert ended == ["first", "last"]


async def test_a_cancelled_caller_leaves_nothing_running() -> None:
    ended: list[str] = []
    caller = asyncio.create_task(together([forever(ended), forever(ended)]))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert ended == ["cancelled"] * 2
