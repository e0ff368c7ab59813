"""Fetches pages from the open web, politely and within limits; a fetch gives the body and all its exchanges, or the reason.

httpx and httpcore are imported when a Fetcher is made.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from localfact.runtime.addresses import address_without_secrets
from localfact.web.fetching.addresses import Addresses, Resolve, host_of
from localfact.web.fetching.exchange import Exchange
from localfact.web.fetching.failures import PageError, Reason
from localfact.web.fetching.fetched import Fetched, FetchError
from localfact.web.fetching.politeness import Clock, Sleep, Turns
from localfact.web.fetching.request import OUT_OF_TIME, BodyLimits, HttpAnswer, ask
from localfact.web.fetching.robots import ROBOTS_BYTES, Robots, RobotsRules, Visit
from localfact.web.http_headers import NAME, retry_after_seconds

if TYPE_CHECKING:
    import ssl

    import httpx

MOST_REDIRECTS = 10
#: Requests at a time at one host.
AT_ONE_HOST = 2
#: The longest Retry-After in seconds that is waited for, and how often it is.
LONGEST_WAIT = 30.0
MOST_WAITS = 2
#: Seconds before the one other try after a server's error, or after a connection that broke before any answer.
AGAIN_AFTER = 1.0

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ROBOTS = BodyLimits(ROBOTS_BYTES, cut=True, typed=False)
#: The default limit of a page in bytes.
MAX_BODY_BYTES = 10_000_000


#: Returns when another page may be fetched.
Ready = Callable[[], Awaitable[None]]


@dataclass
class _FetchState:
    """The state of one fetch: seconds left of its limit, exchanges in order, the last address asked and its answer, `ready`."""

    final_link: str
    seconds_left: float
    ready: Ready | None = None
    answer: Exchange | None = None
    exchanges: list[Exchange] = field(default_factory=list)


class Fetcher:
    """Fetches pages, many hosts at once. One fetcher serves a whole run; it belongs to one event loop and must be closed.

    The time limit of a fetch counts its time on the network, over redirects, further tries and Retry-After, but not the waiting
    for its turn at a busy host or for a robots.txt. That is fetched once for all pages of its origin, with a time limit of its
    own of the same length, so that it costs no page its time. Proxies named in the environment are not used: they would resolve
    the names, so that addresses could not be checked here. The search providers use none either.
    """

    def __init__(
        self,
        *,
        at_once: int = 64,
        host_delay: float = 1.0,
        total_seconds: float = 30.0,
        read_seconds: float = 10.0,
        max_bytes: int = MAX_BODY_BYTES,
        allow_hosts: Collection[str] = (),
        robots: bool = True,
        resolve: Resolve | None = None,
        certificates: "ssl.SSLContext | None" = None,
        sleep: Sleep = asyncio.sleep,
        clock: Clock = time.monotonic,
    ) -> None:
        """Connects to nothing yet.

        Args:
            at_once: requests at a time in all; at one host there are AT_ONE_HOST.
            host_delay: seconds between two starts at one host; a longer Crawl-delay of its robots.txt is kept to.
            total_seconds: for one page, and for one robots.txt.
            read_seconds: for connecting, and for each piece of an answer.
            max_bytes: of a page, compressed as well as decompressed.
            allow_hosts: hosts, addresses and networks to allow besides the public Internet, each with :PORT or without
                (AllowedHost.parse); with a port also one that is otherwise refused.
            robots: whether robots.txt is fetched and obeyed.
            resolve, sleep, clock: for tests.
            certificates: what TLS trusts.

        Raises:
            InputError: an entry of allow_hosts cannot be parsed.
        """
        from localfact.web.fetching.connections import Connections

        self._addresses = Addresses(allow_hosts, resolve)
        self._connections = Connections(self._addresses, certificates)
        self._turns = Turns(at_once=at_once, per_host=AT_ONE_HOST, host_delay=host_delay, sleep=sleep, clock=clock)
        self._robots = Robots(self._visit_robots, clock) if robots else None
        self._total_seconds = total_seconds
        self._read_seconds = read_seconds
        self._page = BodyLimits(max_bytes)

    async def fetch(self, link: str, *, ready: Ready | None = None) -> Fetched:
        """Fetches a page: text, HTML or PDF, with a status of 2xx.

        Args:
            link: the page's address.
            ready: awaited when its turn has come, before anything is sent: for example until there is room for another page.

        Raises:
            FetchError: there is no page; its `failure` says why.
        """
        state = _FetchState(link, self._total_seconds, ready)
        try:
            final, answer = await self._follow(self._addresses.target(link), state, self._page)
        except PageError as error:
            exchanges = tuple(state.exchanges)
            raise FetchError(error.failure, exchanges, final_link=state.final_link, answer=state.answer) from error
        assert answer.exchange is not None
        return Fetched(link, str(final), answer.exchange, answer.body, tuple(state.exchanges))

    async def aclose(self) -> None:
        """Closes all connections."""
        if self._robots is not None:
            await self._robots.aclose()
        await self._connections.aclose()
        self._addresses.close()

    async def _follow(self, url: "httpx.URL", state: _FetchState, limits: BodyLimits) -> "tuple[httpx.URL, HttpAnswer]":
        """Asks for a URL and follows its redirects, each target checked anew."""
        seen = [url]
        while True:
            answer = await self._answer(url, state, limits)
            there = self._redirect(url, answer)
            if there is None:
                return url, answer
            url = self._addresses.target(there)
            if url in seen or len(seen) > MOST_REDIRECTS:
                how = f"back to {address_without_secrets(str(url))[:200]}" if url in seen else f"more than {MOST_REDIRECTS}"
                raise PageError(Reason.TOO_MANY_REDIRECTS, how)
            seen.append(url)

    def _redirect(self, url: "httpx.URL", answer: HttpAnswer) -> "httpx.URL | None":
        """The address that an answer redirects to; None for a page.

        Raises:
            PageError: it is neither a page nor a redirect, or its Location is no address.
        """
        import httpx

        assert answer.exchange is not None
        status, location = answer.exchange.status, answer.exchange.header("location")
        if 200 <= status < 300:
            return None
        if status not in _REDIRECTS or location is None:
            if status == 429 or _asks_to_wait(answer):
                raise PageError(
                    Reason.RATE_LIMITED, f"{status}, Retry-After {answer.exchange.header('retry-after') or 'not given'}"[:80]
                )
            raise PageError(Reason.HTTP_STATUS, str(status))
        try:
            return url.join(_utf8(location.strip()))
        except (httpx.InvalidURL, ValueError) as error:
            raise PageError(Reason.ADDRESS_REFUSED, f"{address_without_secrets(location)[:200]} is no address") from error

    async def _answer(self, url: "httpx.URL", state: _FetchState, limits: BodyLimits) -> HttpAnswer:
        """Asks for one URL when robots.txt and the host's turns allow it, and tries again where that may help."""
        state.answer = None  # the previous answer was a redirect, which is followed now
        delay = 0.0
        if limits is not _ROBOTS and self._robots is not None:
            delay = await self._ask_robots(url, state)
        waits, again = 0, True
        while True:
            answer = await self._ask(url, state, limits, delay)
            wait = (
                retry_after_seconds(answer.exchange.header("retry-after"))
                if answer.exchange and _asks_to_wait(answer)
                else None
            )
            if wait is not None:
                waits += 1
                if waits > MOST_WAITS or wait > min(LONGEST_WAIT, state.seconds_left):
                    return answer
            elif again and state.seconds_left > AGAIN_AFTER and _may_be_mended(answer):
                again, wait = False, AGAIN_AFTER
            elif answer.failure is not None:
                raise PageError(answer.failure.reason, answer.failure.detail)
            else:
                return answer
            state.seconds_left -= wait
            self._turns.hold_back(host_of(url), wait)

    async def _ask(self, url: "httpx.URL", state: _FetchState, limits: BodyLimits, delay: float) -> HttpAnswer:
        async with self._turns.turn(host_of(url), delay=delay, spaced=limits is not _ROBOTS):
            state.answer = None
            if state.ready is not None:
                await state.ready()
            if state.seconds_left <= 0:
                raise PageError(Reason.TIMED_OUT, OUT_OF_TIME)
            state.final_link = str(url)
            answer = await ask(
                url,
                self._connections,
                limits,
                seconds=state.seconds_left,
                read_seconds=self._read_seconds,
            )
        state.seconds_left -= answer.seconds
        if answer.exchange is not None:
            state.exchanges.append(answer.exchange)
        state.answer = answer.exchange
        return answer

    async def _ask_robots(self, url: "httpx.URL", state: _FetchState) -> float:
        """Returns the seconds that robots.txt asks for between two pages.

        Raises:
            PageError: robots.txt does not allow the page.
        """
        assert self._robots is not None
        visit = await self._robots.visit(url)
        state.exchanges.extend(visit.claim())
        visit.rules.check(url)
        return visit.rules.delay

    async def _visit_robots(self, url: "httpx.URL") -> Visit:
        state = _FetchState(str(url), self._total_seconds)
        try:
            _, answer = await self._follow(url, state, _ROBOTS)
            rules = RobotsRules.parse(answer.body, NAME)
        except PageError as error:
            status = state.exchanges[-1].status if state.exchanges else None
            rules = RobotsRules.without(error.failure, status, NAME)
        return Visit(rules, tuple(state.exchanges))


def _asks_to_wait(answer: HttpAnswer) -> bool:
    """Whether a server says when to try again (RFC 6585, 4; RFC 9110, 15.6.4)."""
    exchange = answer.exchange
    return exchange is not None and exchange.status in (429, 503) and exchange.header("retry-after") is not None


def _may_be_mended(answer: HttpAnswer) -> bool:
    """Whether the same request may succeed at another try: after a server's error, or a connection broken before any answer.

    The latter also happens where a server closes an idle connection at the moment when it is used again.
    """
    if answer.exchange is None:
        return answer.failure is not None and answer.failure.reason is Reason.CONNECTION_FAILED
    return answer.exchange.status >= 500


def _utf8(location: str) -> str:
    """A Location header decoded as UTF-8, which servers send although the header only allows ASCII."""
    try:
        return location.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return location
