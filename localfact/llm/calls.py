"""One call of a language model: its key, how it is made, and how its answer is written as JSON.

Floats are written with as many digits as restore the same bits; minus infinity is `-Infinity`.
"""

import hashlib
import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar

from localfact.errors import InputError, PromptTooLongError, RequestError
from localfact.llm.engine import Chat, Choice, EngineIdentity, Generation, Grammar
from localfact.records import Record

#: Version of the keys, part of every one; increased when older transcripts cannot answer any more.
FORMAT = 1

#: A revision that identifies content: a commit of the hub, or the hash of the files; engine arguments may follow a "+".
CONTENT = re.compile(r"([0-9a-f]{40}|sha256:[0-9a-f]{64})(?=\+|$)")
#: Of the labels of a recorded choice together; the rounding of so many exponentials is less.
MOST_MASS = 1.001

CallResult = TypeVar("CallResult", int, Generation, Choice)
#: Errors that stand in place of an answer, by the name under which their message is kept.
TOO_LONG, FAILED = "prompt_too_long", "request_failed"


def identity_fields(identity: EngineIdentity) -> dict[str, Any]:
    """The fields of an identity that are part of every key, in JSON's types: all but the window, and some without the name.

    Where the revision identifies the model's files, the name is left out: the same files answer alike under any name.
    """
    names_content = CONTENT.match(identity.revision) is not None
    return identity.model_dump(mode="json", exclude={"window", "model"} if names_content else {"window"})


class Keys(NamedTuple):
    """The two keys of a call, 64 hexadecimal digits each.

    Attributes:
        whole: for an answer that any window would give.
        windowed: for an answer that depends on the window: a prompt too long for it, or an answer that it cut short.
    """

    whole: str
    windowed: str


@dataclass(frozen=True)
class Call(ABC, Generic[CallResult]):
    """A call of an engine; `kind` names the method of `ModelEngine` that answers it.

    `stage` is recorded for readers; it is not part of the key.
    """

    chat: Chat
    stage: str
    kind: ClassVar[Literal["count", "generate", "choose"]]

    @property
    @abstractmethod
    def parameters(self) -> Mapping[str, Any]:
        """What decides the answer besides messages and engine, in a canonical form that equal calls share."""

    def plain(self, answer: CallResult) -> Any:
        """The answer in JSON's types: all its fields."""
        return answer.model_dump() if isinstance(answer, Record) else answer

    @abstractmethod
    def read(self, plain: Any) -> CallResult:
        """The answer from JSON's types: the inverse of `plain`, for this call."""

    def cut_by_window(self, answer: CallResult) -> bool:
        """Whether a larger window might have given a longer answer."""
        return False

    @property
    def request(self) -> dict[str, Any]:
        """Messages and parameters in JSON's types."""
        messages = [{"role": message.role, "content": message.content} for message in self.chat]
        return {"messages": messages, **self.parameters}

    def keys(self, identity: EngineIdentity) -> Keys:
        """SHA-256 of the canonical JSON of format, kind, the deciding fields of the identity, messages and parameters."""
        described = {
            "format": FORMAT,
            "kind": self.kind,
            "identity": identity_fields(identity),
            "request": self.request,
        }
        return Keys(digest(described), digest({**described, "window": identity.window}))

    def encode(self, answer: CallResult | PromptTooLongError | RequestError) -> tuple[str, bool]:
        """The answer, or the error of this call, as JSON, and whether it is valid for this window only."""
        if isinstance(answer, PromptTooLongError):
            return json_text({TOO_LONG: str(answer)}), True
        if isinstance(answer, RequestError):
            return json_text({FAILED: str(answer)}), False
        return json_text(self.plain(answer)), self.cut_by_window(answer)

    def decode(self, text: str) -> CallResult:
        """The answer that `encode` wrote.

        Raises:
            PromptTooLongError, RequestError: that was the answer. ValueError, TypeError, KeyError: `encode` did not write this
                text.
        """
        plain = json.loads(text)
        if isinstance(plain, dict) and TOO_LONG in plain:
            raise PromptTooLongError(plain[TOO_LONG])
        if isinstance(plain, dict) and FAILED in plain:
            raise RequestError(plain[FAILED])
        return self.read(plain)


@dataclass(frozen=True)
class CountCall(Call[int]):
    """A call of `Engine.count`."""

    prefix: str
    kind = "count"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The answer prefix."""
        return {"prefix": self.prefix}

    def plain(self, answer: int) -> Any:
        """An object with one named number."""
        return {"tokens": answer}

    def read(self, plain: Any) -> int:
        """The number of tokens."""
        return int(plain["tokens"])


@dataclass(frozen=True)
class GenerateCall(Call[Generation]):
    """A call of `Engine.generate`."""

    max_tokens: int
    stop: Sequence[str]
    temperature: float
    seed: int
    grammar: Grammar | None = None
    kind = "generate"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The sampling; the seed only where it matters. Stop strings keep their order, as an engine may depend on it."""
        return {
            "max_tokens": self.max_tokens,
            "stop": list(self.stop),
            "temperature": float(self.temperature) + 0.0,  # no -0.0
            "seed": self.seed if self.temperature else 0,
            **({} if self.grammar is None else {"grammar": self.grammar}),  # a key tells only of what was asked for
        }

    def read(self, plain: Any) -> Generation:
        """The text with its tokens; refused where they do not cover it, as a probability of it would be too high."""
        answer = Generation.model_validate(plain)
        if not answer.covered:
            raise ValueError("the tokens do not cover the text")
        return answer

    def cut_by_window(self, answer: Generation) -> bool:
        """Whether the answer was cut before `max_tokens`."""
        return answer.finish == "length" and answer.usage.output_tokens < self.max_tokens


@dataclass(frozen=True)
class ChooseCall(Call[Choice]):
    """A call of `Engine.choose`."""

    labels: Sequence[str]
    prefix: str
    whole: bool = False
    kind = "choose"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The labels, sorted, as no label's probability depends on their order."""
        return {"labels": sorted(self.labels), "prefix": self.prefix, **({"whole": True} if self.whole else {})}

    def read(self, plain: Any) -> Choice:
        """The probabilities, in the order in which this call names the labels; refused where they are more than all."""
        choice = Choice.model_validate(plain)
        if math.fsum(math.exp(value) for value in choice.log_probs.values()) > MOST_MASS:
            raise ValueError("the labels together are more probable than 1")
        return choice.model_copy(update={"log_probs": {label: choice.log_probs[label] for label in self.labels}})


def require_labels(labels: Sequence[str]) -> tuple[str, ...]:
    """Returns the labels as a tuple. Raises InputError for no labels, an empty one, or one twice."""
    if not labels or len(set(labels)) < len(labels) or "" in labels:
        raise InputError("A choice needs labels, none of them empty, each once.")
    return tuple(labels)


def is_failure(text: str) -> bool:
    """Whether `Call.encoded` wrote that the request failed: another try may succeed."""
    return text.startswith(f'{{"{FAILED}":')


def digest(value: Any) -> str:
    """SHA-256 of the canonical JSON; lone surrogates are distinguished too."""
    canonical = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def json_text(value: Any) -> str:
    """JSON with characters written as they are, except lone surrogates, which are escaped."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value)
    return text
