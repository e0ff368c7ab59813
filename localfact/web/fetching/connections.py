"""Connections for fetching pages: made to checked addresses only, reused for the next page, over HTTP/1.1 or HTTP/2.

httpcore, the transport of httpx, is used directly: httpx's client takes no network backend, keeps cookies, decodes a whole
chunk without a limit, and loses an answer whose Location is no address.
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
#: The most addresses of a host that are tried.
MOST_TRIED = 4

Origin = tuple[str, str, int]


class CheckedBackend(httpcore.AsyncNetworkBackend):
    """Opens TCP connections: resolves the name, checks every address, and connects to one of them.

    The name is not resolved again between check and connection, so a name that changes its address (DNS rebinding) cannot evade
    the check. TLS still verifies the name.
    """

    def __init__(self, addresses: Addresses) -> None:
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
        """Connects to the first address that answers; each gets an equal share of the time.

        Raises:
            PageError: the name does not resolve, or one of its addresses is refused.
            httpcore.ConnectError, httpcore.ConnectTimeout: none answers.
        """
        *first, last = (await self._addresses.resolve(host, port))[:MOST_TRIED]
        share = None if timeout is None else timeout / (len(first) + 1)
        for address in first:
            with suppress(httpcore.ConnectError, httpcore.ConnectTimeout):
                return await self._sockets.connect_tcp(address, port, share, local_address, socket_options)
        return await self._sockets.connect_tcp(last, port, share, local_address, socket_options)


@dataclass
class ArrivingAnswer:
    """An answer whose headers have arrived.

    Attributes:
        whole: to be set by the reader once it has read the body to its end; the connection is then reused.
    """

    response: httpcore.Response
    whole: bool = False


class Connections:
    """Sends GET requests and returns answers while they arrive, one at a time over each connection.

    Args:
        addresses: checks and resolves.
        certificates: what TLS trusts; by default certifi's authorities, or SSL_CERT_FILE.
    """

    def __init__(self, addresses: Addresses, certificates: ssl.SSLContext | None = None) -> None:
        self._backend = CheckedBackend(addresses)
        self._certificates = certificates or httpx.create_ssl_context()
        # By origin, the one used last at the end. Each pool holds one connection, for one request at a time, and renews it if
        # it is closed or too old. One pool for all origins would search all connections at each request.
        self._idle: dict[Origin, httpcore.AsyncConnectionPool] = {}

    @asynccontextmanager
    async def get(
        self, url: httpx.URL, headers: list[tuple[bytes, bytes]], read_seconds: float
    ) -> AsyncIterator[ArrivingAnswer]:
        """GETs a URL: yields the answer once its headers have arrived; the body is still to be read.

        Raises:
            PageError: the address is refused, or does not resolve.
            Exception: any error of httpcore, h11 and h2 about a broken connection or answer.
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
            # Where a body was not read to its end, httpcore closes an HTTP/1.1 connection, but keeps an HTTP/2 one without
            # telling the server, which then sends until its window is used up.
            leaving = self._keep_idle(origin, pool) if whole else pool
            if leaving is not None:
                await leaving.aclose()

    async def aclose(self) -> None:
        """Closes the idle connections; no answer may be arriving."""
        while self._idle:
            await self._idle.popitem()[1].aclose()

    def _keep_idle(self, origin: Origin, pool: httpcore.AsyncConnectionPool) -> httpcore.AsyncConnectionPool | None:
        """Keeps an idle connection; returns one to be closed for it, if any."""
        leaving = self._idle.pop(origin, None)
        self._idle[origin] = pool
        return self._idle.pop(next(iter(self._idle))) if len(self._idle) > MOST_IDLE else leaving
