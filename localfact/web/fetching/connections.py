"""Connections for fetching pages: made only to addresses that were checked, kept for the next page, over HTTP/1.1 or HTTP/2.

httpcore, the part of httpx that speaks HTTP, is used by itself: httpx's client takes no network backend, keeps cookies, decodes
a whole chunk without a bound, and loses an answer whose Location is no address.
"""

import ssl
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import httpcore
import httpx

from localfact.web.fetching.addresses import Addresses, host_of, port_of

#: Seconds that an idle connection is kept.
KEEP_SECONDS = 15.0
#: Of how many origins an idle connection is kept; each takes a file descriptor.
MOST_IDLE = 256
#: How many addresses of a host are tried.
MOST_TRIED = 4

Origin = tuple[str, str, int]


class CheckedBackend(httpcore.AsyncNetworkBackend):
    """Opens TCP connections: resolves the name, checks every address and connects to one of those checked.

    Between the check and the connection no name is resolved again, so that a name that changes its address (DNS rebinding)
    is no way around the check. TLS still verifies the name.
    """

    def __init__(self, addresses: Addresses) -> None:
        """Takes the judge of addresses."""
        self._addresses = addresses
        self._sockets = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connects to the first address that answers, each with an equal share of the time.

        Raises:
            PageError: the name does not resolve, or one of its addresses is refused.
            httpcore.ConnectError, httpcore.ConnectTimeout: none answers.
        """
        *first, last = (await self._addresses.resolved(host, port))[:MOST_TRIED]
        share = None if timeout is None else timeout / (len(first) + 1)
        for address in first:
            with suppress(httpcore.ConnectError, httpcore.ConnectTimeout):
                return await self._sockets.connect_tcp(address, port, share, local_address, socket_options)
        return await self._sockets.connect_tcp(last, port, share, local_address, socket_options)


@dataclass
class ArrivingAnswer:
    """An answer on its way.

    Attributes:
        whole: set by the reader once it has read the body to its end.
    """

    response: httpcore.Response
    whole: bool = False


class Connections:
    """Sends requests and hands out the answers as they arrive, one at a time over each connection."""

    def __init__(self, addresses: Addresses, certificates: ssl.SSLContext | None = None) -> None:
        """Takes the judge of addresses, and what TLS trusts: certifi's authorities, or SSL_CERT_FILE, if not told."""
        self._backend = CheckedBackend(addresses)
        self._certificates = certificates or httpx.create_ssl_context()
        # A pool is used by one request at a time: its one connection, which it makes anew where that is closed or too old. One
        # pool for all would look through every connection at each request. What was used last stands last.
        self._idle: dict[Origin, httpcore.AsyncConnectionPool] = {}

    @asynccontextmanager
    async def get(
        self, url: httpx.URL, headers: list[tuple[bytes, bytes]], read_seconds: float
    ) -> AsyncIterator[ArrivingAnswer]:
        """GETs a URL: the answer with its headers received and its body still to come.

        Raises:
            PageError: the address is refused, or does not resolve.
            Exception: whatever httpcore, h11 and h2 make of a broken connection or answer.
        """
        origin = (url.scheme, host_of(url), port_of(url))
        request = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        seconds = {"connect": read_seconds, "read": read_seconds, "write": read_seconds, "pool": None}
        pool = self._idle.pop(origin, None) or httpcore.AsyncConnectionPool(
            ssl_context=self._certificates, keepalive_expiry=KEEP_SECONDS, http2=True, network_backend=self._backend
        )
        whole = False
        try:
            async with pool.stream("GET", request, headers=headers, extensions={"timeout": seconds}) as response:
                arriving = ArrivingAnswer(response)
                yield arriving
                whole = arriving.whole
        finally:
            # Where a body was not read out, httpcore closes a connection of HTTP/1.1, but goes on with one of HTTP/2, without
            # a word to the server, which then sends until its window is used up.
            leaving = self._keep_idle(origin, pool) if whole else pool
            if leaving is not None:
                await leaving.aclose()

    async def aclose(self) -> None:
        """Closes the connections, once no answer is on its way."""
        while self._idle:
            await self._idle.popitem()[1].aclose()

    def _keep_idle(self, origin: Origin, pool: httpcore.AsyncConnectionPool) -> httpcore.AsyncConnectionPool | None:
        """Keeps a connection; gives the one that has to go for it."""
        leaving = self._idle.pop(origin, None)
        self._idle[origin] = pool
        return self._idle.pop(next(iter(self._idle))) if len(self._idle) > MOST_IDLE else leaving
