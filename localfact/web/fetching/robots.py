"""robots.txt (RFC 9309): fetched once for each origin, parsed by Protego, obeyed before every page."""

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from localfact.runtime.tasks import cancel
from localfact.web.fetching.addresses import host_of, port_of
from localfact.web.fetching.exchange import Exchange
from localfact.web.fetching.failures import PageError, PageFailure, Reason

if TYPE_CHECKING:
    import httpx
    from protego import Protego

#: How many bytes of a robots.txt are read (RFC 9309, 2.5).
ROBOTS_BYTES = 500 * 1024
#: The longest Crawl-delay that is kept to, in seconds.
LONGEST_DELAY = 10.0
#: Seconds that a robots.txt is cached (RFC 9309, 2.4), and seconds for one that could not be fetched.
KEEP_SECONDS = 24 * 3600.0
KEEP_FAILED_SECONDS = 300.0
#: How many origins are cached.
MOST_ORIGINS = 2048
#: The most rules of a robots.txt, each counted once for every robot of its group; real ones have thousands.
MOST_RULES = 200_000

#: Failures of a robots.txt that its pages share: those of the host, and transient ones. Any other failure forbids the pages.
_OF_HOST = frozenset({Reason.ADDRESS_REFUSED, Reason.NAME_NOT_RESOLVED})
_PASSING = frozenset({Reason.CONNECTION_FAILED, Reason.TIMED_OUT, Reason.RATE_LIMITED})
_AGENT_LINE = re.compile(r"\s*user[- ]?agent", re.IGNORECASE)
_RULE_LINE = re.compile(r"\s*(?:dis)?allow\s*[:\s]", re.IGNORECASE)


@dataclass(frozen=True)
class RobotsRules:
    """What one origin asks of this robot.

    Attributes:
        token: the robot's name.
        delay: seconds between two pages, at most LONGEST_DELAY; 0 where it asks for none.
        text: the parsed robots.txt.
        failure: why every page of the origin is refused; None where `text` decides.
    """

    token: str
    delay: float = 0.0
    text: "Protego | None" = None
    failure: PageFailure | None = None

    @classmethod
    def parse(cls, content: bytes, token: str) -> "RobotsRules":
        """Parses a robots.txt for the robot named by `token`.

        Text that is no robots.txt has no rules, and everything is allowed.
        """
        from protego import Protego

        text = content[:ROBOTS_BYTES].decode("utf-8-sig", errors="replace").replace("\0", "")
        if rules_in(text) > MOST_RULES:
            return cls(token, failure=_failure_of_disallowed(f"gives more than {MOST_RULES:,} rules"))
        parsed = Protego.parse(text)
        return cls(token, min(parsed.crawl_delay(token) or 0.0, LONGEST_DELAY), parsed)

    @classmethod
    def without(cls, failure: PageFailure, status: int | None, token: str) -> "RobotsRules":
        """The rules where robots.txt could not be fetched (RFC 9309, 2.3.1).

        With a status of 4xx, or after too many redirects, everything is allowed; with 5xx, or no answer, nothing is. Unlike
        there, 429 also forbids: it asks for fewer requests.

        Args:
            failure: why there is none.
            status: of the last answer; None if none came.
            token: the robot's name.
        """
        refused = failure.reason is Reason.HTTP_STATUS and status is not None and status < 500
        if refused or failure.reason is Reason.TOO_MANY_REDIRECTS:
            return cls(token)
        if failure.reason in _OF_HOST and status is None:
            return cls(token, failure=failure)
        if failure.reason in _PASSING:
            return cls(token, failure=PageFailure(reason=failure.reason, detail=f"robots.txt: {failure.detail}"))
        return cls(token, failure=_failure_of_disallowed(str(failure)))

    def check(self, url: "httpx.URL") -> None:
        """Returns if the page may be fetched.

        Raises:
            PageError: ROBOTS_DISALLOWED; or why the robots.txt could not be fetched, where the page would meet the same.
        """
        if self.failure is not None:
            raise PageError(self.failure.reason, self.failure.detail)
        if self.text is not None and not self.text.can_fetch(str(url), self.token):
            raise PageError(Reason.ROBOTS_DISALLOWED, f"robots.txt of {host_of(url)}")


@dataclass
class Visit:
    """One fetch of a robots.txt: its rules, and its exchanges until a page has taken them over."""

    rules: RobotsRules
    exchanges: tuple[Exchange, ...] = ()

    def claim(self) -> tuple[Exchange, ...]:
        """The exchanges, at the first call; later calls get none."""
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
    """Caches the robots.txt of origins. One that is being fetched is awaited by all who need it.

    Args:
        visit: fetches and parses the robots.txt at an address; raises no PageError.
        clock: for tests.
    """

    def __init__(self, visit: Callable[["httpx.URL"], Awaitable[Visit]], clock: Callable[[], float] = time.monotonic) -> None:
        self._visit = visit
        self._clock = clock
        self._cached: OrderedDict[tuple[str, str, int], _CachedVisit] = OrderedDict()

    async def visit(self, url: "httpx.URL") -> Visit:
        """The fetched rules for a page's origin; fetches them if they are not cached."""
        origin = (url.scheme, host_of(url), port_of(url))
        cached = self._cached.get(origin)
        if cached is None or cached.stale(self._clock()):
            there = url.copy_with(raw_path=b"/robots.txt")
            cached = self._cached[origin] = _CachedVisit(asyncio.ensure_future(self._visit(there)), self._clock())
        self._cached.move_to_end(origin)
        while len(self._cached) > MOST_ORIGINS and next(iter(self._cached.values())).task.done():
            self._cached.popitem(last=False)
        # Shielded: cancelling one caller must not stop the fetch for others who wait for it.
        return await asyncio.shield(cached.task)

    async def aclose(self) -> None:
        """Cancels the fetches that are running."""
        await cancel(cached.task for cached in self._cached.values())


def rules_in(text: str) -> int:
    """The number of rules in a robots.txt, each counted once for every robot that its group names."""
    total, agents, in_rules = 0, 0, False
    for line in text.splitlines():
        if _AGENT_LINE.match(line):
            agents = 1 if in_rules else agents + 1
            in_rules = False
        elif _RULE_LINE.match(line):
            in_rules = True
        total += agents
    return total


def _failure_of_disallowed(detail: str) -> PageFailure:
    return PageFailure(reason=Reason.ROBOTS_DISALLOWED, detail=f"robots.txt: {detail}")
