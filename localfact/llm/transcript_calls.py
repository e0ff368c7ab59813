"""One call of a language model as a transcript keeps it: what identifies it, how it is asked, how its answer is written down.

Request and answer are JSON. Floats are written with as many digits as bring back the same bits; minus infinity is `-Infinity`.
"""

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar

from localfact.errors import PromptTooLongError
from localfact.llm.engine import Chat, Choice, Engine, EngineIdentity, Generation

#: Part of every key and of the file itself; raised whenever an older transcript could not be read as it is.
FORMAT = 1

#: Begins a revision that stands for content: a commit of the hub, or the hash of the files. What follows a "+" are arguments.
CONTENT = re.compile(r"([0-9a-f]{40}|sha256:[0-9a-f]{64})(?=\+|$)")

CallResult = TypeVar("CallResult", int, Generation, Choice)
TOO_LONG = "prompt_too_long"


def deciding(identity: EngineIdentity) -> dict[str, Any]:
    """What of an identity is part of every key, in JSON's types: all but the window, and but a name that is only for people.

    A revision that stands for the model's files themselves makes the name one: the same files give the same answers under any.
    """
    names_content = CONTENT.match(identity.revision) is not None
    return identity.model_dump(mode="json", exclude={"window", "model"} if names_content else {"window"})


class Keys(NamedTuple):
    """What a call is kept under, 64 hexadecimal digits each.

    Attributes:
        whole: for an answer that any window would have given.
        windowed: for one that this very window gave: a prompt too long for it, an answer that it cut short.
    """

    whole: str
    windowed: str


@dataclass(frozen=True)
class Call(ABC, Generic[CallResult]):
    """A call, as it was asked. `stage` is kept for the reader; it is not part of the key."""

    chat: Chat
    stage: str
    kind: ClassVar[Literal["count", "generate", "choose"]]

    @property
    @abstractmethod
    def parameters(self) -> Mapping[str, Any]:
        """What decides the answer besides the messages and the engine, in the one form that equal calls share."""

    @abstractmethod
    async def ask(self, engine: Engine) -> CallResult:
        """Asks the engine."""

    @abstractmethod
    def plain(self, answer: CallResult) -> Any:
        """The answer in JSON's types."""

    @abstractmethod
    def read(self, plain: Any) -> CallResult:
        """The answer from JSON's types, equal to the one that was written, for this very call."""

    def cut_by_window(self, answer: CallResult) -> bool:
        """Whether a larger window might have given more."""
        return False

    @property
    def request(self) -> dict[str, Any]:
        """Messages and parameters in JSON's types."""
        messages = [{"role": message.role, "content": message.content} for message in self.chat]
        return {"messages": messages, **self.parameters}

    def keys(self, identity: EngineIdentity) -> Keys:
        """SHA-256 of the canonical JSON of format, kind, what decides of the identity (`deciding`), messages and parameters."""
        described = {
            "format": FORMAT,
            "kind": self.kind,
            "identity": deciding(identity),
            "request": self.request,
        }
        return Keys(digest(described), digest({**described, "window": identity.window}))

    def encoded(self, answer: CallResult | PromptTooLongError) -> tuple[str, bool]:
        """The answer, or the error of this call alone, as JSON, and whether it holds for this window only."""
        if isinstance(answer, PromptTooLongError):
            return json_text({TOO_LONG: str(answer)}), True
        return json_text(self.plain(answer)), self.cut_by_window(answer)

    def decoded(self, text: str) -> CallResult:
        """The answer that `encoded` wrote.

        Raises:
            PromptTooLongError: that was the answer. ValueError, TypeError, KeyError: somebody else wrote the text.
        """
        plain = json.loads(text)
        if isinstance(plain, dict) and TOO_LONG in plain:
            raise PromptTooLongError(plain[TOO_LONG])
        return self.read(plain)


@dataclass(frozen=True)
class CountCall(Call[int]):
    """`Engine.count`."""

    prefix: str
    kind = "count"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The begun answer."""
        return {"prefix": self.prefix}

    async def ask(self, engine: Engine) -> int:
        """Asks for the number of tokens."""
        return await engine.count(self.chat, prefix=self.prefix)

    def plain(self, answer: int) -> Any:
        """Named, so that a reader knows what it is."""
        return {"tokens": answer}

    def read(self, plain: Any) -> int:
        """The number of tokens."""
        return int(plain["tokens"])


@dataclass(frozen=True)
class GenerateCall(Call[Generation]):
    """`Engine.generate`."""

    max_tokens: int
    stop: Sequence[str]
    temperature: float
    seed: int
    kind = "generate"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The sampling; the seed only where it decides something. Stop strings keep their order: an engine may heed it."""
        return {
            "max_tokens": self.max_tokens,
            "stop": list(self.stop),
            "temperature": float(self.temperature) + 0.0,  # no -0.0
            "seed": self.seed if self.temperature else 0,
        }

    async def ask(self, engine: Engine) -> Generation:
        """Asks for the text."""
        return await engine.generate(
            self.chat,
            max_tokens=self.max_tokens,
            stop=self.stop,
            temperature=self.temperature,
            seed=self.seed,
            stage=self.stage,
        )

    def plain(self, answer: Generation) -> Any:
        """All fields."""
        return answer.model_dump()

    def read(self, plain: Any) -> Generation:
        """The text with its tokens."""
        return Generation.model_validate(plain)

    def cut_by_window(self, answer: Generation) -> bool:
        """Whether it ended for want of room before `max_tokens`."""
        return answer.finish == "length" and answer.usage.output_tokens < self.max_tokens


@dataclass(frozen=True)
class ChooseCall(Call[Choice]):
    """`Engine.choose`."""

    labels: Sequence[str]
    prefix: str
    kind = "choose"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The labels as a set: no label's probability depends on their order."""
        return {"labels": sorted(self.labels), "prefix": self.prefix}

    async def ask(self, engine: Engine) -> Choice:
        """Asks for the probabilities."""
        return await engine.choose(self.chat, self.labels, prefix=self.prefix, stage=self.stage)

    def plain(self, answer: Choice) -> Any:
        """All fields."""
        return answer.model_dump()

    def read(self, plain: Any) -> Choice:
        """The probabilities, in the order in which this call names the labels."""
        choice = Choice.model_validate(plain)
        return choice.model_copy(update={"log_probs": {label: choice.log_probs[label] for label in self.labels}})


def digest(value: Any) -> str:
    """SHA-256 of the canonical JSON; different texts have different ones, lone surrogates included."""
    canonical = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def json_text(value: Any) -> str:
    """JSON that any reader can show: characters as they are, unless one is no character (a lone surrogate)."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value)
    return text
