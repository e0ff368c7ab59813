"""Answers written by hand, byte by byte, as the bad pages on loopback are. Endless ones end after LONGEST seconds."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

#: Seconds, so that no test that fails leaves a server at work.
LONGEST = 120.0
HTML = "text/html; charset=utf-8"
GOOD = (
    b"<!DOCTYPE html><html><head><title>There</title></head><body><p>Here it is after all, as was promised.</p></body></html>"
)

BAD: "dict[str, Callable[[Stream], Awaitable[None]]]" = {}


@dataclass
class Stream:
    """One answer to write by hand. `rest` is the path after the name; `tries` counts what was asked how often."""

    writer: asyncio.StreamWriter
    host: str
    rest: str
    query: dict[str, str]
    path: str
    tries: dict[str, int]

    async def head(self, status: int = 200, /, **headers: str) -> None:
        """Writes the status and headers; `content_type` becomes Content-Type."""
        lines = "".join(f"{name.replace('_', '-').title()}: {value}\r\n" for name, value in headers.items())
        await self.write(f"HTTP/1.1 {status} Loopback\r\n{lines}Connection: close\r\n\r\n".encode("latin-1"))

    async def write(self, data: bytes) -> None:
        """Writes and waits until the other side takes it."""
        self.writer.write(data)
        await self.writer.drain()

    async def whole(self, body: bytes, status: int = 200, content_type: str = HTML, **headers: str) -> None:
        """Writes a whole answer."""
        await self.head(status, content_type=content_type, content_length=str(len(body)), **headers)
        await self.write(body)


def bad(name: str) -> Callable[[Callable[[Stream], Awaitable[None]]], Callable[[Stream], Awaitable[None]]]:
    """Serves what is decorated at /name."""

    def named(function: Callable[[Stream], Awaitable[None]]) -> Callable[[Stream], Awaitable[None]]:
        BAD[name] = function
        return function

    return named


def until() -> Callable[[], bool]:
    """Whether there is time left."""
    end = time.monotonic() + LONGEST
    return lambda: time.monotonic() < end
