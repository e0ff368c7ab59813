"""How a language model runs on a machine: on how many GPUs, in which quantisation, with a cache for how many tokens."""

from typing import NamedTuple

from localfact.records import Record


class Batch(NamedTuple):
    """The most that is computed at once: tokens, and answers."""

    tokens: int
    answers: int


#: Sizes of a batch as vLLM's `LLM` class has them, and for where the working memory of those would leave no room.
LARGE_BATCH, USUAL_BATCH, CPU_BATCH, SMALL_BATCH = Batch(16_384, 1_024), Batch(8_192, 256), Batch(4_096, 256), Batch(2_048, 128)
#: Compute capabilities: from AMPERE on a GPU computes in bfloat16 and runs weights in fp8; from ADA on, activations too.
AMPERE, ADA = (8, 0), (8, 9)
#: What vLLM 0.32 calls the quantisation of 16-bit weights to fp8 while they are loaded.
FP8_WHILE_LOADING = "fp8_per_tensor"


#: Stands for the template's hash in a plan without weights.
UNKNOWN_TEMPLATE = "unknown"


class Placement(Record):
    """One way to run a model on a machine. Sizes in GiB are those of one GPU, or of the host.

    Attributes:
        tensor_parallel: number of GPUs of one replica.
        replicas: copies of the model that share the work.
        quantisation: while loading, in vLLM's words; None for none.
        batch: the most that is computed at once by one replica.
        share: share of a device's memory for the engine, in [0, 1]. weights, cache: GiB that they take.
        tokens: how many the cache holds.
        window: tokens of prompt and answer together.
    """

    tensor_parallel: int = 1
    replicas: int = 1
    batch: Batch = SMALL_BATCH
    quantisation: str | None = None
    dtype: str
    share: float
    weights: float
    cache: float
    tokens: int
    window: int

    def fits(self, window: int) -> bool:
        """Whether the cache holds a prompt and answer of so many tokens."""
        return self.tokens >= window
