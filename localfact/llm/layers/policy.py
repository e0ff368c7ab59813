"""How a model is asked: under grammars or freely, and how probable labels must be before their probabilities mean something."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from localfact.errors import InputError, UnlikelyLabelsError
from localfact.llm.calls import Call, CallResult, ChooseCall, CountCall, GenerateCall
from localfact.llm.client import CallingEngine
from localfact.llm.engine import Choice
from localfact.llm.layers.layer import Layer
from localfact.models.relation_prompt import RelationPrompt
from localfact.records import Probability, Record

#: The least probability that the labels of one choice have together (SPEC section 5).
MIN_MASS = 0.05
#: The average of that probability below which a reader is warned.
WARN_MASS = 0.5


class AskingPolicy(Record):
    """How a model is asked, as the user or its card decides.

    Attributes:
        guided: whether answers follow the grammars of the prompts; without, a model keeps to the format by itself.
        answer_tokens: the most tokens of an answer that follows a grammar, for a model that runs on; None for as many as a
            stage allows.
        min_mass: the least probability that the labels of one choice must have together; 0 takes any.
        warn_mass: the average of that probability in a stage below which the run's reader is warned.
        relation_prompt: how a model that only judges pairs is asked; it is asked nothing else.
    """

    guided: bool = False
    answer_tokens: Annotated[int, Field(ge=1)] | None = None
    min_mass: Probability = MIN_MASS
    warn_mass: Probability = WARN_MASS
    relation_prompt: RelationPrompt | None = None


class PolicyLayer(Layer):
    """The outermost layer, which the stages ask: applies an `AskingPolicy` to every call.

    Without guidance, grammars are left out of `generate`. `choose` raises `UnlikelyLabelsError` where the labels have less than
    `min_mass` together, so that their shares of it mean nothing; a single label, whose own probability is asked, may have any.

    Attributes:
        policy: whether grammars are handed on, and which choices are refused.
    """

    def __init__(self, inner: CallingEngine, policy: AskingPolicy, own_prompts: Mapping[str, str] | None = None) -> None:
        """`own_prompts`: the user's own templates, which the stages fill in."""
        super().__init__(inner)
        self.policy = policy
        self.own_prompts = own_prompts or {}

    async def answer(self, call: Call[CallResult]) -> CallResult:
        """Hands the call on as the policy allows it.

        Raises:
            UnlikelyLabelsError: the labels are too improbable.
            InputError: the model only judges pairs, and is asked for something else.
        """
        answer = await self._inner.answer(self._fit(call))
        if isinstance(answer, Choice) and len(answer.log_probs) > 1 and answer.mass < self.policy.min_mass:
            raise UnlikelyLabelsError(
                f"Where it was asked, the model would write one of {', '.join(answer.log_probs)} with a probability of "
                f"{answer.mass:.2g} only, less than --min-mass {self.policy.min_mass:g}: it does not answer as asked."
            )
        return answer

    def _fit(self, call: Call[CallResult]) -> Call[CallResult]:
        """The call with the grammar and the number of tokens that the policy allows."""
        pairs = self.policy.relation_prompt
        asked = pairs is not None and isinstance(call, ChooseCall) and set(call.labels) == set(pairs.answers)
        if pairs is not None and not asked and not isinstance(call, CountCall):
            raise InputError(
                f"{self.identity.model} only judges pairs of texts (--relations llm); let another model find the claims "
                "(`localfact extract`), and give them with the data."
            )
        if not isinstance(call, GenerateCall) or call.grammar is None:
            return call
        if not self.policy.guided:
            return replace(call, grammar=None)
        most = min(call.max_tokens, self.policy.answer_tokens or call.max_tokens)
        return call if most == call.max_tokens else replace(call, max_tokens=most)
