"""A cross-encoder that is stopped while it reads: what was read is kept, and nothing else is read."""

import asyncio
import itertools
import os
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tiny_albert import pairs_of, tiny_albert

from localfact.errors import EngineError
from localfact.models.cards import load_card
from localfact.models.cross_encoder import Tokens
from localfact.records import Pair
from localfact.relations.cache import CachedRelations
from localfact.relations.crossencoder import CrossEncoderRelationModel

CORES = len(os.sched_getaffinity(0))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_albert(tmp_path_factory.mktemp("albert"))


class Stopping:
    """A model whose batches, all but the first few, wait for a gate: somebody stops it while it reads."""

    def __init__(self, folder: Path, free: int = 0) -> None:
        self.model = CrossEncoderRelationModel(load_card(str(folder)), device="cpu")
        self.gate = threading.Event()
        self.read: list[int] = []
        self.places = itertools.count()
        self.free = free
        self._outputs = self.model._encoder.outputs
        self.model._encoder.outputs = self.outputs  # type: ignore[method-assign]

    def outputs(self, batch: Sequence[Tokens]) -> list[list[float]]:
        place = next(self.places)
        self.read.append(place)
        if place >= self.free:
            self.gate.wait()
        return self._outputs(batch)

    async def reached(self, condition: Callable[[], bool], call: Awaitable[Any]) -> None:
        while not condition():
            assert not asyncio.ensure_future(call).done()
            await asyncio.sleep(0)


async def test_a_cancelled_call_leaves_no_batch_to_be_read_but_those_at_work(folder: Path) -> None:
    stopping = Stopping(folder)
    call = asyncio.ensure_future(stopping.model.relate(pairs_of(40 * CORES, 9, 4)))
    await stopping.reached(lambda: len(stopping.read) == CORES, call)
    call.cancel()
    await asyncio.wait([call])
    stopping.gate.set()
    stopping.model.close()
    assert call.cancelled()
    assert len(stopping.read) == CORES


async def test_closing_a_model_at_work_waits_for_the_batches_at_work_alone_and_tells_who_asked(folder: Path) -> None:
    stopping = Stopping(folder)
    calls = [asyncio.ensure_future(stopping.model.relate(pairs_of(40 * CORES + more, 9, 4))) for more in range(2)]
    await stopping.reached(lambda: len(stopping.read) == CORES, calls[0])
    closing = asyncio.ensure_future(asyncio.to_thread(stopping.model.close))
    await stopping.reached(stopping.model._closed.is_set, closing)
    stopping.gate.set()
    await closing
    for end in await asyncio.gather(*calls, return_exceptions=True):
        assert isinstance(end, EngineError)
        assert "was closed while it was asked" in str(end)
    assert len(stopping.read) == CORES


async def test_closing_a_model_stops_it_from_preparing_pairs(folder: Path) -> None:
    model = CrossEncoderRelationModel(load_card(str(folder)), device="cpu")
    gate, counted = threading.Event(), []
    length = model._encoder.length

    def slowly(text: str) -> int:
        counted.append(text)
        gate.wait()
        return length(text)

    model._encoder.length = slowly  # type: ignore[method-assign]
    call = asyncio.ensure_future(model.relate([Pair(f"Granite {number}.", "It was.") for number in range(100)]))
    while not counted:
        await asyncio.sleep(0)
    closing = asyncio.ensure_future(asyncio.to_thread(model.close))
    while not model._closed.is_set():
        await asyncio.sleep(0)
    gate.set()
    await closing
    with pytest.raises(EngineError):
        await call
    assert len(counted) == 2, "the texts of the pair that it was at"


async def test_a_stopped_call_keeps_every_batch_that_was_read(folder: Path, tmp_path: Path) -> None:
    stopping = Stopping(folder, free=30)
    keeper = CachedRelations(stopping.model, tmp_path / "relations.sqlite")
    pairs = [Pair(f"Granite {number}.", "It was.") for number in range(30 + 20 * CORES)]
    call = asyncio.ensure_future(keeper.relate(pairs))
    await stopping.reached(lambda: len(stopping.read) == 30 + CORES and keeper.counts["asked"] == 30, call)
    call.cancel()
    await asyncio.wait([call])
    stopping.gate.set()
    stopping.model.close()
    keeper.close()
    database = sqlite3.connect(tmp_path / "relations.sqlite")
    assert database.execute("SELECT count(*) FROM relations").fetchone() == (30,)
    database.close()
