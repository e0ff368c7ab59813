"""What engines that stand before another one have in common: they answer a call as a whole, whatever kind it is."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from localfact.llm.calls import Call, CallResult, ChooseCall, CountCall, GenerateCall
from localfact.llm.engine import Chat, Choice, Engine, EngineIdentity, Generation, Grammar
from localfact.llm.labels import checked


class CallingEngine(ABC):
    """An `Engine` whose three ways of asking are one: `_answer`."""

    @property
    @abstractmethod
    def identity(self) -> EngineIdentity:
        """See `Engine.identity`."""

    @abstractmethod
    async def aclose(self) -> None:
        """See `Engine.aclose`."""

    @abstractmethod
    async def _answer(self, call: Call[CallResult]) -> CallResult:
        """The answer to a call."""

    async def count(self, chat: Chat, *, prefix: str = "") -> int:
        """See `Engine.count`."""
        return await self._answer(CountCall(tuple(chat), "", prefix))

    async def generate(
        self,
        chat: Chat,
        *,
        max_tokens: int,
        stop: Sequence[str] = (),
        grammar: Grammar | None = None,
        temperature: float = 0.0,
        seed: int = 0,
        stage: str,
    ) -> Generation:
        """See `Engine.generate`."""
        return await self._answer(GenerateCall(tuple(chat), stage, max_tokens, tuple(stop), temperature, seed, grammar))

    async def choose(self, chat: Chat, labels: Sequence[str], *, prefix: str = "", whole: bool = False, stage: str) -> Choice:
        """See `Engine.choose`."""
        return await self._answer(ChooseCall(tuple(chat), stage, checked(labels), prefix, whole))


class WrappingEngine(CallingEngine):
    """A `CallingEngine` before another engine, which it ends with itself."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def identity(self) -> EngineIdentity:
        """The wrapped engine's identity."""
        return self._engine.identity

    async def aclose(self) -> None:
        """Ends the wrapped engine."""
        await self._engine.aclose()
