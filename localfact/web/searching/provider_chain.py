"""Asks search providers: each at its own pace, again after a failure, not while it keeps failing; then the next one.

A request to a provider passes its `RateLimiter`; a query goes along the `Chain` of providers until one answers it.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from localfact.errors import InputError, MissingError, SearchError
from localfact.web.searching.results import Search
from localfact.web.searching.search import FailureKind, Found, ProviderError, SearchProvider, query_of, search_of

Result = TypeVar("Result")

TRIES = 4
#: Seconds. Before try n, the wait is drawn from [0, min(LONGEST_BACKOFF, FIRST_BACKOFF * 2^(n-1))] ("full jitter").
FIRST_BACKOFF = 1.0
LONGEST_BACKOFF = 30.0
#: Seconds. A provider that asks for a longer pause (Retry-After) is not asked for that long, instead of being waited for.
LONGEST_WAIT = 60.0
#: After so many failed tries in a row, as many as three queries make, the provider is not asked for COOL_DOWN seconds. Tries
#: are counted, not queries, so that of many queries at once not all have to fail first.
FAILURES_IN_A_ROW = 3 * TRIES
COOL_DOWN = 60.0
#: How much of a query an error message shows.
_SHOWN = 80
_TRANSIENT = frozenset({FailureKind.RATE_LIMITED, FailureKind.UNAVAILABLE, FailureKind.MALFORMED})


@dataclass(frozen=True)
class Timing:
    """Clocks, sleep and randomness, which tests replace.

    Attributes:
        clock: monotonic seconds.
        now: the time of day, UTC.
        sleep: waits so many seconds.
        draw: a random number in [0, 1).
    """

    clock: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    draw: Callable[[], float] = random.random


REAL_TIMING = Timing()


@dataclass(frozen=True)
class Limit:
    """How fast a provider may be asked: requests at a time, and seconds from one start to the next."""

    at_once: int
    interval: float = 0.0


class RateLimiter:
    """Controls the requests to one provider: its limit, retries, and a circuit breaker."""

    def __init__(self, provider: str, limit: Limit, timing: Timing = REAL_TIMING) -> None:
        self._provider = provider
        self._limit = limit
        self._timing = timing
        self._slots = asyncio.Semaphore(limit.at_once)
        self._next_start = float("-inf")
        self._aside_until = float("-inf")
        self._failures = 0
        self._last_failure: ProviderError | None = None

    def now(self) -> datetime:
        """The current date and time, in UTC."""
        return self._timing.now()

    async def request(self, send: Callable[[], Awaitable[Result]]) -> Result:
        """Calls `send` when its turn has come, and again after a transient failure.

        Raises:
            ProviderError: it failed for good, or the provider is not asked for now.
        """
        for attempt in range(1, TRIES + 1):
            async with self._turn():
                try:
                    answer = await send()
                except ProviderError as error:
                    failure = error
                else:
                    self._failures = 0
                    return answer
            self._count(failure)
            wait = self._wait_after(failure, attempt)
            if wait is None:
                break
            if failure.kind is FailureKind.RATE_LIMITED:
                # The pause that the provider asked for holds for all other requests too.
                self._next_start = max(self._next_start, self._timing.clock() + wait)
            else:
                await self._timing.sleep(wait)
        raise failure

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        self._refuse_if_aside()
        async with self._slots:
            while (wait := self._next_start - self._timing.clock()) > 0:
                await self._timing.sleep(wait)
            # The circuit breaker may have opened while this request waited.
            self._refuse_if_aside()
            self._next_start = self._timing.clock() + self._limit.interval
            yield

    def _refuse_if_aside(self) -> None:
        last = self._last_failure
        if last is None:
            return
        if last.kind is FailureKind.FORBIDDEN:
            raise ProviderError(self._provider, last.kind, last.detail)
        seconds = self._aside_until - self._timing.clock()
        if seconds > 0:
            detail = f"for another {seconds:.0f} s, after {last.kind}: {last.detail}"
            raise ProviderError(self._provider, FailureKind.LEFT_ASIDE, detail, retry_after=seconds)

    def _wait_after(self, failure: ProviderError, attempt: int) -> float | None:
        """Seconds until the next try; None where there is none."""
        if failure.kind not in _TRANSIENT or attempt == TRIES or self._aside_until > self._timing.clock():
            return None
        backoff = self._timing.draw() * min(LONGEST_BACKOFF, FIRST_BACKOFF * 2.0 ** (attempt - 1))
        return max(failure.retry_after or 0.0, backoff)

    def _count(self, failure: ProviderError) -> None:
        """Counts a failure, unless it is the query's fault and says nothing about the provider."""
        if failure.kind is FailureKind.REFUSED:
            return
        self._failures += 1
        self._last_failure = failure
        pause = COOL_DOWN if self._failures >= FAILURES_IN_A_ROW else 0.0
        if (failure.retry_after or 0.0) > LONGEST_WAIT:
            pause = failure.retry_after or pause
        self._aside_until = max(self._aside_until, self._timing.clock() + pause)


class LimitedProvider:
    """A `SearchProvider` whose requests all pass its `RateLimiter`; a search is one request unless `_find` makes more.

    Attributes:
        name: that of its file here.
    """

    name: str

    def __init__(self, limiter: RateLimiter) -> None:
        self._limiter = limiter

    async def search(self, query: str, count: int) -> Search:
        """Returns the results of one search, as `SearchProvider.search` says; raises only ProviderError."""
        found = await self._find(query_of(self.name, query), count)
        return search_of(self.name, query, count, found, self._limiter.now())

    async def aclose(self) -> None:
        """Closes the connections."""

    async def _ask(self, query: str, count: int) -> list[Found]:
        """Sends one request for `count` results; called again after a transient failure."""
        raise NotImplementedError

    async def _find(self, query: str, count: int) -> list[Found]:
        return await self._limiter.request(lambda: self._ask(query, count))


class Chain:
    """Providers in order of preference: the next is asked when one does not answer. Closing the chain closes them all."""

    def __init__(self, providers: Sequence[SearchProvider], timing: Timing = REAL_TIMING) -> None:
        if not providers:
            raise InputError("No search provider is named.")
        self._providers = tuple(providers)
        self._timing = timing
        self._forbidden: dict[str, str] = {}

    @property
    def name(self) -> str:
        """The providers' names, in order, joined by "+"; a Search names the one that answered."""
        return "+".join(provider.name for provider in self._providers)

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for each provider that turned out to be unusable."""
        return tuple(f"Search: {name} was left out: {detail}." for name, detail in self._forbidden.items())

    async def search(self, query: str, count: int) -> Search:
        """Returns the first answer. If no provider may be asked now, waits once, up to LONGEST_WAIT, for the first that may.

        Raises:
            SearchError: no provider answered; the message has every reason.
            MissingError: no provider can answer any query as they are set up (a bad key, a setting).
            InputError: a count below 1.
        """
        if count < 1:
            raise InputError(f"A search for {count} results finds nothing: ask for a whole number from 1.")
        answer = await self._first_answer(query, count)
        if not isinstance(answer, Search) and (wait := _pause(answer)) is not None:
            await self._timing.sleep(wait)
            answer = await self._first_answer(query, count)
        if isinstance(answer, Search):
            return answer
        reasons = "; ".join(str(failure) for failure in answer)
        if all(isinstance(failure, ProviderError) and failure.kind is FailureKind.FORBIDDEN for failure in answer):
            raise MissingError(f"No search can be made: {reasons}.")
        shown = query if len(query) <= _SHOWN else f"{query[:_SHOWN]}..."
        raise SearchError(f"No search provider answered {shown!r}: {reasons}. The same command asks again.")

    async def _first_answer(self, query: str, count: int) -> Search | list[SearchError]:
        failures: list[SearchError] = []
        for provider in self._providers:
            try:
                return await provider.search(query, count)
            except SearchError as error:
                failures.append(error)
                if isinstance(error, ProviderError) and error.kind is FailureKind.FORBIDDEN:
                    self._forbidden[error.provider] = error.detail
        return failures

    async def aclose(self) -> None:
        """Closes all providers."""
        for provider in self._providers:
            await provider.aclose()


def _pause(failures: Sequence[SearchError]) -> float | None:
    """Seconds until the first of the providers may be asked again.

    None where some were asked, or it is more than LONGEST_WAIT.
    """
    pauses = []
    for failure in failures:
        if not isinstance(failure, ProviderError) or failure.kind not in (FailureKind.LEFT_ASIDE, FailureKind.FORBIDDEN):
            return None
        if failure.retry_after is not None and failure.retry_after <= LONGEST_WAIT:
            pauses.append(failure.retry_after)
    return min(pauses, default=None)
