"""When a host may be asked: turns with a delay between starts, few at once at one host, many over all hosts."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

Sleep = Callable[[float], Awaitable[object]]
Clock = Callable[[], float]

#: With more remembered hosts than this, those that need not wait any more are forgotten.
MOST_HOSTS = 4096


@dataclass
class _Host:
    """The state of one host: how many may be inside, and when the next turn may begin."""

    room: asyncio.Semaphore
    gate: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0
    next_start: float = 0.0
    held_until: float = 0.0


class Turns:
    """Gives turns to ask a host, first come first served. Waiting for a turn blocks no other host.

    Args:
        at_once, per_host: the most turns at a time in all, and at one host.
        host_delay: seconds between two starts at one host.
        sleep, clock: for tests.
    """

    def __init__(
        self,
        *,
        at_once: int,
        per_host: int,
        host_delay: float,
        sleep: Sleep = asyncio.sleep,
        clock: Clock = time.monotonic,
    ) -> None:
        self._everywhere = asyncio.Semaphore(max(1, at_once))
        self._per_host = max(1, per_host)
        self._host_delay = host_delay
        self._sleep = sleep
        self._clock = clock
        self._hosts: dict[str, _Host] = {}

    @asynccontextmanager
    async def turn(self, host: str, *, delay: float = 0.0, spaced: bool = True) -> AsyncIterator[None]:
        """A turn at the host, while the block runs.

        Args:
            delay: seconds that the host asks for between starts, where that is more than the usual delay.
            spaced: False for a request that does not count as a page (robots.txt).
        """
        own = self._host(host)
        own.users += 1
        try:
            async with own.room:
                async with own.gate:
                    await self._until_free(own, spaced)
                    await self._everywhere.acquire()
                    if spaced:
                        own.next_start = self._clock() + max(self._host_delay, delay)
                try:
                    yield
                finally:
                    self._everywhere.release()
        finally:
            own.users -= 1

    def hold_back(self, host: str, seconds: float) -> None:
        """Starts nothing at the host for so many seconds, as it asked with Retry-After."""
        own = self._host(host)
        own.held_until = max(own.held_until, self._clock() + seconds)

    async def _until_free(self, own: _Host, spaced: bool) -> None:
        while True:
            wait = max(own.held_until, own.next_start if spaced else 0.0) - self._clock()
            if wait <= 0:
                return
            await self._sleep(wait)

    def _host(self, host: str) -> _Host:
        if host not in self._hosts:
            if len(self._hosts) >= MOST_HOSTS:
                self._forget_rested()
            self._hosts[host] = _Host(room=asyncio.Semaphore(self._per_host))
        return self._hosts[host]

    def _forget_rested(self) -> None:
        now = self._clock()
        for host, own in list(self._hosts.items()):
            if own.users == 0 and max(own.next_start, own.held_until) <= now:
                del self._hosts[host]
