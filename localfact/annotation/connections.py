"""The connections of a server of ours: how long the other side may take, and how many there are.

uvicorn waits for the end of a request, and for a reader of its answer, as long as the other side likes; enough of those, and no
descriptor is left for anybody else.
"""

import asyncio
import resource

from uvicorn.protocols.http.h11_impl import H11Protocol

#: Seconds that the other side may take to ask, to end its question, and to read the answer, and a connection without any.
PATIENCE = 30.0
#: The fewest and the most connections that there may be; descriptors that are left for the database, modules, the guide.
FEWEST_CONNECTIONS, MOST_CONNECTIONS, OTHER_DESCRIPTORS = 8, 500, 48


def most_connections(backlog: int) -> int:
    """How many connections this process can have open. `backlog`: how many may be accepted before one of them is looked at."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return min(MOST_CONNECTIONS, max(FEWEST_CONNECTIONS, limit - OTHER_DESCRIPTORS - backlog))


def protocol_of(patience: float, most: int) -> type[H11Protocol]:
    """HTTP whose connections are so many, and waited for so many seconds; beyond, the oldest idle one is ended.

    While we are at work on an answer, nobody is waited for: it may take as long as it takes.
    """

    class BoundedProtocol(H11Protocol):
        _since: float
        _end: asyncio.TimerHandle

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._begin_to_wait()
            open_ones = [one for one in self.connections if isinstance(one, BoundedProtocol) and not one.transport.is_closing()]
            if len(open_ones) > most:
                others = (one for one in open_ones if one is not self)
                min(others, key=lambda one: (not one._is_idle, one._since)).transport.abort()

        def on_response_complete(self) -> None:
            self._end.cancel()
            self._begin_to_wait()
            super().on_response_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            self._end.cancel()
            super().connection_lost(exc)

        def _begin_to_wait(self) -> None:
            self._since = self.loop.time()
            self._end = self.loop.call_later(patience, self._end_unless_at_work)

        def _end_unless_at_work(self) -> None:
            if self._is_idle:
                # Closing would wait until the other side has taken what is left of an answer.
                self.transport.abort()
            else:
                self._end = self.loop.call_later(patience, self._end_unless_at_work)

        @property
        def _is_idle(self) -> bool:
            """Whether the other side is waited for: to ask, to end its question, or to take the answer."""
            cycle = self.cycle
            return cycle is None or cycle.response_complete or cycle.more_body or self.flow.write_paused

    return BoundedProtocol
