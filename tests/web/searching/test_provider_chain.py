"""How providers are asked: pace, retries, leaving aside, and going on to the next, by a clock that the tests hold."""

import asyncio
import heapq
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest

from localfact.errors import InputError, MissingError, SearchError
from localfact.web.searching.provider_chain import (
    COOL_DOWN,
    FAILURES_IN_A_ROW,
    LONGEST_WAIT,
    TRIES,
    Chain,
    Limit,
    RateLimiter,
    Timing,
)
from localfact.web.searching.results import Search
from localfact.web.searching.search import FailureKind, ProviderError

WHEN = "2024-05-01T12:00:00+00:00"


class HeldTime:
    """Time that passes only while everybody sleeps: the next to wake wakes when nobody else has anything to do."""

    def __init__(self, draw: float = 1.0) -> None:
        self.seconds = 0.0
        self.slept: list[float] = []
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self.timing = Timing(
            clock=lambda: self.seconds,
            now=lambda: datetime(2024, 5, 1, 12, tzinfo=UTC) + timedelta(seconds=self.seconds),
            sleep=self.sleep,
            draw=lambda: draw,
        )

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        future = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.seconds + seconds, len(self.slept), future))
        await future

    async def run(self, *coroutines: Awaitable[object]) -> list[object]:
        """Lets time pass until all have ended; their results or errors in order."""
        tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
        for _ in range(10_000):
            for _ in range(200):
                await asyncio.sleep(0)
            if all(task.done() for task in tasks):
                return list(await asyncio.gather(*tasks, return_exceptions=True))
            at, _, future = heapq.heappop(self._sleepers)
            self.seconds = max(self.seconds, at)
            if not future.done():
                future.set_result(None)
        raise AssertionError("they never end")


class Engine:
    """A provider that fails as told: (kind, retry_after) or None for a good answer, the last for ever."""

    def __init__(self, name: str, time: HeldTime, *script: tuple[FailureKind, float | None] | None, takes: float = 0.0) -> None:
        self.name = name
        self.time = time
        self.script = list(script) or [None]
        self.takes = takes
        self.starts: list[float] = []
        self.at_work = self.most_at_work = 0
        self.closed = False
        self.limiter = RateLimiter(name, Limit(at_once=2), time.timing)

    async def send(self) -> str:
        self.starts.append(self.time.seconds)
        self.at_work += 1
        self.most_at_work = max(self.most_at_work, self.at_work)
        try:
            if self.takes:
                await self.time.sleep(self.takes)
            step = self.script.pop(0) if len(self.script) > 1 else self.script[0]
            if step:
                raise ProviderError(self.name, step[0], "as told", retry_after=step[1])
            return "answer"
        finally:
            self.at_work -= 1

    async def search(self, query: str, count: int) -> Search:
        await self.limiter.request(self.send)
        return Search(query=query, count=count, provider=self.name, time=WHEN)

    async def aclose(self) -> None:
        self.closed = True


LIMITED = (FailureKind.RATE_LIMITED, None)
DOWN = (FailureKind.UNAVAILABLE, None)
GARBLED = (FailureKind.MALFORMED, None)
REFUSED = (FailureKind.REFUSED, None)
FORBIDDEN = (FailureKind.FORBIDDEN, None)


async def answered_by(time: HeldTime, chain: Chain, query: str = "q") -> str:
    [answer] = await time.run(chain.search(query, 3))
    assert isinstance(answer, Search), answer
    return answer.provider


@pytest.mark.parametrize("failure", [LIMITED, DOWN, GARBLED])
async def test_a_passing_failure_is_tried_again_after_waits_that_double(failure: tuple[FailureKind, None]) -> None:
    time = HeldTime(draw=1.0)
    engine = Engine("one", time, failure, failure, failure, None)
    assert await time.run(engine.limiter.request(engine.send)) == ["answer"]
    assert engine.starts == [0.0, 1.0, 3.0, 7.0]


async def test_a_wait_is_drawn_from_nothing_to_the_whole_backoff() -> None:
    time = HeldTime(draw=0.25)
    engine = Engine("one", time, DOWN, DOWN, None)
    await time.run(engine.limiter.request(engine.send))
    assert engine.starts == [0.0, 0.25, 0.75]


@pytest.mark.parametrize("failure", [REFUSED, FORBIDDEN])
async def test_a_refusal_is_not_tried_again(failure: tuple[FailureKind, None]) -> None:
    time = HeldTime()
    engine = Engine("one", time, failure)
    [error] = await time.run(engine.limiter.request(engine.send))
    assert isinstance(error, ProviderError)
    assert len(engine.starts) == 1


async def test_tries_end() -> None:
    time = HeldTime()
    engine = Engine("one", time, DOWN)
    [error] = await time.run(engine.limiter.request(engine.send))
    assert isinstance(error, ProviderError)
    assert len(engine.starts) == TRIES


async def test_the_pause_that_a_provider_asks_for_is_kept_by_everybody_who_waits_for_it() -> None:
    time = HeldTime(draw=0.0)
    engine = Engine("one", time, (FailureKind.RATE_LIMITED, 20.0), None)
    engine.limiter = RateLimiter("one", Limit(at_once=1), time.timing)
    answers = await time.run(*(engine.limiter.request(engine.send) for _ in range(3)))
    assert answers == ["answer"] * 3
    assert engine.starts == [0.0, 20.0, 20.0, 20.0]


async def test_a_provider_that_wants_a_long_pause_is_left_aside_for_it_and_the_next_is_asked() -> None:
    time = HeldTime()
    first = Engine("first", time, (FailureKind.RATE_LIMITED, LONGEST_WAIT + 540), None)
    second = Engine("second", time)
    chain = Chain([first, second], time.timing)
    assert await answered_by(time, chain) == "second"
    assert await answered_by(time, chain) == "second"
    assert (len(first.starts), time.seconds) == (1, 0.0)
    time.seconds = LONGEST_WAIT + 541
    assert await answered_by(time, chain) == "first"


async def test_requests_keep_to_the_limit_and_the_interval() -> None:
    time = HeldTime()
    engine = Engine("one", time, takes=5.0)
    engine.limiter = RateLimiter("one", Limit(at_once=2, interval=1.5), time.timing)
    await time.run(*(engine.limiter.request(engine.send) for _ in range(5)))
    assert engine.most_at_work == 2
    assert engine.starts == [0.0, 1.5, 5.0, 6.5, 10.0]


async def test_a_request_that_is_cancelled_gives_its_place_back() -> None:
    time = HeldTime()
    engine = Engine("one", time, takes=5.0)
    engine.limiter = RateLimiter("one", Limit(at_once=1), time.timing)
    task = asyncio.ensure_future(engine.limiter.request(engine.send))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    assert await time.run(engine.limiter.request(engine.send)) == ["answer"]


async def test_the_first_provider_is_preferred_and_asked_again_for_the_next_query() -> None:
    time = HeldTime()
    first, second = Engine("first", time, REFUSED, None), Engine("second", time)
    chain = Chain([first, second], time.timing)
    assert [await answered_by(time, chain) for _ in range(3)] == ["second", "first", "first"]
    assert chain.name == "first+second"


async def test_a_provider_that_keeps_failing_is_left_aside_and_asked_again_after_the_cool_down() -> None:
    time = HeldTime(draw=0.0)
    first, second = Engine("first", time, DOWN), Engine("second", time)
    chain = Chain([first, second], time.timing)
    for _ in range(7):
        assert await answered_by(time, chain) == "second"
    assert len(first.starts) == FAILURES_IN_A_ROW
    time.seconds += COOL_DOWN + 1
    first.script = [DOWN, None]
    # Still down: one try finds out, and it is left aside again at once.
    assert [await answered_by(time, chain) for _ in range(2)] == ["second", "second"]
    assert len(first.starts) == FAILURES_IN_A_ROW + 1
    time.seconds += COOL_DOWN + 1
    assert await answered_by(time, chain) == "first"


async def test_a_success_between_failures_keeps_a_provider_in() -> None:
    time = HeldTime(draw=0.0)
    first, second = Engine("first", time), Engine("second", time)
    chain = Chain([first, second], time.timing)
    for _ in range(3):
        first.script = [*[DOWN] * (FAILURES_IN_A_ROW - 1), None]
        assert [await answered_by(time, chain) for _ in range(3)] == ["second", "second", "first"]


async def test_a_query_that_is_refused_says_nothing_about_the_provider() -> None:
    time = HeldTime()
    first, second = Engine("first", time, REFUSED), Engine("second", time)
    chain = Chain([first, second], time.timing)
    for _ in range(20):
        assert await answered_by(time, chain) == "second"
    assert len(first.starts) == 20


async def test_those_who_queue_for_a_provider_do_not_go_on_when_it_is_left_aside_meanwhile() -> None:
    time = HeldTime(draw=0.0)
    first, second = Engine("first", time, DOWN, takes=1.0), Engine("second", time)
    first.limiter = RateLimiter("first", Limit(at_once=1), time.timing)
    chain = Chain([first, second], time.timing)
    answers = await time.run(*(chain.search(f"q{number}", 1) for number in range(50)))
    assert [answer.provider for answer in answers if isinstance(answer, Search)] == ["second"] * 50
    assert len(first.starts) == FAILURES_IN_A_ROW


async def test_when_nobody_answers_the_error_has_every_reason_and_nothing_is_returned() -> None:
    time = HeldTime(draw=0.0)
    chain = Chain([Engine("first", time, LIMITED), Engine("second", time, GARBLED)], time.timing)
    [error] = await time.run(chain.search("who was it", 3))
    assert isinstance(error, SearchError)
    assert not isinstance(error, InputError)
    assert "first: rate limited" in str(error)
    assert "second: malformed answer" in str(error)
    assert "who was it" in str(error)


async def test_with_all_left_aside_a_query_waits_for_the_soonest_instead_of_failing_at_once() -> None:
    time = HeldTime(draw=0.0)
    only = Engine("only", time, *[LIMITED] * FAILURES_IN_A_ROW, None)
    chain = Chain([only], time.timing)
    for _ in range(FAILURES_IN_A_ROW // TRIES):
        [error] = await time.run(chain.search("q", 1))
        assert isinstance(error, SearchError)
    began = time.seconds
    assert await answered_by(time, chain) == "only"
    assert time.seconds - began == COOL_DOWN


async def test_a_pause_beyond_the_longest_wait_is_not_waited_for() -> None:
    time = HeldTime()
    only = Engine("only", time, (FailureKind.RATE_LIMITED, 3600.0), None)
    chain = Chain([only], time.timing)
    errors = [(await time.run(chain.search("q", 1)))[0] for _ in range(2)]
    assert all(isinstance(error, SearchError) for error in errors)
    assert "left aside: for another 3600 s" in str(errors[1])
    assert (time.seconds, len(only.starts)) == (0.0, 1)


async def test_a_provider_that_forbids_everything_is_asked_once_and_noted() -> None:
    time = HeldTime()
    first, second = Engine("first", time, FORBIDDEN, None), Engine("second", time)
    chain = Chain([first, second], time.timing)
    assert chain.notes == ()
    assert [await answered_by(time, chain) for _ in range(3)] == ["second"] * 3
    assert len(first.starts) == 1
    assert chain.notes == ("Search: first was left out: as told.",)


async def test_when_all_forbid_everything_something_is_missing_for_all_queries() -> None:
    time = HeldTime()
    chain = Chain([Engine("first", time, FORBIDDEN), Engine("second", time, FORBIDDEN)], time.timing)
    for _ in range(2):
        [error] = await time.run(chain.search("q", 1))
        assert isinstance(error, MissingError)
        assert str(error) == "No search can be made: first: forbidden: as told; second: forbidden: as told."


async def test_a_chain_closes_all_and_wants_at_least_one_provider_and_one_result() -> None:
    time = HeldTime()
    engines = [Engine("first", time), Engine("second", time)]
    chain = Chain(engines, time.timing)
    await chain.aclose()
    assert all(engine.closed for engine in engines)
    with pytest.raises(InputError):
        Chain([])
    with pytest.raises(InputError, match="0 results"):
        await chain.search("q", 0)


def test_real_time_is_the_default() -> None:
    timing = Timing()
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    assert timing.sleep is sleep
    assert timing.clock() <= timing.clock()
    assert timing.now().tzinfo is UTC
