"""An engine that somebody else starts and ends: it starts with the first call, and outlives the run that it is lent to.

`engines.py` lends one to runs that ask the same model one after the other.
"""

from collections.abc import Callable, Sequence

from localfact.errors import EngineError, InputError
from localfact.llm.engine import Chat, Choice, Engine, EngineIdentity, Generation
from localfact.llm.loop_thread import interruptible


class LentEngine:
    """An engine that somebody else ends. Attributes: identity, known before it is started."""

    def __init__(self, identity: EngineIdentity, started: Callable[[], Engine]) -> None:
        """Takes what returns the engine, and starts it if need be."""
        self.identity = identity
        self._started = started
        self._known: Engine | None = None

    async def count(self, chat: Chat, *, prefix: str = "") -> int:
        """As the engine."""
        return await self._engine().count(chat, prefix=prefix)

    async def generate(
        self,
        chat: Chat,
        *,
        max_tokens: int,
        stop: Sequence[str] = (),
        temperature: float = 0.0,
        seed: int = 0,
        stage: str,
    ) -> Generation:
        """As the engine."""
        return await self._engine().generate(
            chat, max_tokens=max_tokens, stop=stop, temperature=temperature, seed=seed, stage=stage
        )

    async def choose(self, chat: Chat, labels: Sequence[str], *, prefix: str = "", stage: str) -> Choice:
        """As the engine."""
        return await self._engine().choose(chat, labels, prefix=prefix, stage=stage)

    async def aclose(self) -> None:
        """Nothing: whoever lent it ends it."""

    def _engine(self) -> Engine:
        try:
            # Blocks the loop while it starts: nobody has anything else to do without it, and Ctrl-C reaches it here.
            if self._known is None:
                with interruptible():
                    self._known = self._started()
        except InputError as error:
            raise EngineError(str(error)) from error  # an InputError would be taken for a fault of this one call
        return self._known
