"""All that an engine needs to start, from a model card and a machine: folder of weights, precision, placement, arguments.

Loads no model. The identity holds what decides results, apart from what only decides speed and memory.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field

from localfact.errors import LocalFactError, MissingError
from localfact.llm.engine import EngineIdentity
from localfact.llm.placing.cures import cure
from localfact.llm.placing.engine_arguments import answer_changing, dtype_of, read_arguments
from localfact.llm.placing.hardware import GIB, Gpu, Hardware, detect
from localfact.llm.placing.model_shape import ModelShape, shape_of_card, shape_of_folder
from localfact.llm.placing.placement import ADA, AMPERE, FP8_WHILE_LOADING, UNKNOWN_TEMPLATE, Placement
from localfact.llm.placing.planner import COMFORTABLE_WINDOW, EIGHTY_GB, PlacementPlanner, TooBigError
from localfact.models.cards import resolve_card, weights_folder
from localfact.models.model_card import ModelCard
from localfact.records import Record

#: How many tokens a model that thinks first may think, where its card does not say.
THOUGHT_TOKENS = 4_096
#: GiB that another model on the engine's device takes besides its weights: activations of one batch, CUDA's context.
BESIDE_GIB = 1.5
#: What a plan assumes where a model does not fit this machine: so many GPUs like its own, or of 80 GB.
PLANNED_COUNTS = (1, 2, 4, 8, 16)
PLANNED_GPU = Gpu(name="NVIDIA A100 80GB", memory_gib=EIGHTY_GB, capability=AMPERE)
ASSUMED = "The plan is for another machine than this one."
#: GiB assumed for the weights of such a model where its card gives no size.
UNKNOWN_GIB = 0.5
#: From so many GiB of weights on a model is compiled for a CPU: with 3 GiB that takes a minute at first and 20 seconds later,
#: and saves half a second a pair. --engine-arg enforce_eager decides otherwise.
LEAST_COMPILED_GIB = 1.0


class EngineSettings(Record):
    """What `llm/cores/vllm.py` starts an engine from.

    Attributes:
        folder: where weights, config.json and tokenizer lie.
        identity: what decides the answers.
        template_arguments: for the chat template.
        deterministic: whether answers must not depend on how requests are batched.
        thought_tokens: how many tokens the model may think, besides those of an answer; 0 for a model that does not.
        arguments: for vLLM's AsyncEngineArgs, besides the model's folder.
        machine: the hardware and the placement on it, in plain values: for run.yaml.
    """

    folder: Path
    identity: EngineIdentity
    template_arguments: Mapping[str, Any] = Field(default_factory=dict)
    deterministic: bool = False
    thought_tokens: int = 0
    arguments: Mapping[str, Any] = Field(default_factory=dict)
    machine: Mapping[str, Any] = Field(default_factory=dict)


def engine_settings(
    card: ModelCard,
    *,
    engine_args: Mapping[str, Any] | None = None,
    deterministic: bool = False,
    reserved_gib: float = 0.0,
    embedder_gib: float = 0.0,
    hardware: Hardware | None = None,
    planning: bool = False,
) -> EngineSettings:
    """How to run the model of `card` on this machine. Reads a few small files; loads nothing.

    Args:
        card: of a language model.
        engine_args: for vLLM, as typed or as values; they override everything decided here, the identity included.
        deterministic: whether answers must not depend on how requests are batched.
        reserved_gib: memory that other models take of the first GPU, or of the host without one.
        embedder_gib: what the embedder takes besides. On a GPU that is too small for both it goes to the CPU, which
            `machine` tells ("embedder").
        hardware: the machine; detected if None.
        planning: nothing is to be run. The weights may be missing, then the card's sizes count; and where the model does not
            fit, the machine is the smallest that it fits, which `machine` tells ("assumed").

    Raises:
        MissingError: the weights are not on this machine, or the model is too big for it.
        InputError: the card is no language model's, its folder holds no model, or an argument is out of range.
    """
    from localfact.llm.tokens.chat import template_hash

    card.require_role("llm", "language model")
    arguments = read_arguments(engine_args or {})
    hardware = hardware or detect()
    card = resolve_card(card)
    place = Placing(card, arguments, hardware, reserved_gib, embedder_gib)
    folder = folder_of(card, place, planning=planning)
    shape = shape_of_folder(folder, card) if folder is not None else shape_of_card(card)
    if shape is None:
        raise AssertionError("a model without weights is only planned where its card gives its sizes")
    placed = place.plan(shape) if planning else place.here(shape)
    placement, hardware = placed.placement, placed.hardware
    identity = EngineIdentity(
        model=card.name,
        revision=card.revision + answer_changing(arguments) + ("+batch_invariant" if deterministic else ""),
        dtype=placement.dtype,
        quantisation=quantisation_used(shape, placement, hardware),
        template=(template_hash(folder) if folder is not None else UNKNOWN_TEMPLATE) + card_tells(card),
        window=placement.window,
    )
    return EngineSettings(
        folder=folder or Path(card.name),
        identity=identity,
        template_arguments=card.template_arguments,
        deterministic=deterministic,
        thought_tokens=thought_tokens(card),
        arguments=({"reasoning_parser": card.reasoning_parser} if card.reasoning_parser else {})
        | vllm_arguments(placement, hardware, arguments),
        machine=describe_placement(shape, placement, hardware, arguments, placed.reserved_gib) | placed.told,
    )


def thought_tokens(card: ModelCard) -> int:
    """How many tokens a model may think before it answers; 0 for one whose card says nothing of thoughts."""
    return card.thought_tokens or (THOUGHT_TOKENS if card.reasoning_parser else 0)


def card_tells(card: ModelCard) -> str:
    """The card's template arguments and limit of thought, as a suffix of the template's hash; "" for none."""
    thinking = {"thoughts": thought_tokens(card)} if thought_tokens(card) else {}
    arguments = {**card.template_arguments, **thinking}
    return f"+{json.dumps(arguments, sort_keys=True)}" if arguments else ""


def memory_to_reserve(cards: Sequence[ModelCard]) -> float:
    """GiB to leave for other models on the engine's device (an embedder, a relation model): an estimate."""
    return sum((card.weights_gib.stored if card.weights_gib else UNKNOWN_GIB) + BESIDE_GIB for card in cards)


class PlacedModel(NamedTuple):
    """A placement, the machine and what is reserved on it, and what `machine` tells of both."""

    placement: Placement
    hardware: Hardware
    reserved_gib: float
    told: dict[str, str]


@dataclass(frozen=True)
class Placing:
    """Finds the placement of a model on a machine: on this one, or for a plan on one that it fits. See `engine_settings`."""

    card: ModelCard
    arguments: Mapping[str, Any]
    hardware: Hardware
    reserved_gib: float
    embedder_gib: float

    def here(self, shape: ModelShape) -> PlacedModel:
        """On this machine; the embedder on the CPU where the GPU has no room for both. Raises MissingError where none fits."""
        return self._on(self.hardware, shape)

    def plan(self, shape: ModelShape) -> PlacedModel:
        """The placement on this machine, else on the fewest GPUs like its own, or of 80 GB, that hold the model."""
        try:
            return self.here(shape)
        except MissingError as missing:
            gpu = self.hardware.gpus[0] if self.hardware.gpus else PLANNED_GPU
            tried = []
            for count in PLANNED_COUNTS:
                with suppress(LocalFactError):
                    tried.append(self._on(Hardware(gpus=(gpu,) * count, memory_gib=self.hardware.memory_gib), shape))
            if not tried:
                raise
            roomy = min(shape.window, COMFORTABLE_WINDOW)
            widest = max(tried, key=lambda one: one.placement.window)  # the fewest GPUs of equals
            placed = next((one for one in tried if one.placement.window >= roomy), widest)
            return placed._replace(told={**placed.told, "assumed": f"{ASSUMED} {missing}"})

    def _on(self, hardware: Hardware, shape: ModelShape) -> PlacedModel:
        whole = self.reserved_gib + self.embedder_gib
        try:
            return PlacedModel(placement_of(self.card, shape, hardware, self.arguments, whole), hardware, whole, {})
        except MissingError:
            if not (hardware.gpus and self.embedder_gib):
                raise
        placement = placement_of(self.card, shape, hardware, self.arguments, self.reserved_gib)
        return PlacedModel(placement, hardware, self.reserved_gib, {"embedder": "cpu"})


def folder_of(card: ModelCard, place: Placing, *, planning: bool) -> Path | None:
    """The folder of the weights; None for a plan without them. Raises MissingError, which also says if the model is too big."""
    try:
        return weights_folder(card)
    except MissingError as missing:
        shape = shape_of_card(card)
        if shape is None:
            raise
        if planning:
            return None
        try:
            place.here(shape)
        except MissingError as too_big:  # the user should know before downloading it
            raise MissingError(f"{missing}. But {too_big}") from None
        raise


def placement_of(
    card: ModelCard, shape: ModelShape, hardware: Hardware, arguments: Mapping[str, Any], reserved_gib: float
) -> Placement:
    """The best placement of the model on the machine. Raises MissingError, with what would fit, where it is too big for it."""
    dtype = dtype_of(arguments) or precision(card, shape, hardware)
    planner = PlacementPlanner(card, shape, hardware, arguments, dtype, reserved_gib)
    try:
        return planner.best()
    except TooBigError as error:
        raise MissingError(f"{error} {cure(planner, error.placement)}") from None


def precision(card: ModelCard, shape: ModelShape, hardware: Hardware) -> str:
    """The card's precision if it states one, else that of the weights.

    Where bfloat16 is not computed with as such, it is float16 on GPUs (before Ampere), and float32 on processors if that leaves
    half of the memory free: there, SmolLM2 took a fifth of the time in it.
    """
    dtype = card.dtype or shape.dtype
    if dtype != "bfloat16":
        return dtype
    if hardware.gpus:
        return "float16" if hardware.capability < AMPERE else dtype
    fits = shape.quantised is None and shape.weights_gib("float32", None) <= hardware.memory_gib / 2
    return "float32" if fits and not hardware.bfloat16 else dtype


def quantisation_used(shape: ModelShape, placement: Placement, hardware: Hardware) -> str | None:
    """The quantisation that the answers are computed in: that of the stored weights, or the one made while loading.

    A GPU without fp8 arithmetic stores weights in fp8 and computes in 16 bits, which gives other answers.
    """
    used = shape.quantised or placement.quantisation
    if used is None or "fp8" not in used or not hardware.gpus or hardware.capability >= ADA:
        return used
    return f"{used} (weights only)"


def vllm_arguments(placement: Placement, hardware: Hardware, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The engine's arguments: those decided here, overridden by the user's."""
    decided: dict[str, Any] = {
        "dtype": placement.dtype,
        "max_model_len": placement.window,
        "max_num_batched_tokens": placement.batch.tokens,
        "max_num_seqs": placement.batch.answers,
    }
    if placement.replicas > 1:
        decided["data_parallel_size"] = placement.replicas
    if placement.quantisation is not None:
        decided["quantization"] = placement.quantisation
    if hardware.gpus:
        decided |= {"tensor_parallel_size": placement.tensor_parallel, "gpu_memory_utilization": placement.share}
    else:
        compiled = hardware.compiler and placement.weights >= LEAST_COMPILED_GIB
        decided |= {"kv_cache_memory_bytes": int(placement.cache * GIB), "enforce_eager": not compiled}
    # With the user's word in them already.
    settled_here = {"dtype", "max_model_len", "quantization", "max_num_batched_tokens", "max_num_seqs"}
    return decided | {name: value for name, value in arguments.items() if name not in settled_here}


def describe_placement(
    shape: ModelShape, placement: Placement, hardware: Hardware, arguments: Mapping[str, Any], reserved_gib: float
) -> dict[str, Any]:
    """The hardware and the placement, in plain values. Sizes in GiB are estimates, and those of one GPU."""
    found: dict[str, Any] = {
        "device": hardware.device,
        "found": hardware.describe(),
        "dtype": placement.dtype,
        "quantisation": quantisation_used(shape, placement, hardware),
        "tensor_parallel": placement.tensor_parallel,
        "replicas": placement.replicas,
        "batch_tokens": placement.batch.tokens,
        "batch_answers": placement.batch.answers,
        "weights_gib": round(placement.weights, 2),
        "cache_gib": round(placement.cache, 2),
        "cache_tokens": placement.tokens,
        "window": placement.window,
        "model_window": shape.window,
        "reserved_gib": round(reserved_gib, 2),
    }
    if hardware.gpus:
        found["gpu_memory_utilization"] = placement.share
    if placement.quantisation == FP8_WHILE_LOADING and arguments.get("quantization") == "fp8":
        found["note"] = f"fp8 of 16-bit weights is called {FP8_WHILE_LOADING} in this version of vLLM"
    if arguments:
        found["engine_args"] = dict(arguments)
    return found
