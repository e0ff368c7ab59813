"""Lets Ctrl-C interrupt code that blocks an event loop."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interruptible() -> Iterator[None]:
    """Makes Ctrl-C raise KeyboardInterrupt in code inside a coroutine that blocks the event loop.

    asyncio would cancel the task instead, which blocking code only notices when it is done. Where Python has no handler for the
    signal (it is ignored, or this is not the main thread), nothing changes.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
