"""One engine for several runs that ask the same model one after the other: started with the first call, ended by its owner."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from localfact.errors import EngineError, InputError
from localfact.llm.engine import Chat, Choice, Engine, EngineIdentity, Generation
from localfact.runtime.interrupts import interruptible

if TYPE_CHECKING:
    from localfact.llm.settings import EngineSettings


class SharedEngine:
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


#: Makes an engine of the settings; `start_engine` unless somebody shares one.
Start = Callable[["EngineSettings"], Engine]


def start_engine(settings: "EngineSettings") -> Engine:
    """Loads the model in this process.

    Raises:
        EngineError: it cannot start. MissingError: vLLM is not installed.
    """
    from localfact.llm.vllm import VLLMEngine

    return VLLMEngine(settings)


class EngineOwner:
    """One engine for several runs, one after the other; they are lent it in place of `start_engine`."""

    def __init__(self, start: Start = start_engine) -> None:
        """Takes what starts an engine: blocks until it is ready."""
        self._start = start
        self._settings: EngineSettings | None = None
        self._engine: Engine | None = None

    def share(self, settings: "EngineSettings") -> SharedEngine:
        """The engine of these settings, for one run: it starts with the run's first call. Closing it ends nothing."""
        return SharedEngine(settings.identity, lambda: self._started(settings))

    def share_started(self, settings: "EngineSettings") -> SharedEngine:
        """The same, started before this returns: for a run that surely asks, and shall fail early.

        Raises:
            LocalFactError: it cannot start.
        """
        self._started(settings)
        return self.share(settings)

    async def keep_only(self, settings: "EngineSettings | None") -> None:
        """Ends the started engine unless it is the one of these settings; None ends any. What was lent of it is gone then."""
        if self._engine is not None and self._settings != settings:
            engine, self._engine = self._engine, None
            await engine.aclose()

    def _started(self, settings: "EngineSettings") -> Engine:
        if self._engine is None:
            self._engine, self._settings = self._start(settings), settings
        if self._settings != settings:
            raise AssertionError("an engine of other settings is still open")
        return self._engine
