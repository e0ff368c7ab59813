"""Real engines over tiny models that many tests ask one after the other: to load one takes as long as a hundred tests."""

import asyncio
import os
from importlib.util import find_spec
from unittest.mock import patch

import pytest

from localfact.llm.engine import Engine
from localfact.llm.settings import EngineSettings
from localfact.llm.shared import SharedEngine
from localfact.llm.vllm import VLLMEngine

NEEDS_VLLM = pytest.mark.skipif(find_spec("vllm") is None, reason="vLLM is not installed")
#: Environment in which vLLM's CPU build runs its model in the engine's process: one process less to start, same numbers.
FAST_START = {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"}


class Engines:
    """Starts an engine when it is first asked for, and ends all of them at the end."""

    def __init__(self) -> None:
        self._started: dict[str, Engine] = {}

    def __call__(self, settings: EngineSettings) -> Engine:
        """The engine of these settings, itself; who asks for it does not end it."""
        if repr(settings) not in self._started:
            with patch.dict(os.environ, FAST_START):
                self._started[repr(settings)] = VLLMEngine(settings)
        return self._started[repr(settings)]

    def lent(self, settings: EngineSettings) -> Engine:
        """The same, for code that ends it: nothing happens then. Stands in for the class `VLLMEngine`."""
        engine = self(settings)
        return SharedEngine(engine.identity, lambda: engine)

    def close(self) -> None:
        """Ends them."""
        for engine in self._started.values():
            asyncio.run(engine.aclose())
