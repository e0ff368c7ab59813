"""Makes a request that failed again: one bad request fails its own claim, and only a broken engine stops a run."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from localfact.errors import EngineError, RequestError
from localfact.llm.engine import Chat, Choice, Engine, EngineIdentity, Generation, Grammar

Result = TypeVar("Result")

#: How often a request is made.
TRIES = 3
#: The engine counts as broken when so many requests in a row have failed at each try.
MOST_IN_A_ROW = 25


class RetryingEngine:
    """An engine that makes a request up to TRIES times; see `Engine` for its methods."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._failed_in_a_row = 0

    @property
    def identity(self) -> EngineIdentity:
        """The wrapped engine's identity."""
        return self._engine.identity

    async def count(self, chat: Chat, *, prefix: str = "") -> int:
        """See `Engine.count`."""
        return await self._engine.count(chat, prefix=prefix)

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
        return await self._tried(
            lambda: self._engine.generate(
                chat, max_tokens=max_tokens, stop=stop, grammar=grammar, temperature=temperature, seed=seed, stage=stage
            )
        )

    async def choose(self, chat: Chat, labels: Sequence[str], *, prefix: str = "", whole: bool = False, stage: str) -> Choice:
        """See `Engine.choose`."""
        return await self._tried(lambda: self._engine.choose(chat, labels, prefix=prefix, whole=whole, stage=stage))

    async def aclose(self) -> None:
        """Ends the wrapped engine."""
        await self._engine.aclose()

    async def _tried(self, ask: Callable[[], Awaitable[Result]]) -> Result:
        for _ in range(TRIES - 1):
            try:
                result = await ask()
            except RequestError:
                continue
            self._failed_in_a_row = 0
            return result
        try:
            result = await ask()
        except RequestError as error:
            self._failed_in_a_row += 1
            if self._failed_in_a_row >= MOST_IN_A_ROW:
                raise EngineError(
                    f"The last {MOST_IN_A_ROW} requests to the language model all failed: {error} What was done is kept."
                ) from error
            raise
        self._failed_in_a_row = 0
        return result
