"""Where a call is made: the three questions of an `Engine` become one frozen `Call`, which every layer hands on as it is.

A stage asks the outermost layer; the layers (`layers/stack.py`) and the model at their end each have one method, `answer`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from localfact.llm.calls import Call, CallResult, ChooseCall, CountCall, GenerateCall, require_labels
from localfact.llm.engine import Chat, Choice, EngineIdentity, Generation, Grammar


class CallingEngine(ABC):
    """An `Engine` that answers all three questions by one method.

    Attributes:
        identity: see `Engine.identity`.
        own_prompts: see `Engine.own_prompts`.
    """

    identity: EngineIdentity
    own_prompts: Mapping[str, str] = MappingProxyType({})

    @abstractmethod
    async def answer(self, call: Call[CallResult]) -> CallResult:
        """Returns the answer to a call, of the type that its kind has; raises what `Engine` says."""

    @abstractmethod
    async def aclose(self) -> None:
        """See `Engine.aclose`."""

    async def count(self, chat: Chat, *, prefix: str = "") -> int:
        """See `Engine.count`."""
        return await self.answer(CountCall(tuple(chat), "", prefix))

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
        return await self.answer(GenerateCall(tuple(chat), stage, max_tokens, tuple(stop), temperature, seed, grammar))

    async def choose(self, chat: Chat, labels: Sequence[str], *, prefix: str = "", whole: bool = False, stage: str) -> Choice:
        """See `Engine.choose`."""
        return await self.answer(ChooseCall(tuple(chat), stage, require_labels(labels), prefix, whole))


class ModelEngine(CallingEngine):
    """A `CallingEngine` at the end of the way: a model, with a method for each kind of call."""

    async def answer(self, call: Call[CallResult]) -> CallResult:
        """Returns what the method for this kind of call returns."""
        answer: CallResult = await getattr(self, f"answer_{call.kind}")(call)
        return answer

    @abstractmethod
    async def answer_count(self, call: CountCall) -> int:
        """Returns the number of tokens of the chat and its prefix."""

    @abstractmethod
    async def answer_generate(self, call: GenerateCall) -> Generation:
        """Returns the generated text."""

    @abstractmethod
    async def answer_choose(self, call: ChooseCall) -> Choice:
        """Returns the probabilities of the labels."""
