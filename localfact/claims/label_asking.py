"""Asks for the label of one claim by the probabilities of all six (FastFact, section 4.1), as the rest of an answer."""

import math

from localfact.errors import PromptTooLongError, RequestError, UnlikelyLabelsError
from localfact.llm.engine import Chat, Choice, Engine
from localfact.records import PreVerification
from localfact.vocabulary import DEFINITE_LABELS, PreVerificationLabel

#: The stage that these calls are counted under.
PREVERIFY = "preverify"
#: Label as the prompt asks for it -> label.
WRITTEN = {label.value.upper(): label for label in PreVerificationLabel}
#: The labels in the order in which they are asked for: of equals the first is taken, so that a tie never settles a claim.
ASKED_LABELS = tuple(sorted(WRITTEN, key=lambda written: WRITTEN[written] in DEFINITE_LABELS))
#: Why one claim may get no label, while the others get theirs.
NO_LABEL = (PromptTooLongError, RequestError, UnlikelyLabelsError)


async def ask_label(engine: Engine, chat: Chat, prefix: str, *, with_distribution: bool) -> PreVerification | None:
    """The most probable label and its confidence C: the product over all its tokens (FastFact, equation 1).

    Args:
        prefix: the answer up to the label.
        with_distribution: whether the probabilities of all six labels are kept beside it.

    Returns:
        None where the prompt does not fit, the engine refuses it, or all six labels are improbable there.
    """
    try:
        choice = await engine.choose(chat, ASKED_LABELS, prefix=prefix, whole=True, stage=PREVERIFY)
    except NO_LABEL:
        return None
    confidence = math.exp(choice.log_probs[choice.best] if choice.whole is None else choice.whole)
    opinion = PreVerification(label=WRITTEN[choice.best], confidence=min(1.0, confidence))
    return add_distribution(opinion, choice) if with_distribution else opinion


def add_distribution(opinion: PreVerification, choice: Choice) -> PreVerification:
    """The opinion with the probabilities of all six labels beside it."""
    distribution = {WRITTEN[label]: probability for label, probability in choice.distribution.items()}
    return opinion.model_copy(update={"distribution": distribution, "mass": choice.mass})
