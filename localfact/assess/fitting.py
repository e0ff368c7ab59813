"""As many of a claim's passages as leave room for an answer in the model's window."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from localfact.errors import InputError
from localfact.llm.engine import Chat, Engine
from localfact.records import Claim, Evidence, Passage
from localfact.runtime.usage import decided_by


class Fitted(NamedTuple):
    """The prompt about one claim, the passages it shows, and how many did not fit."""

    chat: Chat
    passages: tuple[Passage, ...]
    left_out: int


async def fitted(
    engine: Engine, passages: Sequence[Passage], chat_of: Callable[[Sequence[Passage]], Chat], *, decision: str, max_tokens: int
) -> Fitted:
    """The prompt with as many of the passages, best first, as leave room for an answer and its decision.

    Args:
        chat_of: the prompt that shows these passages.
        decision: the longest that is added to a full answer, to choose a label behind it.
        max_tokens: of the answer.

    Raises:
        InputError: not even the best passage fits, or without passages not even the prompt.
    """
    window = engine.identity.window
    needed = 0
    for shown in range(len(passages), min(len(passages), 1) - 1, -1):
        chat = chat_of(passages[:shown])
        needed = await engine.count(chat, prefix=decision) + max_tokens
        if needed > window:
            decided_by(window)
        else:
            return Fitted(chat, tuple(passages[:shown]), len(passages) - shown)
    raise InputError(
        f"With its best passage alone and {max_tokens:,} tokens of answer, this claim needs {needed:,} tokens; the model's "
        f"window has {window:,}. Use a model with a longer window, or allow fewer output tokens."
    )


def own_passages(claim: Claim, evidence: Evidence) -> tuple[Passage, ...]:
    """The passages found for this claim, by rank, each text once."""
    passages: Mapping[str, Passage] = {passage.id: passage for passage in evidence.passages}
    hits = sorted(evidence.hits.get(claim.id, ()), key=lambda hit: hit.rank)
    return tuple(passages[found] for found in dict.fromkeys(hit.passage_id for hit in hits))
