"""What fits in the model's window: the passages shown with a claim, and an answer behind which a label is chosen."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from localfact.assess.claim_result import STAGE
from localfact.errors import InputError, PromptTooLongError
from localfact.llm.engine import Chat, Choice, Engine
from localfact.records import Claim, Evidence, Passage
from localfact.runtime.usage import note_window


class Fitted(NamedTuple):
    """The prompt about one claim, the passages it shows, and how many did not fit."""

    chat: Chat
    passages: tuple[Passage, ...]
    left_out: int


async def fit_passages(
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
            note_window(window)
        else:
            return Fitted(chat, tuple(passages[:shown]), len(passages) - shown)
    raise InputError(
        f"With its best passage alone and {max_tokens:,} tokens of answer, this claim needs {needed:,} tokens; the model's "
        f"window has {window:,}. Use a model with a longer window, or allow fewer output tokens."
    )


async def choose_after_answer(
    engine: Engine,
    chat: Chat,
    labels: Collection[str],
    *,
    thoughts: str,
    answer: str,
    prefix_of: Callable[[str], str],
) -> Choice:
    """The probabilities of the labels behind an answer that named none.

    As a prompt, a text may have more tokens than when it was generated. What does not fit is cut from its beginning, as its
    conclusion stands at the end: first the thoughts and half of the answer, then half of what is left, until it fits.

    Args:
        thoughts: what the model wrote before the answer; "" for nothing.
        prefix_of: the answer, or its end, up to the place of the label.

    Raises:
        PromptTooLongError: it does not fit even without the answer.
    """
    while True:
        try:
            return await engine.choose(chat, tuple(labels), prefix=thoughts + prefix_of(answer), stage=STAGE)
        except PromptTooLongError:
            if not answer:
                raise
            thoughts, answer = "", answer[len(answer) // 2 + 1 :].lstrip()


def own_passages(claim: Claim, evidence: Evidence) -> tuple[Passage, ...]:
    """The passages found for this claim, by rank, each text once."""
    passages: Mapping[str, Passage] = {passage.id: passage for passage in evidence.passages}
    hits = sorted(evidence.hits.get(claim.id, ()), key=lambda hit: hit.rank)
    return tuple(passages[found] for found in dict.fromkeys(hit.passage_id for hit in hits))
