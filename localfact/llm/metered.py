"""Counts what every call costs on the ledger of the response it is made for: the outermost wrapper of any engine."""

from collections.abc import Sequence

from localfact.llm.engine import Chat, Choice, Engine, EngineIdentity, Generation, Grammar
from localfact.runtime.usage import spend, weigh


class MeteredEngine:
    """An engine that counts each call's usage on the current ledger (`localfact.runtime.usage`).

    `count` is free and not counted.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

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
        """See `Engine.generate`; its usage is counted under `stage`."""
        generation = await self._engine.generate(
            chat, max_tokens=max_tokens, stop=stop, grammar=grammar, temperature=temperature, seed=seed, stage=stage
        )
        spend(stage, generation.usage)
        return generation

    async def choose(self, chat: Chat, labels: Sequence[str], *, prefix: str = "", whole: bool = False, stage: str) -> Choice:
        """See `Engine.choose`; its usage and the mass of the labels are counted under `stage`."""
        choice = await self._engine.choose(chat, labels, prefix=prefix, whole=whole, stage=stage)
        spend(stage, choice.usage)
        if len(labels) > 1:
            weigh(stage, choice.mass)
        return choice

    async def aclose(self) -> None:
        """Ends the wrapped engine."""
        await self._engine.aclose()
