"""How probable each label is as a language model's answer: one call, and no token is generated."""

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
        text: one message of the user.
        labels: the closed set.
        prefix: the beginning of an answer, which the labels follow.
        options: name the model, or a transcript.

    Returns:
        `distribution` (normalised over the labels), `log_probs` (natural, of the full vocabulary), `mass` (the labels'
        probability together), `usage`, `model`.

    Raises:
        InputError: no labels, an empty one, one twice; a prompt longer than the window; and as `open_engine`.
    """
    options = options.model_copy(update={"embedder": NO_EMBEDDER, "min_mass": 0.0})  # any answer is of interest

    async def ask() -> dict[str, Any]:
        async with AsyncExitStack() as opened:
            with interruptible():
                engine = open_engine(options, opened)
            choice = await engine.choose((Message("user", text),), labels, prefix=prefix, stage="choose")
            return {
                "distribution": choice.distribution,
                "log_probs": dict(choice.log_probs),
                "mass": choice.mass,
                "usage": choice.usage.model_dump(),
                "model": engine.identity.model_dump(mode="json"),
            }

    return complete(ask())
