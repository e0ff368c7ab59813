"""How Ctrl-C reaches what blocks an event loop."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interruptible() -> Iterator[None]:
    """For what blocks inside a coroutine: Ctrl-C raises KeyboardInterrupt there.

    asyncio would cancel the task instead, which a call that blocks does not learn before it is over. Where no handler stands
    (an ignored signal, another thread), nothing changes.
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
