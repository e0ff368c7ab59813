"""Pages that take more time or room than anybody should give them; loopback_pages.py serves them at /NAME."""

import asyncio
import gzip
import zlib

from loopback_streams import HTML, LONGEST, Stream, bad, until


@bad("slow-drip")
async def slow_drip(stream: Stream) -> None:
    """A byte every 50 ms, for ever."""
    await stream.head(content_type=HTML)
    going = until()
    while going():
        await stream.write(b"x")
        await asyncio.sleep(0.05)


@bad("slow-headers")
async def slow_headers(stream: Stream) -> None:
    """A byte of a header every 50 ms, for ever."""
    await stream.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    going = until()
    while going():
        await stream.write(b"x")
        await asyncio.sleep(0.05)


@bad("silent")
async def silent(stream: Stream) -> None:
    """Nothing at all."""
    await asyncio.sleep(LONGEST)


@bad("stalled")
async def stalled(stream: Stream) -> None:
    """The beginning of a page, and then nothing."""
    await stream.head(content_type=HTML, content_length="1000")
    await stream.write(b"<p>The beginning")
    await asyncio.sleep(LONGEST)


@bad("never-ending")
async def never_ending(stream: Stream) -> None:
    """Text as fast as it is taken."""
    await stream.head(content_type=HTML)
    going = until()
    while going():
        await stream.write(b"<p>and so on and on</p>\n" * 2_000)


@bad("tiny-chunks")
async def tiny_chunks(stream: Stream) -> None:
    """Chunks of one byte, for ever."""
    await stream.head(content_type=HTML, transfer_encoding="chunked")
    going = until()
    while going():
        await stream.write(b"1\r\nx\r\n" * 10_000)


@bad("large")
async def large(stream: Stream) -> None:
    """A page of ?bytes=, 50 MB if not told, of a stated length, or with ?stated=no of none."""
    size = int(stream.query.get("bytes", "50000000"))
    stated = {} if stream.query.get("stated") == "no" else {"content_length": str(size)}
    await stream.head(content_type=HTML, **stated)
    block = b"<p>All of it is text.</p>\n" * 4_000
    for start in range(0, size, len(block)):
        await stream.write(block[: size - start])


@bad("gzip-bomb")
async def gzip_bomb(stream: Stream) -> None:
    """A gigabyte of zeros as a megabyte of gzip, or of ?coding=deflate."""
    window = zlib.MAX_WBITS if stream.query.get("coding") == "deflate" else 16 + zlib.MAX_WBITS
    await stream.head(content_type=HTML, content_encoding=stream.query.get("coding", "gzip"))
    packer = zlib.compressobj(9, zlib.DEFLATED, window)
    block = bytes(1_000_000)
    for _ in range(1_000):
        await stream.write(packer.compress(block))
        await asyncio.sleep(0)
    await stream.write(packer.flush())


@bad("gzip-members")
async def gzip_members(stream: Stream) -> None:
    """Half a million empty members of gzip."""
    await stream.head(content_type=HTML, content_encoding="gzip")
    for _ in range(500):
        await stream.write(gzip.compress(b"", mtime=0) * 1_000)


@bad("header-bomb")
async def header_bomb(stream: Stream) -> None:
    """Headers without end."""
    await stream.write(b"HTTP/1.1 200 OK\r\n")
    going = until()
    number = 0
    while going():
        number += 1
        await stream.write(f"X-Header-{number}: {'x' * 1000}\r\n".encode() * 10)


@bad("redirect-drip")
async def redirect_drip(stream: Stream) -> None:
    """A redirect to the good page whose own body never ends."""
    await stream.head(302, content_type=HTML, location="/redirect/0")
    going = until()
    while going():
        await stream.write(b"x")
        await asyncio.sleep(0.05)
