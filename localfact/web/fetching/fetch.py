"""Fetches pages from the open web, politely and within limits; each fetch gives a body and all its exchanges, or its reason.

httpx and httpcore are imported when a Fetcher is made.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from localfact.web.fetching.addresses import Addresses, Resolve, host_of
from localfact.web.fetching.exchange import Exchange
from localfact.web.fetching.failures import PageError, PageFailure, Reason
from localfact.web.fetching.politeness import Clock, Sleep, Turns
from localfact.web.fetching.request import OUT_OF_TIME, HttpAnswer, Taking, ask
from localfact.web.fetching.robots import ROBOTS_BYTES, Robots, Rules, Visit
from localfact.web.http_headers import retry_after_seconds, user_agent

if TYPE_CHECKING:
    import ssl

    import httpx

MOST_REDIRECTS = 10
#: The longest Retry-After that is waited for, in seconds, and how often.
LONGEST_WAIT = 30.0
MOST_WAITS = 2
#: Seconds before a server's error, or a connection that broke before any answer, is tried once more.
AGAIN_AFTER = 1.0

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ROBOTS = Taking(ROBOTS_BYTES, cut=True, typed=False)
#: As much of a page as is taken, unless told otherwise.
MAX_BODY_BYTES = 10_000_000


@dataclass(frozen=True)
class Fetched:
    """A page as fetched.

    Attributes:
        link: as asked for. final_link: where redirects led.
        exchange: the page's own, never that of a robots.txt or a redirect. body: decoded.
        exchanges: all that this fetch caused, in order: robots.txt, redirects, repetitions, the page.
    """

    link: str
    final_link: str
    exchange: Exchange
    body: bytes
    exchanges: tuple[Exchange, ...]


class FetchError(PageError):
    """Why a page could not be fetched, with the exchanges that happened on the way.

    Attributes:
        final_link: the address that was last asked for the page; the link itself where none was.
        answer: what that address answered, if this is what failed, and one of `exchanges`: never a robots.txt, nor a redirect
            that was followed, nor an earlier answer than the last request's. None if the failure left no answer.
        exchanges: all that this fetch caused, in order, as in Fetched.
    """

    def __init__(
        self, failure: PageFailure, exchanges: tuple[Exchange, ...], *, final_link: str, answer: Exchange | None = None
    ) -> None:
        """Takes the reason, what was exchanged until then, who was asked last, and the answer that failed."""
        super().__init__(failure.reason, failure.detail)
        self.exchanges = exchanges
        self.final_link = final_link
        self.answer = answer


#: Returns when another page may be fetched.
Ready = Callable[[], Awaitable[None]]


@dataclass
class _Journey:
    """What one fetch has used up: seconds of its limit, exchanges in order; whom it asked last, the answer, its `ready`."""

    final_link: str
    seconds_left: float
    ready: Ready | None = None
    answer: Exchange | None = None
    exchanges: list[Exchange] = field(default_factory=list)


class Fetcher:
    """Fetches pages, many hosts at once. One fetcher serves a whole run; use it in one event loop and close it.

    The time limit of a fetch counts its time on the network, over redirects, repetitions and Retry-After, but neither the
    waiting for its turn at a busy host nor that for a robots.txt. This one is fetched once for all pages of its origin, within
    a limit of its own of the same length, so that no page is lost for having come first.
    Proxies named in the environment are not used: they would be asked to resolve the names, so that nothing here could check
    the addresses. The search providers keep to that as well.
    """

    def __init__(
        self,
        *,
        at_once: int = 64,
        per_host: int = 2,
        host_delay: float = 1.0,
        total_seconds: float = 30.0,
        read_seconds: float = 10.0,
        max_bytes: int = MAX_BODY_BYTES,
        allow_hosts: Collection[str] = (),
        user_agent: str = user_agent(),
        robots: bool = True,
        resolve: Resolve | None = None,
        certificates: "ssl.SSLContext | None" = None,
        sleep: Sleep = asyncio.sleep,
        clock: Clock = time.monotonic,
    ) -> None:
        """Makes a fetcher; nothing is connected yet.

        Args:
            at_once: requests at work in all. per_host: at one host. host_delay: seconds between two starts at one host; a
                longer Crawl-delay of its robots.txt is kept to.
            total_seconds: for one page, and for one robots.txt. read_seconds: for connecting, and for each piece of an answer.
            max_bytes: of a page, compressed as well as decompressed.
            allow_hosts: hosts, addresses and networks to admit besides the open Internet, each with :PORT or without
                (Admission.parse); with ports that are otherwise refused.
            robots: whether robots.txt is asked for and obeyed.
            resolve, sleep, clock: for tests. certificates: what TLS trusts.

        Raises:
            InputError: an entry of allow_hosts is none.
        """
        from localfact.web.fetching.connections import Connections

        self._addresses = Addresses(allow_hosts, resolve)
        self._connections = Connections(self._addresses, certificates)
        self._turns = Turns(at_once=at_once, per_host=per_host, host_delay=host_delay, sleep=sleep, clock=clock)
        self._robots = Robots(self._visit_robots, clock) if robots else None
        self._total_seconds = total_seconds
        self._read_seconds = read_seconds
        self._page = Taking(max_bytes)
        self._user_agent = user_agent
        self._token = user_agent.partition("/")[0].strip().lower()

    async def fetch(self, link: str, *, ready: Ready | None = None) -> Fetched:
        """Fetches a page: text, HTML or PDF, of a status of 2xx.

        Args:
            link: what is asked for. ready: waited for when its turn has come, before anything is sent: until there is room for
                another page, say.

        Raises:
            FetchError: there is no page to be had; its `failure` says why, its `exchanges` what happened.
        """
        journey = _Journey(link, self._total_seconds, ready)
        try:
            final, answer = await self._follow(self._addresses.target(link), journey, self._page)
        except PageError as error:
            exchanges = tuple(journey.exchanges)
            raise FetchError(error.failure, exchanges, final_link=journey.final_link, answer=journey.answer) from error
        assert answer.exchange is not None
        return Fetched(link, str(final), answer.exchange, answer.body, tuple(journey.exchanges))

    async def aclose(self) -> None:
        """Closes all connections."""
        if self._robots is not None:
            await self._robots.aclose()
        await self._connections.aclose()
        self._addresses.close()

    async def _follow(self, url: "httpx.URL", journey: _Journey, taking: Taking) -> "tuple[httpx.URL, HttpAnswer]":
        """Asks for a URL and for what it redirects to, each target checked anew."""
        seen = [url]
        while True:
            answer = await self._answer(url, journey, taking)
            there = self._redirect(url, answer)
            if there is None:
                return url, answer
            url = self._addresses.target(there)
            if url in seen or len(seen) > MOST_REDIRECTS:
                how = f"back to {str(url)[:200]}" if url in seen else f"more than {MOST_REDIRECTS}"
                raise PageError(Reason.TOO_MANY_REDIRECTS, how)
            seen.append(url)

    def _redirect(self, url: "httpx.URL", answer: HttpAnswer) -> "httpx.URL | None":
        """Where an answer redirects to; None for a page.

        Raises:
            PageError: it is neither; or what it names is no address.
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
            raise PageError(Reason.ADDRESS_REFUSED, f"{location[:200]} is no address") from error

    async def _answer(self, url: "httpx.URL", journey: _Journey, taking: Taking) -> HttpAnswer:
        """Asks for one URL when robots.txt and the host's turns allow it, and again where that may help."""
        journey.answer = None  # what came before was a redirect that is followed now
        delay = 0.0
        if taking is not _ROBOTS and self._robots is not None:
            delay = await self._allowed(url, journey)
        waits, again = 0, True
        while True:
            answer = await self._ask(url, journey, taking, delay)
            wait = (
                retry_after_seconds(answer.exchange.header("retry-after"))
                if answer.exchange and _asks_to_wait(answer)
                else None
            )
            if wait is not None:
                waits += 1
                if waits > MOST_WAITS or wait > min(LONGEST_WAIT, journey.seconds_left):
                    return answer
            elif again and journey.seconds_left > AGAIN_AFTER and _may_be_mended(answer):
                again, wait = False, AGAIN_AFTER
            elif answer.failure is not None:
                raise PageError(answer.failure.reason, answer.failure.detail)
            else:
                return answer
            journey.seconds_left -= wait
            self._turns.hold_back(host_of(url), wait)

    async def _ask(self, url: "httpx.URL", journey: _Journey, taking: Taking, delay: float) -> HttpAnswer:
        async with self._turns.turn(host_of(url), delay=delay, spaced=taking is not _ROBOTS):
            journey.answer = None
            if journey.ready is not None:
                await journey.ready()
            if journey.seconds_left <= 0:
                raise PageError(Reason.TIMED_OUT, OUT_OF_TIME)
            journey.final_link = str(url)
            answer = await ask(
                url,
                self._connections,
                taking,
                user_agent=self._user_agent,
                seconds=journey.seconds_left,
                read_seconds=self._read_seconds,
            )
        journey.seconds_left -= answer.seconds
        if answer.exchange is not None:
            journey.exchanges.append(answer.exchange)
        journey.answer = answer.exchange
        return answer

    async def _allowed(self, url: "httpx.URL", journey: _Journey) -> float:
        """Passes if robots.txt allows a page; gives the seconds that it asks for between two."""
        assert self._robots is not None
        visit = await self._robots.visit(url)
        journey.exchanges.extend(visit.claim())
        visit.rules.check(url)
        return visit.rules.delay

    async def _visit_robots(self, url: "httpx.URL") -> Visit:
        journey = _Journey(str(url), self._total_seconds)
        try:
            _, answer = await self._follow(url, journey, _ROBOTS)
            rules = Rules.parse(answer.body, self._token)
        except PageError as error:
            status = journey.exchanges[-1].status if journey.exchanges else None
            rules = Rules.without(error.failure, status, self._token)
        return Visit(rules, tuple(journey.exchanges))


def _asks_to_wait(answer: HttpAnswer) -> bool:
    """Whether a server says when to come again (RFC 6585, 4; RFC 9110, 15.6.4)."""
    exchange = answer.exchange
    return exchange is not None and exchange.status in (429, 503) and exchange.header("retry-after") is not None


def _may_be_mended(answer: HttpAnswer) -> bool:
    """Whether the same request may get a better answer: after a server's error, or a connection that broke before any answer.

    A kept connection that the server closes as it is used again looks like that.
    """
    if answer.exchange is None:
        return answer.failure is not None and answer.failure.reason is Reason.CONNECTION_FAILED
    return answer.exchange.status >= 500


def _utf8(location: str) -> str:
    """A Location as it is meant: servers send UTF-8 where the header allows ASCII alone."""
    try:
        return location.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return location
