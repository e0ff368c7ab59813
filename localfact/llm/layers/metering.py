"""Counts what every call costs on the ledger of the response it is made for."""

from localfact.errors import PromptTooLongError
from localfact.llm.calls import Call, CallResult
from localfact.llm.engine import Choice, Generation
from localfact.llm.layers.layer import Layer
from localfact.runtime.usage import current_ledger, note_window


class MeteringLayer(Layer):
    """Counts each call's usage, and the mass of labels, on the current ledger (`localfact.runtime.usage`).

    `count` is free and not counted. A prompt that the window has no room for, and an answer that it cut, are noted there too.
    """

    async def answer(self, call: Call[CallResult]) -> CallResult:
        """Hands the call on, and counts what it cost."""
        try:
            answer = await self._inner.answer(call)
        except PromptTooLongError:
            note_window(self.identity.window)
            raise
        if call.cut_by_window(answer):
            note_window(self.identity.window)
        if isinstance(answer, Generation | Choice):
            current_ledger().add(call.stage, answer.usage)
        if isinstance(answer, Choice) and len(answer.log_probs) > 1:
            current_ledger().weigh(call.stage, answer.mass)
        return answer
