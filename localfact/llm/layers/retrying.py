"""Makes a request that failed again: one bad request fails its own claim, and only a broken engine stops a run."""

from contextlib import suppress

from localfact.errors import EngineError, RequestError
from localfact.llm.calls import Call, CallResult
from localfact.llm.client import CallingEngine
from localfact.llm.engine import Message
from localfact.llm.layers.layer import Layer

#: How often a request is made.
TRIES = 3
#: When so many requests in a row have failed at each try, the engine is asked something that any engine can answer.
MOST_IN_A_ROW = 25
_SIMPLE = (Message("user", "Say yes."),)


class RetryingLayer(Layer):
    """Makes a request up to TRIES times.

    Many failures in a row may be one bad text that many requests share; the engine counts as broken when it then cannot answer
    a simple request either.
    """

    def __init__(self, inner: CallingEngine) -> None:
        super().__init__(inner)
        self._failed_in_a_row = 0

    async def answer(self, call: Call[CallResult]) -> CallResult:
        """Hands the call on until it is answered, TRIES times at most.

        Raises:
            RequestError: it failed each time. EngineError: so did the last MOST_IN_A_ROW, and a simple one.
        """
        for _ in range(TRIES - 1):
            with suppress(RequestError):
                return self._note_success(await self._inner.answer(call))
        try:
            return self._note_success(await self._inner.answer(call))
        except RequestError as error:
            self._failed_in_a_row += 1
            if self._failed_in_a_row >= MOST_IN_A_ROW:
                await self._check(error)
            raise

    def _note_success(self, answer: CallResult) -> CallResult:
        self._failed_in_a_row = 0
        return answer

    async def _check(self, error: RequestError) -> None:
        """Raises EngineError where the engine answers nothing any more."""
        try:
            await self._inner.generate(_SIMPLE, max_tokens=1, stage="")
        except RequestError:
            raise EngineError(
                f"The last {MOST_IN_A_ROW} requests to the language model all failed, and so does a simple one: {error} "
                "What was done is kept."
            ) from error
        self._failed_in_a_row = 0
