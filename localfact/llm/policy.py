"""How a model is asked: under grammars or freely, and how probable labels must be before their probabilities mean something."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from localfact.errors import UnlikelyLabelsError
from localfact.llm.engine import Chat, Choice, Engine, EngineIdentity, Generation, Grammar
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
    """

    guided: bool = False
    answer_tokens: Annotated[int, Field(ge=1)] | None = None
    min_mass: Probability = MIN_MASS
    warn_mass: Probability = WARN_MASS


class PolicyEngine:
    """The engine that the stages see: it keeps to a policy.

    Attributes:
        policy: whether grammars are handed on, and which choices are refused.
    """

    def __init__(self, engine: Engine, policy: AskingPolicy) -> None:
        self._engine = engine
        self.policy = policy

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
        """See `Engine.generate`; without guidance, the grammar is left out."""
        guide = grammar if self.policy.guided else None
        longest = max_tokens if guide is None else min(max_tokens, self.policy.answer_tokens or max_tokens)
        return await self._engine.generate(
            chat, max_tokens=longest, stop=stop, grammar=guide, temperature=temperature, seed=seed, stage=stage
        )

    async def choose(self, chat: Chat, labels: Sequence[str], *, prefix: str = "", whole: bool = False, stage: str) -> Choice:
        """See `Engine.choose`.

        Raises:
            UnlikelyLabelsError: the labels have less than `min_mass` together, so that their shares of it mean nothing. A
                single label, whose own probability is what is asked, may have any.
        """
        choice = await self._engine.choose(chat, labels, prefix=prefix, whole=whole, stage=stage)
        if len(labels) > 1 and choice.mass < self.policy.min_mass:
            raise UnlikelyLabelsError(
                f"Where it was asked, the model would write one of {', '.join(labels)} with a probability of {choice.mass:.2g} "
                f"only, less than --min-mass {self.policy.min_mass:g}: it does not answer as asked."
            )
        return choice

    async def aclose(self) -> None:
        """Ends the wrapped engine."""
        await self._engine.aclose()
