"""Connections for fetching pages: made only to addresses that were checked, kept per origin, over HTTP/1.1 or HTTP/2.

httpcore, the part of httpx that speaks HTTP, is used by itself: what httpx's client adds (redirects, cookies, decoding,
proxies of the environment) is either done by hand here or must not happen.
"""

import ssl
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpcore
import httpx

from localfact.web.fetching.addresses import Addresses, host_of, port_of

#: Seconds that an idle connection is kept.
KEEP_SECONDS = 15.0
#: Of how many origins idle connections are kept; each may take a file descriptor or two.
MOST_IDLE = 256
#: How many addresses of a host are tried.
MOST_TRIED = 4


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
        found = (await self._addresses.resolved(host, port))[:MOST_TRIED]
        share = None if timeout is None else timeout / len(found)
        failure: Exception | None = None
        for address in found:
            try:
                return await self._sockets.connect_tcp(address, port, share, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure or httpcore.ConnectError(f"{host} has no address")


@dataclass
class Answering:
    """An answer on its way.

    Attributes:
        whole: set by the reader once it has read the body to its end.
    """

    response: httpcore.Response
    whole: bool = False


@dataclass
class _Origin:
    pool: httpcore.AsyncConnectionPool
    users: int = 0
    retired: bool = False


class Connections:
    """Sends requests and hands out the answers as they arrive."""

    def __init__(self, addresses: Addresses, certificates: ssl.SSLContext | None = None) -> None:
        """Takes the judge of addresses, and what TLS trusts: certifi's authorities, or SSL_CERT_FILE, if not told."""
        self._backend = CheckedBackend(addresses)
        self._certificates = certificates or httpx.create_ssl_context()
        self._origins: OrderedDict[tuple[str, str, int], _Origin] = OrderedDict()

    @asynccontextmanager
    async def answering(
        self, url: httpx.URL, headers: list[tuple[bytes, bytes]], read_seconds: float
    ) -> AsyncIterator[Answering]:
        """GETs a URL: the answer with its headers received and its body still to come.

        Raises:
            PageError: the address is refused, or does not resolve.
            Exception: whatever httpcore, h11 and h2 make of a broken connection or answer.
        """
        origin = (url.scheme, host_of(url), port_of(url))
        used = self._taken(origin)
        try:
            request = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
            seconds = {"connect": read_seconds, "read": read_seconds, "write": read_seconds, "pool": None}
            async with used.pool.stream("GET", request, headers=headers, extensions={"timeout": seconds}) as response:
                answering = Answering(response)
                try:
                    yield answering
                finally:
                    # httpcore closes a connection of HTTP/1.1 whose body was not read out, but goes on with one of HTTP/2,
                    # without a word to the server, which then sends until its window is used up.
                    if not answering.whole and response.extensions.get("http_version") == b"HTTP/2":
                        self._retire(origin, used)
        finally:
            await self._given_back(used)

    async def aclose(self) -> None:
        """Closes all connections."""
        while self._origins:
            _, origin = self._origins.popitem()
            await origin.pool.aclose()

    def _taken(self, origin: tuple[str, str, int]) -> _Origin:
        used = self._origins.get(origin)
        if used is None:
            # No limit here: how many are at work is up to the turns.
            pool = httpcore.AsyncConnectionPool(
                ssl_context=self._certificates,
                max_connections=None,
                keepalive_expiry=KEEP_SECONDS,
                http2=True,
                network_backend=self._backend,
            )
            used = self._origins[origin] = _Origin(pool)
        self._origins.move_to_end(origin)
        used.users += 1
        return used

    def _retire(self, origin: tuple[str, str, int], used: _Origin) -> None:
        used.retired = True
        if self._origins.get(origin) is used:
            del self._origins[origin]

    async def _given_back(self, used: _Origin) -> None:
        used.users -= 1
        if used.retired and used.users == 0:
            await used.pool.aclose()
        if len(self._origins) <= MOST_IDLE:
            return
        idle = [origin for origin, other in self._origins.items() if other.users == 0]
        for origin in idle[: max(0, len(idle) - MOST_IDLE)]:
            await self._origins.pop(origin).pool.aclose()
