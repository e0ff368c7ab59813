"""The probabilities of labels as a language model's next words: one call, nothing decoded."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

from localfact.llm.engine import Message
from localfact.methods.engine import open_engine
from localfact.methods.options import Options
from localfact.models.embedder import NO_EMBEDDER
from localfact.runtime.interrupts import interruptible
from localfact.runtime.tasks import complete


def choose(text: str, labels: Sequence[str], *, options: Options, prefix: str = "") -> dict[str, Any]:
    """Asks a language model how probable each label is as its answer; decodes nothing.

    Args:
        text: one message of the user. labels: the closed set. prefix: the beginning of an answer, which the labels follow.
        options: name the model, or a transcript.

    Returns:
        `distribution` (normalised over the labels), `log_probs` (natural, of the full vocabulary), `mass` (the labels'
        probability together), `usage`, `model`.

    Raises:
        InputError: no labels, an empty one, one twice; a prompt longer than the window; and as `open_engine`.
    """
    return complete(chosen(text, labels, options.model_copy(update={"embedder": NO_EMBEDDER}), prefix))


async def chosen(text: str, labels: Sequence[str], options: Options, prefix: str) -> dict[str, Any]:
    """As `choose`, as a coroutine."""
    async with AsyncExitStack() as opened:
        with interruptible():
            engine = open_engine(options.model_copy(update={"min_mass": 0.0}), opened)  # any answer is of interest
        choice = await engine.choose((Message("user", text),), labels, prefix=prefix, stage="choose")
        return {
            "distribution": choice.distribution,
            "log_probs": dict(choice.log_probs),
            "mass": choice.mass,
            "usage": choice.usage.model_dump(),
            "model": engine.identity.model_dump(mode="json"),
        }
