"""Real engines over tiny models that many tests ask one after the other: to load one takes as long as a hundred tests."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from unittest.mock import patch

import pytest

from localfact.llm.cores.sharing import SharedEngine
from localfact.llm.cores.vllm import VLLMEngine
from localfact.llm.engine import Engine
from localfact.llm.placing.settings import EngineSettings

NEEDS_VLLM = pytest.mark.skipif(find_spec("vllm") is None, reason="vLLM is not installed")
#: Environment in which vLLM's CPU build runs its model in the engine's process: one process less to start, same numbers.
FAST_START = {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"}


#: How many engines of commands are kept: each takes nearly a gigabyte.
LENT = 2


class Engines:
    """Starts an engine when it is first asked for, and ends all in the end; those of commands that are over, earlier."""

    def __init__(self) -> None:
        self._started: dict[str, Engine] = {}
        self._lent: list[str] = []

    def __call__(self, settings: EngineSettings) -> Engine:
        """The engine of these settings, itself; who asks for it does not end it."""
        if repr(settings) not in self._started:
            with patch.dict(os.environ, FAST_START):
                self._started[repr(settings)] = VLLMEngine(settings)
        return self._started[repr(settings)]

    def lent(self, settings: EngineSettings) -> Engine:
        """The same, for code that ends it: nothing happens then. Stands in for the class `VLLMEngine`."""
        engine, name = self(settings), repr(settings)
        self._lent = [*(one for one in self._lent if one != name), name]
        for earlier in self._lent[:-LENT]:
            self._end(earlier)
        self._lent = self._lent[-LENT:]
        return SharedEngine(engine.identity, lambda: engine)

    def close(self) -> None:
        """Ends them."""
        for name in list(self._started):
            self._end(name)

    def _end(self, name: str) -> None:
        engine = self._started.pop(name)
        with ThreadPoolExecutor(1) as elsewhere:  # the event loop of this thread may be at work
            elsewhere.submit(asyncio.run, engine.aclose()).result()

    def end(self, settings: EngineSettings) -> None:
        """Ends the engine of these settings, which nobody will ask any more."""
        self._end(repr(settings))
