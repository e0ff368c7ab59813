"""A loop in a thread of its own ends whole, whoever is waiting; and Ctrl-C reaches what blocks a loop."""

import asyncio
import gc
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from localfact.errors import EngineError
from localfact.runtime.interrupts import interruptible
from localfact.runtime.loop_thread import LoopThread


@pytest.fixture
def thread() -> Iterator[LoopThread]:
    made = LoopThread("test")
    yield made
    made.end(nothing)


async def nothing() -> None:
    """What a loop ends with that holds nothing."""


async def forever(begun: threading.Event, ended: Callable[[], None] = lambda: None) -> None:
    begun.set()
    try:
        await asyncio.Event().wait()
    finally:
        ended()


async def called(thread: LoopThread) -> asyncio.Task[None]:
    """A call that is open on the other loop."""
    begun = threading.Event()
    caller = asyncio.create_task(thread.call(forever(begun)))
    await asyncio.to_thread(begun.wait)
    return caller


async def test_calls_return_what_they_return_there(thread: LoopThread) -> None:
    async def where() -> int:
        return threading.get_ident()

    assert await thread.call(where()) == thread.wait(where()) != threading.get_ident()


def test_a_thread_that_was_ended_holds_no_file_of_its_loop() -> None:
    def open_files() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    before = open_files()
    made = LoopThread("test")
    assert open_files() > before
    made.end(nothing)
    assert open_files() == before


async def test_an_open_call_and_a_later_one_fail_when_the_thread_is_ended(thread: LoopThread) -> None:
    caller = await called(thread)
    await asyncio.to_thread(thread.end, nothing)
    with pytest.raises(EngineError, match="closed"):
        await caller
    with pytest.raises(EngineError, match="closed"):
        await thread.call(forever(threading.Event()))


def test_a_thread_that_waits_and_a_later_one_are_told_that_it_was_ended_and_what_was_open_goes_last(thread: LoopThread) -> None:
    begun, ended = threading.Event(), list[str]()

    async def release(what: str) -> None:
        ended.append(what)

    with ThreadPoolExecutor(1) as other:
        waiting = other.submit(thread.wait, forever(begun, lambda: ended.append("call")))
        begun.wait()
        thread.end(lambda: release("last"))
        with pytest.raises(EngineError, match="The test was closed"):
            waiting.result()
    with pytest.raises(EngineError, match="The test was closed"):
        thread.wait(forever(begun))
    thread.end(lambda: release("again"))
    assert ended == ["call", "last"]


@pytest.mark.slow
async def test_a_caller_cancelled_while_the_thread_ends_is_cancelled_and_no_error_is_left_over(
    thread: LoopThread, caplog: pytest.LogCaptureFixture
) -> None:
    """The loop is held up, so that it meets the caller's cancellation and its own end at once."""
    caller = await called(thread)
    gate = threading.Event()
    thread._loop.call_soon_threadsafe(gate.wait)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    await asyncio.to_thread(thread.end, nothing, gate.set)
    gc.collect()
    assert not caplog.records


@pytest.mark.slow
async def test_what_fails_after_its_caller_has_gone_is_not_told(thread: LoopThread, caplog: pytest.LogCaptureFixture) -> None:
    begun = threading.Event()

    async def dies() -> None:
        try:
            await forever(begun)
        finally:
            raise EngineError("died")

    caller = asyncio.create_task(thread.call(dies()))
    await asyncio.to_thread(begun.wait)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    await asyncio.to_thread(thread.end, nothing)
    gc.collect()
    assert not caplog.records


def test_ctrl_c_is_heard_inside_a_call_that_blocks_a_loop() -> None:
    heard: list[str] = []

    async def blocks() -> None:
        with interruptible():
            signal.raise_signal(signal.SIGINT)
            heard.append("not")

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(blocks())
    assert not heard


def test_an_ignored_ctrl_c_stays_ignored_and_other_threads_have_none() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interruptible():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)

    async def elsewhere() -> None:
        with interruptible():
            assert signal.getsignal(signal.SIGINT) is before

    LoopThread("other").wait(elsewhere())
