"""Web pages on loopback, good and bad on purpose, for tests. One asyncio loop serves any 127.0.0.x hosts.

    with serving(LoopbackPages(hosts=["127.0.0.1", "127.0.0.2"])) as site:
        site.url("/article/7", "127.0.0.2")

`/article/N` is an article about an island of its own (`island(host, N)`); loopback_bad_pages.py and loopback_endless_pages.py
have the rest.
"""

import asyncio
import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

import loopback_bad_pages  # noqa: F401  # its pages go into BAD, as do those of the next
import loopback_endless_pages  # noqa: F401
from loopback_streams import BAD, Stream

#: No request needs more.
REQUEST_BYTES = 65_536
ARTICLE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{name}, an island</title><meta name="date" content="{date}-03-05"></head>
<body><nav><a href="/">Home</a> <a href="/about">About</a></nav>
<article><h1>{name}</h1>
<p>{name} is an island of {area} square kilometres off the coast of Suderoy. It was settled in {year} by families of fishermen
who had lost their boats in a storm. Its highest hill, the {name} Knoll, rises {height} metres above the sea.</p>
<p>In the last census {name} had {sheep} sheep and {people} people. The wool is spun in a mill beside the harbour, which was
rebuilt after a fire and still runs on water from the hills.</p>
<p>The lighthouse of {name} was first lit in {lit}. Its lamp is seen {miles} nautical miles out at sea. Its keeper writes down
the weather every morning at six.</p>
</article>
<footer>Gazetteer of islands. All islands are made up.</footer></body></html>
"""


@dataclass(frozen=True)
class Reply:
    """A whole answer."""

    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html; charset=utf-8"),)


@dataclass(frozen=True)
class Asked:
    """One request: the host as in its Host header without the port, the path with its query, headers by lower-case name."""

    host: str
    path: str
    headers: dict[str, str]


@dataclass
class LoopbackPages:
    """What is served, and what was asked.

    Attributes:
        hosts: addresses of 127.0.0.0/8 to listen at, all on one port. delay: seconds before each good page.
        pages: path -> what is served there, before anything else. robots: host -> its robots.txt, or a status; 404 for others.
        asked: all requests in order. port: 0 takes a free one.
    """

    hosts: Sequence[str] = ("127.0.0.1",)
    delay: float = 0.0
    pages: dict[str, Reply] = field(default_factory=dict)
    robots: dict[str, bytes | int | Reply] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    port: int = 0
    certificates: ssl.SSLContext | None = None
    tries: dict[str, int] = field(default_factory=dict)
    _servers: list[asyncio.Server] = field(default_factory=list)

    def url(self, path: str, host: str = "") -> str:
        """The address of a page."""
        return f"{'https' if self.certificates else 'http'}://{host or self.hosts[0]}:{self.port}{path}"

    def paths(self, host: str = "") -> list[str]:
        """The paths asked for, at one host or at all, without robots.txt."""
        return [asked.path for asked in self.asked if host in ("", asked.host) and asked.path != "/robots.txt"]

    async def listen(self) -> None:
        """Begins to serve."""
        sockets = [self._bound(host) for host in self.hosts]
        for sock in sockets:
            server = await asyncio.start_server(self._serve, sock=sock, ssl=self.certificates, limit=REQUEST_BYTES)
            self._servers.append(server)

    async def close(self) -> None:
        """Ends serving; answers under way are broken off."""
        for server in self._servers:
            server.close()

    def _bound(self, host: str) -> socket.socket:
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, self.port))
        sock.listen(256)
        sock.setblocking(False)
        self.port = sock.getsockname()[1]
        return sock

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        expected = (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError)
        with contextlib.suppress(*expected, asyncio.CancelledError):  # cancelled when serving ends
            while await self._answer(await reader.readuntil(b"\r\n\r\n"), writer):
                pass
        writer.close()

    async def _answer(self, request: bytes, writer: asyncio.StreamWriter) -> bool:
        """Answers one request; says whether the connection stays open."""
        first, *lines = request.decode("latin-1").rstrip("\r\n").split("\r\n")
        method, path = first.split(" ")[:2]
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        host = headers.get("host", "").rpartition(":")[0]
        self.asked.append(Asked(host, path, headers))
        parts = urlsplit(path)
        reply = self._reply(host, parts.path)
        if reply is None and parts.path.strip("/").split("/")[0] in BAD:
            name, _, rest = parts.path.strip("/").partition("/")
            query = {key: values[0] for key, values in parse_qs(parts.query).items()}
            await BAD[name](Stream(writer, host, rest, query, path, self.tries))
            return False
        if self.delay and reply is not None and parts.path != "/robots.txt":
            await asyncio.sleep(self.delay)
        reply = reply or Reply(b"There is no such page.", 404)
        stated = "".join(f"{name}: {value}\r\n" for name, value in reply.headers)
        head = f"HTTP/1.1 {reply.status} Loopback\r\n{stated}Content-Length: {len(reply.body)}\r\n\r\n"
        writer.write(head.encode("latin-1") + (b"" if method == "HEAD" else reply.body))
        await writer.drain()
        return headers.get("connection", "").lower() != "close"

    def _reply(self, host: str, path: str) -> Reply | None:
        if path == "/robots.txt":
            robots = self.robots.get(host, 404)
            if isinstance(robots, Reply):
                return robots
            return Reply(status=robots) if isinstance(robots, int) else Reply(robots, headers=(("Content-Type", "text/plain"),))
        if path in self.pages:
            return self.pages[path]
        name, _, number = path.strip("/").partition("/")
        return Reply(article(host, int(number)).encode()) if name == "article" and number.isdecimal() else None


def island(host: str, number: int) -> str:
    """The name of the island that an article is about; another one for every host and number."""
    syllables = (
        "nor",
        "sund",
        "hal",
        "vik",
        "oster",
        "mar",
        "tind",
        "brek",
        "lo",
        "gar",
        "fen",
        "ask",
        "ul",
        "dra",
        "stol",
        "vey",
    )
    place = sum(int(part) * 256**power for power, part in enumerate(reversed(host.split("."))) if part.isdecimal())
    rest, name = place * 1_000_003 + number, ""
    while rest or not name:
        rest, digit = divmod(rest, len(syllables))
        name += syllables[digit]
    return name.capitalize()


def article(host: str, number: int) -> str:
    """An article in HTML, some 1,100 characters, with a navigation and a footer around it."""
    name = island(host, number)
    year, sheep = 1700 + number * 7 % 300, 100 + number * 13 % 9_000
    return ARTICLE.format(
        name=name,
        area=3 + number % 40,
        year=year,
        height=40 + number * 11 % 1_200,
        sheep=sheep,
        people=sheep // 9,
        lit=year + 60,
        miles=10 + number % 15,
        date=2000 + number % 24,
    )


@contextlib.contextmanager
def serving(site: LoopbackPages) -> Iterator[LoopbackPages]:
    """Serves from a thread of its own until the block ends."""
    loop = asyncio.new_event_loop()
    ready = threading.Event()

    def work() -> None:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(site.listen())
        ready.set()
        loop.run_forever()
        loop.run_until_complete(site.close())
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.close()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    if not ready.wait(10):
        raise RuntimeError("the loopback server did not start")
    try:
        yield site
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
