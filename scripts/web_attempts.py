"""Attempts of `scripts/attempts.py` by the web: addresses of closed networks, pages that want all time or memory, servers."""

import asyncio
import contextlib
import gzip
import ipaddress
import random
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from pathlib import Path

from localfact.runtime.tasks import complete
from localfact.web.extracting.extractors import Extractors
from localfact.web.fetching.addresses import Addresses, host_of, port_of
from localfact.web.fetching.failures import PageError
from localfact.web.fetching.fetch import Fetcher
from localfact.web.fetching.fetched import FetchError

#: Networks that no page may lead to.
CLOSED = (
    *("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10", "0.0.0.0/8"),
    *("224.0.0.0/4", "240.0.0.0/4", "192.0.0.0/24", "198.18.0.0/15", "203.0.113.0/24", "168.63.129.16/32"),
)
CLOSED_IPV6 = (
    *("::1/128", "fc00::/7", "fe80::/10", "ff00::/8", "::ffff:0:0/96", "64:ff9b::/96", "2002::/16", "2001:db8::/32"),
    "100::/64",
)


def addresses(count: int, seed: int, folder: Path) -> Iterator[str | None]:
    """Links to closed networks, spelled as resolvers, browsers and tunnels read them, and names that resolve there."""
    chance = random.Random(f"addresses {seed}")
    for _ in range(count):
        link, found = _closed_link(chance)

        async def resolve(host: str, port: int, found: str = found) -> Sequence[str]:
            return [found]

        checked = Addresses(resolve=resolve)
        try:
            url = checked.target(link)
            reached = complete(checked.resolve(host_of(url), port_of(url)))
        except PageError:
            yield None
        else:
            yield f"{link} leads to {reached}"
        finally:
            checked.close()


def _closed_link(chance: random.Random) -> tuple[str, str]:
    """A link, and the address that a resolver would find for its host."""
    if chance.random() < 0.3:
        network = ipaddress.IPv6Network(chance.choice(CLOSED_IPV6))
        address6 = network[chance.randrange(min(network.num_addresses, 2**60))]
        spelled = chance.choice((address6.compressed, address6.exploded, address6.compressed.upper()))
        return f"http://[{spelled}]/", str(address6)
    network4 = ipaddress.IPv4Network(chance.choice(CLOSED))
    address = network4[chance.randrange(network4.num_addresses)]
    whole, bytes4 = int(address), str(address).split(".")
    spelled = chance.choice(
        (
            str(address), str(whole), hex(whole), f"0{whole:o}", ".".join(map(hex, map(int, bytes4))), f"[::ffff:{address}]",
            ".".join(f"0{int(byte):o}" for byte in bytes4), f"{bytes4[0]}.{whole & 0xFFFFFF}", f"[::{address}]", f"{address}.",
            f"[64:ff9b::{address}]", f"[2002:{whole >> 16:x}:{whole & 0xFFFF:x}::]", "rebound.example",
            f"{address}.nip.example",
            str(address).replace(".", "。"),
            "".join(chr(ord(sign) + 0xFEE0) if sign.isdigit() else sign for sign in str(address)),
        )
    )  # fmt: skip
    scheme, before = chance.choice(("http", "https", "HTTP")), chance.choice(("", "", "", "a.example@", "u:p@", "a.example\\@"))
    port = chance.choice(("", "", ":80", ":443", ":8080", ":22"))
    return f"{scheme}://{before}{spelled}{port}/{chance.choice(('', 'latest/meta-data', '?a=http://a.example/'))}", str(address)


GOOD = b"<html><body><p>Its lamp was first lit on 3 May 1862.</p></body></html>"
#: Seconds and bytes that a page gets here, and seconds in which it must then have ended.
BOMB_SECONDS, BOMB_BYTES, BOMB_END = 2.0, 60_000_000, 12.0


def bombs(count: int, seed: int, folder: Path) -> Iterator[str | None]:
    """Pages that want all time or all memory: each ends in a text or a reason, and the good page after it is read."""
    chance = random.Random(f"bombs {seed}")
    with Extractors(1, seconds=BOMB_SECONDS, memory_bytes=BOMB_BYTES) as extractors:
        extractors.extract_now(GOOD, "text/html", None, "https://a.example/")
        for _ in range(count):
            what, body, media_type = _bomb(chance)
            begin = time.monotonic()
            with contextlib.suppress(PageError):
                extractors.extract_now(body, media_type, None, "https://a.example/")
            seconds = time.monotonic() - begin
            read = extractors.extract_now(GOOD, "text/html", None, "https://a.example/").text
            yield f"{what}: {seconds:.0f} s, then {read!r}" if seconds > BOMB_END or "1862" not in read else None


TAGS = ("div", "b", "i", "table", "td", "ul", "a", "font", "svg", "math", "select", "template", "p", "style", "form")


def _bomb(chance: random.Random) -> tuple[str, bytes, str]:
    tag = chance.choice(TAGS)
    size = chance.choice((1_000, 30_000, 200_000))
    entity = b"<!DOCTYPE html [<!ENTITY a 'aaaaaaaaaa'>" + b"".join(
        b"<!ENTITY a%d '%s'>" % (number, b"&a%d;" % (number - 1) * 10) for number in range(1, 12)
    )
    ways: Mapping[str, Callable[[], bytes]] = {
        "open tags": lambda: f"<{tag}>".encode() * size,
        "closed tags": lambda: f"<{tag}></{tag}>x".encode() * size,
        "two tags": lambda: f"<{tag}><b>".encode() * size,
        "end tags": lambda: f"</{tag}>".encode() * size,
        "attributes": lambda: f"<{tag} ".encode() + b"a=b " * size + b">x",
        "a long attribute": lambda: f"<{tag} title='".encode() + b"x" * 20 * size + b"'>x",
        "comments": lambda: b"<!--" * size,
        "entities": lambda: entity + b"]><p>&a11;</p>",
        "characters": lambda: b"&#x41;&amp;&lt;" * size,
        "noise": lambda: chance.randbytes(10 * size),
        "one word": lambda: b"<p>" + b"a" * 20 * size,
        "rules": lambda: b"<style>" + b"p > a:not(b) ~ c { display: none }" * size + b"</style>" + b"<p>x</p>" * size,
        "a deep rule": lambda: b"<style>" + b"@media screen {" * size + b"</style><p>x",
        "a deep sum": lambda: b"<p style='width: calc(" + b"(" * size + b"1px'>x",
        "scripts": lambda: b"<script>" + b"<!--<script>" * size,
        "a PDF of references": lambda: b"%PDF-1.4\n" + b"1 0 obj << /Kids [1 0 R] >> endobj\n" * size,
        "a PDF of brackets": lambda: b"%PDF-1.4\n1 0 obj " + b"[" * size + b"\ntrailer << /Root 1 0 R >>",
    }  # fmt: skip
    what = chance.choice(sorted(ways))
    return f"{what} ({tag}, {size})", ways[what](), "application/pdf" if "PDF" in what else "text/html"


#: Seconds and bytes that a page gets here, and seconds in which its fetch must then have ended.
PAGE_SECONDS, PAGE_BYTES, PAGE_END = 1.0, 1_000_000, 8.0


def servers(count: int, seed: int, folder: Path) -> Iterator[str | None]:
    """Servers that answer wrongly, slowly, endlessly or somewhere else: each fetch ends in time, in a page or a reason."""
    chance = random.Random(f"servers {seed}")
    for _ in range(count):
        what, pieces = _answer(chance)
        begin = time.monotonic()
        try:
            size = asyncio.run(_fetched(pieces))
        except FetchError:
            size = 0
        seconds = time.monotonic() - begin
        yield f"{what}: {seconds:.0f} s, {size:,} bytes" if seconds > PAGE_END or size > PAGE_BYTES else None


@contextlib.asynccontextmanager
async def served(pieces: Callable[[], AsyncIterator[bytes]]) -> AsyncIterator[int]:
    """The port of a server that writes pieces, whatever it is asked."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await reader.readuntil(b"\r\n\r\n")
            async for piece in pieces():
                writer.write(piece)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def _fetched(pieces: Callable[[], AsyncIterator[bytes]]) -> int:
    """How many bytes of a page come of what a server writes."""
    async with served(pieces) as port:
        fetcher = Fetcher(
            host_delay=0, total_seconds=PAGE_SECONDS, read_seconds=PAGE_SECONDS, max_bytes=PAGE_BYTES, robots=False,
            allow_hosts=[f"127.0.0.1:{port}"],
        )  # fmt: skip
        try:
            return len((await fetcher.fetch(f"http://127.0.0.1:{port}/")).body)
        finally:
            await fetcher.aclose()


def _answer(chance: random.Random) -> tuple[str, Callable[[], AsyncIterator[bytes]]]:
    """What a server writes, in pieces."""
    status = chance.choice(
        (b"200 OK", b"200", b"999 ?", b"-1 x", b"204 No", b"206 Part", b"\xff\xff", b"301 There", b"503 Busy", b"100 Go")
    )
    headers = chance.choice(
        (
            b"Content-Type: text/html\r\n", b"Content-Type: text/html\r\nContent-Length: 99999999999999999999\r\n",
            b"Content-Type: text/html\r\nContent-Length: -5\r\n", b"Content-Type: text/html\r\nTransfer-Encoding: chunked\r\n",
            b"Content-Type: text/html\r\nContent-Encoding: gzip\r\n",
            b"Content-Type: text/html\r\nContent-Encoding: gzip, gzip, br\r\n",
            b"Location: http://169.254.169.254/latest\r\n", b"Location: file:///etc/passwd\r\n", b"Location: /\r\n",
            b"X: " + b"a" * 200_000 + b"\r\n", b"".join(b"X-%d: a\r\n" % number for number in range(5_000)), b"no header\r\n",
            b"Content-Type: \x1b]52;c;eA==\x07\r\n", b"Retry-After: 99999999999\r\n", b": \r\n",
            b"Content-Type: text/html\r\n\r\n",
        )
    )  # fmt: skip
    huge = gzip.compress(b"a" * 50_000_000)
    body = chance.choice((GOOD, b"", huge, b"\x00" * 3_000_000, b"FFFFFFFFFFFFFFFF\r\n", b"5\r\nhello\r\n-1\r\n", b"<p>" * 999))
    pace = chance.choice(("at once", "at once", "by the byte", "endless", "silent", "cut"))

    async def pieces() -> AsyncIterator[bytes]:
        head = b"HTTP/1.1 " + status + b"\r\n" + headers + b"\r\n"
        if pace == "silent":
            await asyncio.sleep(PAGE_END)
        elif pace == "cut":
            yield (head + body)[: chance.randrange(len(head) + len(body))]
        elif pace == "by the byte":
            for byte in (head + body)[:2_000]:
                await asyncio.sleep(0.02)
                yield bytes([byte])
        else:
            yield head
            yield body
        while pace == "endless":
            yield b"a" * 65_536

    return f"{status!r}, {headers[:40]!r}, {body[:12]!r}, {pace}", pieces
