"""Pools the predictions of a cross-encoder and of word overlap for a passage.

They make different errors: a cross-encoder understands paraphrases, but tends to read a claim that the passage does not mention
as contradicted; word overlap only sees whether the claim's words are there.
"""

import math

from localfact.models.cards import OpinionPool
from localfact.records import Distribution

#: Lower probabilities are raised to this, so that neither model alone rules a relation out.
LEAST = 1e-4
#: A premise of more words is a passage. Predictions for sentence pairs, which have fewer, do not improve by pooling.
SENTENCE_WORDS = 40


def is_passage(premise: str) -> bool:
    """Whether the premise has more than SENTENCE_WORDS words."""
    return len(premise.split()) > SENTENCE_WORDS


def pooled(said: Distribution, overlap: Distribution, pool: OpinionPool) -> Distribution:
    """The pooled distribution: the two probabilities of each label, each raised to its power, multiplied and normalised.

    That is the logarithmic opinion pool (Genest and Zidek, 1986). What was read is as in `said`, the model's.
    """
    scores = {
        label: pool.model * math.log(max(getattr(said, label), LEAST))
        + pool.overlap * math.log(max(getattr(overlap, label), LEAST))
        for label in ("entailment", "contradiction", "neutral")
    }
    highest = max(scores.values())
    weights = {label: math.exp(score - highest) for label, score in scores.items()}
    total = math.fsum(weights.values())
    return said.model_copy(update={label: weight / total for label, weight in weights.items()})
