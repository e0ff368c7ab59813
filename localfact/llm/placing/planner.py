"""Finds the best placement of a language model on a machine.

An estimate made before anything is loaded; the engine measures, and may find a little less room.
"""

import math
import os
from collections.abc import Iterator, Mapping
from typing import Any

from localfact.errors import InputError, MissingError
from localfact.llm.placing.engine_arguments import positive
from localfact.llm.placing.hardware import GIB, Hardware
from localfact.llm.placing.model_shape import WIDTH, ModelShape
from localfact.llm.placing.placement import (
    AMPERE,
    CPU_BATCH,
    FP8_WHILE_LOADING,
    LARGE_BATCH,
    SMALL_BATCH,
    USUAL_BATCH,
    Batch,
    Placement,
)
from localfact.models.model_card import ModelCard

#: The share of a GPU's memory that vLLM uses by default.
GPU_SHARE = 0.92
#: The share of a host's memory that is used where a model runs on the CPU.
HOST_SHARE = 0.9
#: GiB of working memory a device besides that of a batch: CUDA's context and graphs, communication; on a CPU, the process.
WORKING_GIB = {"cuda": 2.5, "cpu": 1.5}
#: GPUs of so many GiB compute the larger batches, A100s excepted (as in vLLM, whose `LLM` class has these sizes).
LARGE_GPU_GIB = 70
#: Copies of a vocabulary's log-probabilities, in 32 bits, that are made for each answer of a batch.
LOGIT_COPIES = 3
#: Safety margin: the share of the estimated free memory that the cache is planned with.
COUNTED_ON = 0.8
#: Tokens. A smaller window has no room for a prompt with examples and evidence.
LEAST_WINDOW = 4096
#: Tokens of the window that advice in error messages aims at. A GPU of 80 GB reports 79.2 GiB.
COMFORTABLE_WINDOW = 32_768
EIGHTY_GB = 79.2
#: The largest cache on a CPU, in full windows and in GiB.
CPU_WINDOWS = 32
CPU_CACHE_GIB = 8.0
#: Arguments that multiply the number of GPUs besides tensor and pipeline parallelism; each copy holds all weights.
OTHER_PARALLEL = ("data_parallel_size", "prefill_context_parallel_size")
#: GiB; in vLLM this variable overrules every argument.
CPU_CACHE_VARIABLE = "VLLM_CPU_KVCACHE_SPACE"


class TooBigError(MissingError):
    """The model does not fit; `placement` is the best that was found."""

    def __init__(self, message: str, placement: Placement) -> None:
        super().__init__(message)
        self.placement = placement


class PlacementPlanner:
    """Finds the best placement of one model on one machine.

    Args:
        card, shape, hardware: the model and the machine.
        arguments: the user's, for vLLM.
        dtype: of the computation.
        reserved_gib: memory that other models on the same device take.

    Raises:
        InputError: an argument is out of range, or asks for more GPUs or a larger window than there are.
    """

    def __init__(
        self,
        card: ModelCard,
        shape: ModelShape,
        hardware: Hardware,
        arguments: Mapping[str, Any],
        dtype: str,
        reserved_gib: float,
    ) -> None:
        self.card, self.shape, self.hardware, self.arguments, self.dtype = card, shape, hardware, arguments, dtype
        self.reserved_gib = reserved_gib
        self.most = min(shape.window, card.window or shape.window)
        self.asked_window = positive(arguments, "max_model_len", int, None)
        self.asked_parallel = positive(arguments, "tensor_parallel_size", int, None)
        self.pipeline = positive(arguments, "pipeline_parallel_size", int, 1)
        self.asked_replicas = positive(arguments, "data_parallel_size", int, None)
        others = [positive(arguments, name, int, 1) for name in OTHER_PARALLEL]
        #: GPUs for each tensor-parallel part of the model: one a pipeline stage, in each copy.
        self.each: int = self.pipeline * math.prod(others)
        self.offloaded = positive(arguments, "cpu_offload_gb", float, 0.0) if arguments.get("cpu_offload_gb") else 0.0
        if self.asked_window is not None and self.asked_window > shape.window:
            raise InputError(f"'{card.name}' reads at most {shape.window} tokens; max_model_len={self.asked_window} is beyond.")
        self.check_count()

    def check_count(self) -> None:
        """Raises InputError when the arguments ask for more GPUs than there are."""
        count, least = len(self.hardware.gpus), (self.asked_parallel or 1) * self.each
        if count and least > count:
            names = ("tensor_parallel_size", "pipeline_parallel_size", *OTHER_PARALLEL)
            asked = [f"{name}={self.arguments[name]}" for name in names if self.arguments.get(name)]
            raise InputError(f"{', '.join(asked)} needs {least} GPUs; this machine has {count}.")

    @property
    def wanted(self) -> int:
        """The window, in tokens, that the user asked for, else the model's own."""
        return self.asked_window or self.most

    @property
    def needed(self) -> int:
        """The smallest acceptable window in tokens: what the user asked for, else LEAST_WINDOW or the model's own if less."""
        return self.asked_window or min(self.most, LEAST_WINDOW)

    def best(self) -> Placement:
        """The card's first choice that this machine allows, on fewer GPUs where that has the whole window too.

        Where it allows none: the least quantised, on as few GPUs as hold the window.

        Raises:
            TooBigError: nothing fits; the message has the numbers.
        """
        if not self.hardware.gpus:
            return self.check(self.on_host())
        count = len(self.hardware.gpus)
        stated = [placement for placement in self.of_card() if placement.fits(self.needed)]
        if stated:
            alike = [one for one in stated if one.quantisation == stated[0].quantisation and one.fits(self.wanted)]
            return min(alike, key=lambda one: one.tensor_parallel, default=stated[0])
        for quantisation in self.quantisations():
            fitting = [self.on_gpus(parallel, quantisation) for parallel in self.parallels(count)]
            fitting = [placement for placement in fitting if placement.fits(self.needed)]
            if fitting:
                return next((placement for placement in fitting if placement.fits(self.wanted)), fitting[-1])
        return self.check(self.on_gpus(max(self.parallels(count)), list(self.quantisations())[-1]))

    def of_card(self) -> Iterator[Placement]:
        """The card's choices that this machine allows, in its order."""
        for choice in self.card.hardware:
            quantisation = FP8_WHILE_LOADING if choice.quantisation else None
            here = choice.gpus <= len(self.hardware.gpus) and choice.memory_gib <= self.hardware.gpu_memory_gib
            if here and self.allows(choice.tensor_parallel, quantisation):
                yield self.on_gpus(choice.tensor_parallel, quantisation)

    def allows(self, parallel: int, quantisation: str | None) -> bool:
        """Whether the user's arguments and the number of GPUs allow this choice of the card (which assumes no pipeline)."""
        enough = self.pipeline == 1 and parallel * self.each <= len(self.hardware.gpus)
        return enough and parallel == (self.asked_parallel or parallel) and quantisation in self.quantisations()

    def quantisations(self) -> list[str | None]:
        """What may be tried, best first: what the user asked for, else as stored, then fp8 where the GPUs support it."""
        if "quantization" in self.arguments:
            asked = self.arguments["quantization"]
            return [FP8_WHILE_LOADING if asked == "fp8" and self.shape.quantised is None else asked]
        fp8 = self.hardware.capability >= AMPERE and self.shape.quantised is None and self.dtype != "float32"
        return [None, FP8_WHILE_LOADING] if fp8 else [None]

    def parallels(self, count: int) -> list[int]:
        """Numbers of GPUs, up to `count`, to split the model over: powers of two that divide its heads.

        They divide the key-value heads, or are divided by them: then GPUs keep copies of a head.
        """
        if self.asked_parallel is not None:
            return [self.asked_parallel]
        most, heads = count // self.each, self.shape.heads
        powers = [1 << power for power in range(most.bit_length())]
        kept = self.shape.kv_heads
        shared = [power for power in powers if kept % power == 0 or power % kept == 0]
        return [power for power in shared if power <= most and (heads is None or heads % power == 0)]

    def replicas(self, parallel: int) -> int:
        """How many copies of the model there are: as many as there are GPUs for, where the user does not say.

        One of a model of experts, since vLLM would divide those among the copies and have each wait for the others.
        """
        if self.asked_replicas is not None or not self.hardware.gpus or self.shape.experts:
            return self.asked_replicas or 1
        return max(len(self.hardware.gpus) // (parallel * self.each), 1)

    def batches(self) -> list[Batch]:
        """The sizes of a batch that may be tried, best first; the user's arguments are in them."""
        large = self.hardware.gpu_memory_gib >= LARGE_GPU_GIB and not any("A100" in gpu.name for gpu in self.hardware.gpus)
        best = (LARGE_BATCH if large else USUAL_BATCH) if self.hardware.gpus else CPU_BATCH
        tokens = positive(self.arguments, "max_num_batched_tokens", int, None)
        answers = positive(self.arguments, "max_num_seqs", int, None)
        sizes = [Batch(tokens or size.tokens, answers or size.answers) for size in (best, SMALL_BATCH)]
        return [size._replace(answers=min(size.answers, size.tokens)) for size in sizes]

    def working_gib(self, batch: Batch, parallel: int = 1) -> float:
        """GiB that a device works in: a batch in the widest layer, and the log-probabilities of its answers."""
        layer = batch.tokens * (2 * self.shape.hidden + 3 * self.shape.inner / parallel) * WIDTH[self.dtype]
        answers = batch.answers * self.shape.vocabulary * LOGIT_COPIES * WIDTH["float32"]
        return WORKING_GIB[self.hardware.device] + (layer + answers) / GIB

    def on_gpus(self, parallel: int, quantisation: str | None) -> Placement:
        """The placement on that many GPUs a replica; with small batches where only those leave room for the window."""
        tried = [self.on_gpus_by(batch, parallel, quantisation) for batch in self.batches()]
        return next((placement for placement in tried if placement.fits(self.needed)), tried[-1])

    def on_gpus_by(self, batch: Batch, parallel: int, quantisation: str | None) -> Placement:
        """The placement on that many GPUs a replica, with such batches."""
        memory = self.hardware.gpu_memory_gib
        asked = positive(self.arguments, "gpu_memory_utilization", float, None)
        # Rounded down to hundredths, so that other models keep all of their memory.
        share = asked or max(0.0, int((GPU_SHARE - self.reserved_gib / memory) * 100 + 1e-9) / 100)
        weights = self.shape.weights_gib(self.dtype, quantisation) / (parallel * self.pipeline) - self.offloaded
        free = memory * share - max(weights, 0.0) - self.working_gib(batch, parallel)
        token = self.token_bytes() / (min(parallel, self.shape.kv_heads) * self.pipeline)
        return self.placement(
            free * COUNTED_ON, token, batch, weights=max(weights, 0.0), share=share, parallel=parallel, quant=quantisation
        )

    def on_host(self) -> Placement:
        """The placement on the CPU, in the host's memory."""
        quantisation = self.arguments.get("quantization")
        weights = self.shape.weights_gib(self.dtype, quantisation)
        batch = self.batches()[0]
        free = self.host_share() / self.replicas(1) - weights - self.working_gib(batch)
        one = self.token_bytes() / GIB
        room = min(free, max(CPU_WINDOWS * self.wanted * one, 1 / 64), max(CPU_CACHE_GIB, self.needed * one))
        if os.environ.get(CPU_CACHE_VARIABLE, "").isdigit():
            room = min(free, float(os.environ[CPU_CACHE_VARIABLE]))
        return self.placement(
            room, self.token_bytes(), batch, weights=weights, share=HOST_SHARE, parallel=1, quant=quantisation
        )

    def placement(
        self, room: float, token: float, batch: Batch, *, weights: float, share: float, parallel: int, quant: str | None
    ) -> Placement:
        """A placement with `room` GiB for the cache, in which a token takes `token` bytes."""
        asked = positive(self.arguments, "kv_cache_memory_bytes", int, None)
        cache = asked / GIB if asked is not None else max(room, 0.0)
        tokens = (int(cache * GIB / token) if token else self.wanted) if room > 0 else 0
        window = min(self.wanted, tokens)
        if window < self.wanted and window > 1024:
            window -= window % 1024
        return Placement(
            tensor_parallel=parallel,
            replicas=self.replicas(parallel),
            batch=batch,
            quantisation=quant,
            dtype=self.dtype,
            share=share,
            weights=weights,
            cache=cache,
            tokens=tokens,
            window=window,
        )

    def token_bytes(self) -> float:
        """Bytes of one token in the cache, on all GPUs together."""
        stored = str(self.arguments.get("kv_cache_dtype", "auto"))
        width = 1 if stored.startswith(("fp8", "int8")) else WIDTH[self.dtype]
        return self.shape.kv_bytes * width / 2

    def check(self, placement: Placement) -> Placement:
        """Returns the placement. Raises TooBigError where it does not fit."""
        if placement.fits(self.needed):
            return placement
        parts = placement.tensor_parallel * self.pipeline
        shared = min(placement.tensor_parallel, self.shape.kv_heads) * self.pipeline
        cache = self.needed * self.token_bytes() / GIB / shared * parts
        need = (placement.weights + self.working_gib(placement.batch, placement.tensor_parallel)) * parts + cache
        have = (
            self.hardware.gpu_memory_gib * placement.share * parts
            if self.hardware.gpus
            else self.host_share() / self.replicas(1)
        )
        kind = f"{self.dtype}, {placement.quantisation}" if placement.quantisation else self.dtype
        raise TooBigError(
            f"'{self.card.name}' is too big for this machine ({self.hardware.describe()}): in {kind} it needs {need:.1f} GiB "
            f"({placement.weights * parts:.1f} of weights, {cache:.1f} for {self.needed} tokens, the rest to work in), "
            f"and {max(have, 0):.1f} GiB {f'on {parts} of its GPUs ' if self.hardware.gpus else ''}are for it.",
            placement,
        )

    def host_share(self) -> float:
        """GiB of the host's memory for the engine."""
        return self.hardware.memory_gib * HOST_SHARE - self.reserved_gib
