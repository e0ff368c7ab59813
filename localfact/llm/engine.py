"""The seam to a language model: what an engine is asked and what it answers. No library of models is named here.

Token log-probabilities are the raw material: of a generated text, token by token with their place in it; of a closed set of
labels, exactly and without generating anything.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, NamedTuple, Protocol

from pydantic import Field

from localfact.records import Probability, Record
from localfact.runtime.usage import Usage

LogProb = Annotated[float, Field(le=1e-6)]  # rounding may leave a certain token a hair above 0


class Message(NamedTuple):
    """One turn of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


Chat = Sequence[Message]


class EngineIdentity(Record):
    """What decides an engine's answers, and so is part of every key of a transcript and of run.yaml.

    Attributes:
        model: the card's name, or the folder's where there is no card; never a path. For people alone where the revision
            stands for the files (`calls.deciding`).
        revision: of weights, configuration and tokenizer: a commit of the hub, or "sha256:..." of the files, and the engine
            arguments that change answers.
        dtype: of the computation: float32, bfloat16, float16.
        quantisation: "fp8", say; None for none.
        template: hash of the chat template; "plain" where the tokenizer has none.
        window: how many tokens prompt and answer may have together. Not part of a transcript's key: it changes no answer.
    """

    model: str
    revision: str
    dtype: str
    quantisation: str | None = None
    template: str = "plain"
    window: Annotated[int, Field(gt=0)]


class Token(Record):
    """One generated token: its log-probability and the characters [start, end) of the text it stands for.

    Where several tokens make one character, each carries that character's span.
    """

    log_prob: LogProb
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]


class Generation(Record):
    """A generated text.

    Attributes:
        text: without special tokens, and without the stop string that ended it.
        tokens: those that stand in `text`, in order; together they cover it.
        finish: "stop" when the model or a stop string ended it, "length" when it was cut at `max_tokens`.
    """

    text: str
    tokens: tuple[Token, ...] = ()
    finish: Literal["stop", "length"] = "stop"
    usage: Usage = Usage()

    def probability(self, start: int, end: int) -> float:
        """P(text[start:end] | everything before it): the product over all tokens that stand in [start, end), even in part.

        In [0, 1]; 1.0 for an empty stretch. A token that reaches over an edge counts whole: without it the stretch could not
        have been written (FastFact, equation 1, for a label of any number of tokens).
        """
        total = sum(token.log_prob for token in self.tokens if token.start < end and token.end > start)
        return min(1.0, math.exp(total))


class Choice(Record):
    """How probable each label of a closed set is as the next thing the model says.

    `log_probs`: label -> raw log-probability (natural logarithm, full vocabulary, temperature 1) of what tells the label
    from the others: the sum over its tokens at the places where the labels' tree branches, its first token always among
    them. Tokens between and behind such places are forced by the closed set and count as certain. A label that is alone in its
    set has the sum over all its tokens.
    """

    log_probs: Mapping[str, float]
    usage: Usage = Usage()

    @property
    def mass(self) -> float:
        """The probability that the model says one of the labels at all, in [0, 1]."""
        return min(1.0, math.fsum(math.exp(value) for value in self.log_probs.values()))

    @property
    def distribution(self) -> dict[str, Probability]:
        """Label -> probability given that it is one of them; sums to one."""
        highest = max(self.log_probs.values())
        weights = {label: math.exp(value - highest) for label, value in self.log_probs.items()}
        total = math.fsum(weights.values())
        return {label: weight / total for label, weight in weights.items()}


class Engine(Protocol):
    """A language model. Any number of coroutines may call it at once.

    Every call may raise `PromptTooLongError` (of that call alone) or `EngineError` (the engine is gone, for all).
    """

    @property
    def identity(self) -> EngineIdentity:
        """What decides its answers."""
        ...

    async def count(self, chat: Chat, *, prefix: str = "") -> int:
        """Returns how many tokens the chat has as sent: template, generation prompt and begun answer included."""
        ...

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
        """Returns the model's answer, at most `max_tokens` tokens of it."""
        ...

    async def choose(self, chat: Chat, labels: Sequence[str], *, prefix: str = "", stage: str) -> Choice:
        """Returns the probabilities of the labels as what comes next after the begun answer `prefix`; decodes nothing.

        Labels follow the generation prompt, or the prefix, directly: a wanted space belongs to the label or to the prefix. Only
        tokens that tell labels apart are asked; a label that is alone is asked token by token, for its whole probability.

        Raises:
            InputError: no labels, an empty one, or one twice.
        """
        ...

    async def aclose(self) -> None:
        """Ends the engine; calls still open fail."""
        ...
