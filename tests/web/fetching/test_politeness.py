import asyncio

import pytest

from localfact.web.fetching import politeness
from localfact.web.fetching.politeness import Turns


class Time:
    """A clock that sleeping moves on."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


def turns(time: Time, at_once: int = 10, per_host: int = 10, host_delay: float = 1.0) -> Turns:
    return Turns(at_once=at_once, per_host=per_host, host_delay=host_delay, sleep=time.sleep, clock=time)


async def starts(of: Turns, time: Time, hosts: list[str], **options: float) -> list[float]:
    begun = []
    for host in hosts:
        async with of.turn(host, **options):
            begun.append(time.now - 100)
    return begun


async def test_two_starts_at_one_host_are_a_delay_apart_and_other_hosts_do_not_wait() -> None:
    time = Time()
    assert await starts(turns(time), time, ["a", "b", "a", "c", "a"]) == [0, 0, 1, 1, 2]


async def test_a_longer_delay_that_the_host_asks_for_holds_and_a_shorter_one_does_not() -> None:
    time = Time()
    assert await starts(turns(time), time, ["a", "a"], delay=7) == [0, 7]
    time = Time()
    assert await starts(turns(time), time, ["a", "a"], delay=0.1) == [0, 1]


async def test_what_is_not_spaced_neither_waits_nor_lets_others_wait() -> None:
    time = Time()
    own = turns(time)
    async with own.turn("a", spaced=False):
        pass
    async with own.turn("a"):
        assert time.now == 100
    async with own.turn("a", spaced=False):
        assert time.now == 100


async def test_a_host_held_back_is_left_alone_for_that_long_by_all() -> None:
    time = Time()
    own = turns(time)
    own.hold_back("a", 20)
    own.hold_back("a", 5)
    async with own.turn("b"):
        assert time.now == 100
    async with own.turn("a", spaced=False):
        assert time.now == 120


@pytest.mark.parametrize(("limits", "most"), [({"per_host": 2}, 2), ({"at_once": 3}, 3)])
async def test_no_more_are_inside_at_once_than_the_limits_say(limits: dict[str, int], most: int) -> None:
    own, inside, seen = turns(Time(), host_delay=0, **limits), 0, []

    async def visit() -> None:
        nonlocal inside
        async with own.turn("a"):
            inside += 1
            seen.append(inside)
            for _ in range(5):
                await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*(visit() for _ in range(12)))
    assert max(seen) == most


async def test_waiting_for_a_busy_host_takes_no_place_from_other_hosts() -> None:
    asleep = asyncio.Event()

    async def sleep(seconds: float) -> None:
        asleep.set()
        await asyncio.Event().wait()

    own = Turns(at_once=1, per_host=1, host_delay=60, sleep=sleep, clock=lambda: 0.0)
    async with own.turn("a"):
        pass

    async def again() -> None:
        async with own.turn("a"):
            raise AssertionError("the delay has not passed")

    waiting = asyncio.create_task(again())
    await asleep.wait()
    async with asyncio.timeout(5), own.turn("b"):
        pass
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)


async def test_a_turn_that_was_cancelled_leaves_its_place_to_the_next() -> None:
    own = turns(Time(), at_once=1, per_host=1, host_delay=0)

    async def hang() -> None:
        async with own.turn("a"):
            await asyncio.Event().wait()

    tasks = [asyncio.create_task(hang()) for _ in range(3)]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    async with asyncio.timeout(5), own.turn("a"):
        pass


async def test_hosts_at_rest_are_forgotten_and_a_host_held_back_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(politeness, "MOST_HOSTS", 5)
    time = Time()
    own = turns(time)
    own.hold_back("held", 1000)
    await starts(own, time, [f"host{number}" for number in range(4)])
    time.now += 10
    await starts(own, time, ["one more"])
    assert set(own._hosts) == {"held", "one more"}
