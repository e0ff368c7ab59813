"""What sites ask of robots (robots.txt, RFC 9309): fetched once per origin, read by Protego, obeyed before every page."""

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from localfact.runtime.tasks import cancelled
from localfact.web.fetching.addresses import host_of, port_of
from localfact.web.fetching.exchange import Exchange
from localfact.web.fetching.failures import PageError, PageFailure, Reason

if TYPE_CHECKING:
    import httpx
    from protego import Protego

#: How much of a robots.txt is read (RFC 9309, 2.5).
ROBOTS_BYTES = 500 * 1024
#: The longest Crawl-delay that is kept to, in seconds.
LONGEST_DELAY = 10.0
#: How long a robots.txt stands (RFC 9309, 2.4), and how long one that could not be had.
KEEP_SECONDS = 24 * 3600.0
KEEP_FAILED_SECONDS = 300.0
#: How many origins are remembered.
MOST_ORIGINS = 2048
#: A robots.txt with more (rules, each times the robots it is for) is made to take time and memory; real ones have thousands.
MOST_RULES = 200_000

#: Failures before any answer that the page would meet as well, and those that may pass: the page shares them. Others forbid it.
_OF_HOST = frozenset({Reason.ADDRESS_REFUSED, Reason.NAME_NOT_RESOLVED})
_PASSING = frozenset({Reason.CONNECTION_FAILED, Reason.TIMED_OUT, Reason.RATE_LIMITED})
_AGENT_LINE = re.compile(r"\s*user[- ]?agent", re.IGNORECASE)
_RULE_LINE = re.compile(r"\s*(?:dis)?allow\s*[:\s]", re.IGNORECASE)


@dataclass(frozen=True)
class Rules:
    """What one origin asks of this robot.

    Attributes:
        delay: seconds between two pages, at most LONGEST_DELAY; 0 where it asks for none.
        failure: why every page of the origin is out of reach; None where the text decides.
    """

    token: str
    delay: float = 0.0
    text: "Protego | None" = None
    failure: PageFailure | None = None

    @classmethod
    def parse(cls, content: bytes, token: str) -> "Rules":
        """Reads a robots.txt for the robot named by `token`; a text that is none has no rules, and all is allowed."""
        from protego import Protego

        text = content[:ROBOTS_BYTES].decode("utf-8-sig", errors="replace").replace("\0", "")
        if rules_in(text) > MOST_RULES:
            return cls(token, failure=_forbidden(f"gives more than {MOST_RULES:,} rules"))
        parsed = Protego.parse(text)
        return cls(token, min(parsed.crawl_delay(token) or 0.0, LONGEST_DELAY), parsed)

    @classmethod
    def without(cls, failure: PageFailure, status: int | None, token: str) -> "Rules":
        """What holds when there is no robots.txt to be had (RFC 9309, 2.3.1).

        With a status of 4xx, or after too many redirects, all is allowed; with 5xx, or no answer, nothing is. Unlike there, 429
        also forbids: it asks for fewer requests.

        Args:
            failure: why there is none. status: of the last answer; None if none came.
            token: the robot's name.
        """
        refused = failure.reason is Reason.HTTP_STATUS and status is not None and status < 500
        if refused or failure.reason is Reason.TOO_MANY_REDIRECTS:
            return cls(token)
        if failure.reason in _OF_HOST and status is None:
            return cls(token, failure=failure)
        if failure.reason in _PASSING:
            return cls(token, failure=PageFailure(reason=failure.reason, detail=f"robots.txt: {failure.detail}"))
        return cls(token, failure=_forbidden(str(failure)))

    def check(self, url: "httpx.URL") -> None:
        """Passes if the page may be asked for.

        Raises:
            PageError: ROBOTS_DISALLOWED; or why the robots.txt could not be fetched: the page would meet the same.
        """
        if self.failure is not None:
            raise PageError(self.failure.reason, self.failure.detail)
        if self.text is not None and not self.text.can_fetch(str(url), self.token):
            raise PageError(Reason.ROBOTS_DISALLOWED, f"robots.txt of {host_of(url)}")


@dataclass
class Visit:
    """One fetch of a robots.txt: what it gave, and what was exchanged for it until a page hands that on."""

    rules: Rules
    exchanges: tuple[Exchange, ...] = ()

    def claim(self) -> tuple[Exchange, ...]:
        """The exchanges, for the first who asks; nothing for all later ones."""
        claimed, self.exchanges = self.exchanges, ()
        return claimed


@dataclass
class _CachedVisit:
    task: "asyncio.Task[Visit]"
    made: float

    def stale(self, now: float) -> bool:
        if not self.task.done():
            return False
        if self.task.cancelled() or self.task.exception() is not None:
            return True
        failed = self.task.result().rules.failure is not None
        return now - self.made > (KEEP_FAILED_SECONDS if failed else KEEP_SECONDS)


class Robots:
    """Remembers the robots.txt of the origins met. One that is on its way is waited for by all who need it."""

    def __init__(self, visit: Callable[["httpx.URL"], Awaitable[Visit]], clock: Callable[[], float] = time.monotonic) -> None:
        """Takes what fetches and reads the robots.txt at an address, raising no PageError."""
        self._visit = visit
        self._clock = clock
        self._cached: OrderedDict[tuple[str, str, int], _CachedVisit] = OrderedDict()

    async def visit(self, url: "httpx.URL") -> Visit:
        """The visit whose rules stand for a page's origin; made now if there is none."""
        origin = (url.scheme, host_of(url), port_of(url))
        cached = self._cached.get(origin)
        if cached is None or cached.stale(self._clock()):
            there = url.copy_with(raw_path=b"/robots.txt")
            cached = self._cached[origin] = _CachedVisit(asyncio.ensure_future(self._visit(there)), self._clock())
        self._cached.move_to_end(origin)
        while len(self._cached) > MOST_ORIGINS and next(iter(self._cached.values())).task.done():
            self._cached.popitem(last=False)
        # The visit goes on for others who wait when this one is cancelled.
        return await asyncio.shield(cached.task)

    async def aclose(self) -> None:
        """Ends the visits on their way."""
        await cancelled(cached.task for cached in self._cached.values())


def rules_in(text: str) -> int:
    """How much reading a robots.txt takes: its rules, each counted once per robot that its group names."""
    total, agents, in_rules = 0, 0, False
    for line in text.splitlines():
        if _AGENT_LINE.match(line):
            agents = 1 if in_rules else agents + 1
            in_rules = False
        elif _RULE_LINE.match(line):
            in_rules = True
        total += agents
    return total


def _forbidden(detail: str) -> PageFailure:
    return PageFailure(reason=Reason.ROBOTS_DISALLOWED, detail=f"robots.txt: {detail}")
