"""An engine that is lent: who starts it, when, and who ends it."""

from pathlib import Path

import pytest
from counting_engine import IDENTITY, LABELS, CountingEngine, asked, generate

from localfact.errors import EngineError, InputError
from localfact.llm.cores.sharing import EngineOwner, SharedEngine
from localfact.llm.engine import Engine
from localfact.llm.placing.settings import EngineSettings


class Starts:
    """Starts counting engines, and remembers them."""

    def __init__(self) -> None:
        self.engines: list[CountingEngine] = []

    def __call__(self, settings: EngineSettings) -> Engine:
        self.engines.append(CountingEngine(settings.folder.name, settings.identity))
        return self.engines[-1]


def settings(name: str) -> EngineSettings:
    return EngineSettings(folder=Path(name), identity=IDENTITY)


async def test_the_first_call_starts_the_engine_and_all_borrowers_get_the_same() -> None:
    owner = EngineOwner(starts := Starts())
    first, second = owner.share(settings("a")), owner.share(settings("a"))
    assert (first.identity, starts.engines) == (IDENTITY, [])
    assert (await generate(first, "x")).text == "a 1"
    await first.aclose()
    assert (await generate(second, "x")).text == "a 2"
    assert await second.count(asked("x")) == 3
    assert set((await second.choose(asked("x"), LABELS, stage="relate")).log_probs) == set(LABELS)
    assert (len(starts.engines), starts.engines[0].calls) == (1, 4)


async def test_an_engine_ends_for_other_settings_and_not_for_its_own() -> None:
    owner = EngineOwner(starts := Starts())
    owner.share_started(settings("a"))
    await owner.keep_only(settings("a"))
    assert not starts.engines[0].closed
    await owner.keep_only(settings("b"))
    assert starts.engines[0].closed
    assert (await generate(owner.share(settings("b")), "x")).text == "b 1"
    await owner.keep_only(None)
    assert [engine.closed for engine in starts.engines] == [True, True]


async def test_two_engines_are_never_open_at_once() -> None:
    owner = EngineOwner(starts := Starts())
    owner.share_started(settings("a"))
    with pytest.raises(AssertionError, match="still open"):
        owner.share_started(settings("b"))
    assert len(starts.engines) == 1


async def test_what_keeps_it_from_starting_is_no_fault_of_the_call() -> None:
    def refuses() -> Engine:
        raise InputError("no such argument")

    with pytest.raises(EngineError, match="no such argument"):
        await generate(SharedEngine(IDENTITY, refuses), "x")
