"""An engine that counts what it is asked, and how the tests of transcripts ask it."""

import asyncio
import math
from typing import Any

from localfact.llm.calls import ChooseCall, CountCall, GenerateCall
from localfact.llm.client import ModelEngine
from localfact.llm.engine import Choice, EngineIdentity, Generation, Message, Token
from localfact.runtime.usage import Usage

LABELS = ("entailment", "contradiction", "neutral")
IDENTITY = EngineIdentity(model="tiny", revision="sha256:1", dtype="float32", window=2048)


class CountingEngine(ModelEngine):
    """Answers with its own name and how often it was asked; waits for `gate`, and fails as often as it is told."""

    def __init__(self, name: str = "first", identity: EngineIdentity = IDENTITY) -> None:
        self.identity = identity
        self.calls = 0
        self.failures: list[BaseException] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.name = name
        self.closed = False
        self.cancelled = 0

    async def answer_count(self, call: CountCall) -> int:
        await self._turn()
        return self.calls

    async def answer_generate(self, call: GenerateCall) -> Generation:
        await self._turn()
        text = f"{self.name} {self.calls}"
        return Generation(text=text, tokens=(Token(log_prob=-0.1, start=0, end=len(text)),), usage=Usage(seconds=0.1 + 0.2))

    async def answer_choose(self, call: ChooseCall) -> Choice:
        await self._turn()
        return Choice(log_probs=dict.fromkeys(call.labels, -math.pi * self.calls))

    async def aclose(self) -> None:
        self.closed = True

    async def _turn(self) -> None:
        self.calls += 1
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.failures:
            raise self.failures.pop(0)


def asked(text: str) -> list[Message]:
    return [Message("system", "Judge."), Message("user", text)]


async def generate(engine: Any, text: str, *, stage: str = "extraction", **sampling: Any) -> Generation:
    answer: Generation = await engine.generate(asked(text), max_tokens=50, stage=stage, **sampling)
    return answer
