"""One engine for several runs that ask the same model one after the other: started with the first call, ended by its owner."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from localfact.errors import EngineError, InputError
from localfact.llm.calls import Call, CallResult
from localfact.llm.client import CallingEngine
from localfact.llm.engine import EngineIdentity
from localfact.runtime.interrupts import interruptible

if TYPE_CHECKING:
    from localfact.llm.placing.settings import EngineSettings


class SharedEngine(CallingEngine):
    """An engine that its owner starts and ends. `started` returns the running engine and starts it if need be."""

    def __init__(self, identity: EngineIdentity, started: Callable[[], CallingEngine]) -> None:
        self.identity = identity
        self._started = started
        self._known: CallingEngine | None = None

    async def answer(self, call: Call[CallResult]) -> CallResult:
        """Hands the call on to the engine, which starts now if it has not yet."""
        if self._known is None:
            try:
                # Blocks the event loop while the engine starts: nothing can be done without it, and Ctrl-C works here.
                with interruptible():
                    self._known = self._started()
            except InputError as error:
                raise EngineError(str(error)) from error  # an InputError would fail this one call only
        return await self._known.answer(call)

    async def aclose(self) -> None:
        """Does nothing: the owner ends the engine."""


#: Starts an engine from its settings: `start_engine`, or `EngineOwner.share`.
Start = Callable[["EngineSettings"], CallingEngine]


def start_engine(settings: "EngineSettings") -> CallingEngine:
    """Loads the model in this process, with vLLM; or, where the settings name a server (`--endpoint`), connects to that.

    Raises:
        EngineError: the model cannot be loaded, or the server does not answer. MissingError: vLLM is not installed.
    """
    if "endpoint" in settings.machine:
        from localfact.llm.cores.endpoint import EndpointEngine

        return EndpointEngine(settings)
    from localfact.llm.cores.vllm import VLLMEngine

    return VLLMEngine(settings)


class EngineOwner:
    """Starts one engine and shares it among several runs, one after the other; `share` takes the place of `start_engine`.

    Args:
        start: starts an engine and blocks until it is ready.
    """

    def __init__(self, start: Start = start_engine) -> None:
        self._start = start
        self._settings: EngineSettings | None = None
        self._engine: CallingEngine | None = None

    def share(self, settings: "EngineSettings") -> SharedEngine:
        """The engine of these settings, started by the first call. Closing it does not end the engine."""
        return SharedEngine(settings.identity, lambda: self._start_once(settings))

    def share_started(self, settings: "EngineSettings") -> SharedEngine:
        """`share`, but waits until the engine has started, so that errors are raised here.

        Raises:
            LocalFactError: it cannot start.
        """
        self._start_once(settings)
        return self.share(settings)

    async def keep_only(self, settings: "EngineSettings | None") -> None:
        """Ends the started engine unless it has these settings; None ends any.

        `SharedEngine`s of an ended one cannot be used any more.
        """
        if self._engine is not None and self._settings != settings:
            engine, self._engine = self._engine, None
            await engine.aclose()

    def _start_once(self, settings: "EngineSettings") -> CallingEngine:
        if self._engine is None:
            self._engine, self._settings = self._start(settings), settings
        if self._settings != settings:
            raise AssertionError("an engine of other settings is still open")
        return self._engine
