"""The protocol of a language model engine: its calls and their results. No model library is named here.

Results carry log-probabilities: of a generated text for every token, with its place in the text; of a closed set of labels
exactly, without generating anything.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, NamedTuple, Protocol

from pydantic import Field

from localfact.records import Probability, Record
from localfact.runtime.usage import Usage
from localfact.vocabulary import ChatRole

LogProb = Annotated[float, Field(le=1e-6)]  # rounding may leave a certain token a hair above 0


class Message(NamedTuple):
    """One turn of a chat. Some models that judge texts have their material in a turn of the role context.

    `group` names the chats that begin alike, all those about a premise for example: an engine of several replicas sends them to
    the one that has their beginning cached. It decides no answer. "" for a chat that is alone.
    """

    role: ChatRole
    content: str
    group: str = ""


Chat = Sequence[Message]
Finish = Literal["stop", "length", "repetition"]

#: A regular expression that a whole answer matches: of literals, classes, groups, alternatives and counts alone.
Grammar = str


class EngineIdentity(Record):
    """Everything that decides an engine's answers: part of every transcript key and of run.yaml.

    Attributes:
        model: name of the card, or of the folder where there is no card; never a path. For people only, where the revision
            identifies the files (`calls.deciding`).
        revision: of weights, configuration and tokenizer: a commit of the hub, or "sha256:..." of the files; followed by the
            engine arguments that change answers.
        dtype: of the computation: float32, bfloat16, float16.
        quantisation: for example "fp8"; None for none.
        template: hash of the chat template, and what it is given besides the chat; "plain" where the tokenizer has none.
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
        finish: "stop" when the model or a stop string ended it, "length" when it was cut at `max_tokens`, "repetition" when it
            was cut because it only repeated itself, which is looked for under a grammar alone.
        thoughts: what a model that thinks first wrote before the text, its marks included, where the engine tells them apart; a
            prefix that goes on with the text begins with it.
        masked: whether a grammar decided which tokens were possible: then no probability in it is the model's own.
    """

    text: str
    tokens: tuple[Token, ...] = ()
    finish: Finish = "stop"
    thoughts: str = ""
    masked: bool = False
    usage: Usage = Usage()

    @property
    def covered(self) -> bool:
        """Whether the tokens cover the text in order, without a gap; else a probability of a part would leave some out."""
        reached = 0
        for token in self.tokens:
            if token.start > reached or token.end > len(self.text):
                return False
            reached = max(reached, token.end)
        return reached == len(self.text)

    def probability(self, start: int, end: int) -> float:
        """P(text[start:end] | everything before it), in [0, 1]: the product over all tokens that overlap [start, end).

        1.0 for an empty range. A token that reaches over an edge counts whole, as the range could not have been written without
        it (FastFact, equation 1, for a label of any number of tokens).
        """
        total = sum(token.log_prob for token in self.tokens if token.start < end and token.end > start)
        return min(1.0, math.exp(total))


class Choice(Record):
    """How probable each label of a closed set is as the next thing the model writes.

    `log_probs`: label -> raw log-probability (natural logarithm, full vocabulary, temperature 1) of the tokens that distinguish
    the label from the others: the sum over its tokens at the places where the tree of labels branches, always including its
    first token. Tokens between and behind those places are forced by the closed set and count as certain. For a single label it
    is the sum over all its tokens.

    `whole`: the sum over all tokens of the most probable label (FastFact, equation 1); None where it was not asked for.
    """

    log_probs: Mapping[str, float]
    whole: LogProb | None = None
    usage: Usage = Usage()

    @property
    def best(self) -> str:
        """The most probable label; of equals the first."""
        return max(self.log_probs, key=lambda label: self.log_probs[label])

    @property
    def mass(self) -> float:
        """The probability that the model writes one of the labels at all, in [0, 1]."""
        return min(1.0, math.fsum(math.exp(value) for value in self.log_probs.values()))

    @property
    def distribution(self) -> dict[str, Probability]:
        """Label -> its probability given that the model writes one of the labels; sums to one."""
        highest = max(self.log_probs.values())
        weights = {label: math.exp(value - highest) for label, value in self.log_probs.items()}
        total = math.fsum(weights.values())
        return {label: weight / total for label, weight in weights.items()}


class Engine(Protocol):
    """A language model. Any number of coroutines may call it at once.

    Every call may raise `PromptTooLongError` or `RequestError` (for that call only) or `EngineError` (the engine cannot be used
    any more).
    """

    @property
    def identity(self) -> EngineIdentity:
        """Everything that decides the engine's answers."""
        ...

    @property
    def own_prompts(self) -> Mapping[str, str]:
        """The user's own templates for what stages ask it, by file name (`prompts/own.py`); a task without one has ours."""
        ...

    async def count(self, chat: Chat, *, prefix: str = "") -> int:
        """Returns how many tokens the chat has as sent, with template, generation prompt and answer prefix."""
        ...

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
        """Returns the model's answer, of at most `max_tokens` tokens. `stage` names what the cost is counted under.

        With a grammar the answer matches it, unless it is cut; a model that thinks first is free until it has thought. Its
        log-probabilities are then those among the tokens that the grammar allowed: no confidence can be read from them.
        """
        ...

    async def choose(self, chat: Chat, labels: Sequence[str], *, prefix: str = "", whole: bool = False, stage: str) -> Choice:
        """Returns the probabilities of the labels as what follows the answer prefix `prefix`; decodes nothing.

        Labels follow the generation prompt, or the prefix, directly: a space between them belongs to the label or to the
        prefix. Only tokens that distinguish labels are asked for; all tokens of a single label, and with `whole` those of the
        most probable one.

        Raises:
            InputError: no labels, an empty one, or one twice.
        """
        ...

    async def aclose(self) -> None:
        """Ends the engine; open calls fail."""
        ...
