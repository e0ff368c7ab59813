"""What would fit where a model does not: another window, nothing beside it, more GPUs, another card of its size."""

from collections.abc import Iterator
from contextlib import suppress

from localfact.errors import LocalFactError
from localfact.llm.placing.hardware import GIB
from localfact.llm.placing.model_shape import shape_of_card
from localfact.llm.placing.placement import AMPERE, FP8_WHILE_LOADING, SMALL_BATCH, Placement
from localfact.llm.placing.planner import COMFORTABLE_WINDOW, COUNTED_ON, EIGHTY_GB, GPU_SHARE, PlacementPlanner
from localfact.models.cards import list_cards

#: Windows are advised in steps of so many tokens, from the smallest with which anything can be asked.
STEP = 1_024
SMALLEST = 2_048
#: Numbers of GPUs that are advised.
COUNTS = (1, 2, 4, 8, 16)


def cure(planner: PlacementPlanner, refused: Placement) -> str:
    """A sentence about what would fit."""
    ways = list(ways_of(planner, refused))
    return f"It would fit {'; '.join(ways)}." if ways else "Name a smaller model."


def ways_of(planner: PlacementPlanner, refused: Placement) -> Iterator[str]:
    """What would help, each in words that follow "it would fit"."""
    window = refused.tokens - refused.tokens % STEP
    if SMALLEST <= window < planner.needed:
        yield f"with --engine-arg max_model_len={window}"
    if planner.reserved_gib and (free := fits(planner, reserved=0.0)):
        yield f"with --embedder none and nothing else beside it (a window of {free:,})"
    yield from on_more_gpus(planner)
    if (other := sibling(planner)) is not None:
        yield f"as {other}, with weights of fewer bits"


def fits(planner: PlacementPlanner, *, reserved: float) -> int | None:
    """The window with so much left to other models; None where it does not fit."""
    with suppress(LocalFactError):
        freed = PlacementPlanner(planner.card, planner.shape, planner.hardware, planner.arguments, planner.dtype, reserved)
        return freed.best().window
    return None


def on_more_gpus(planner: PlacementPlanner) -> Iterator[str]:
    """Sentences with the number of GPUs that hold the model with a comfortable window: as stored, and in fp8."""
    hardware, shape = planner.hardware, planner.shape
    memory = hardware.gpu_memory_gib or EIGHTY_GB
    window = max(planner.needed, min(planner.most, COMFORTABLE_WINDOW))
    kind = "such GPU(s)" if hardware.gpus else "GPU(s) of 80 GB"
    for quantisation, words in ((None, "as it is stored"), (FP8_WHILE_LOADING, "with --engine-arg quantization=fp8")):
        if quantisation and (shape.quantised or (hardware.gpus and hardware.capability < AMPERE)):
            continue
        weights = shape.weights_gib(planner.dtype, quantisation)
        for count in COUNTS:
            token = planner.token_bytes() / min(count, shape.kv_heads)
            room = memory * GPU_SHARE - planner.reserved_gib - weights / count - planner.working_gib(SMALL_BATCH, count)
            if room * COUNTED_ON * GIB >= window * token and room > 0:
                yield f"on {count} {kind} {words}"
                break


def sibling(planner: PlacementPlanner) -> str | None:
    """The card of the same family and size that fits this machine, the largest with room for long prompts, if any."""
    card, found = planner.card, []
    for other in list_cards():
        shape = shape_of_card(other)
        alike = other.parameters == card.parameters and other.name.split("-")[0] == card.name.split("-")[0]
        if shape is None or not alike or shape.weights.stored >= planner.shape.weights.stored:
            continue
        arguments = {name: value for name, value in planner.arguments.items() if name != "quantization"}
        with suppress(LocalFactError):
            beside = PlacementPlanner(other, shape, planner.hardware, arguments, other.precision, planner.reserved_gib)
            roomy = beside.best().window >= COMFORTABLE_WINDOW
            found.append((roomy, shape.weights.stored, other.name))
    return max(found)[2] if found else None
