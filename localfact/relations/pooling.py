"""What a small network says of a passage, weighed against how much of the claim is there: pooled with word overlap.

The two err apart. A cross-encoder knows that other words may say the same, and takes a claim that a passage is silent about for
a contradiction; word overlap sees what is there and no more.
"""

import math

from localfact.models.cards import OpinionPool
from localfact.records import Distribution

#: A probability below this counts as this: one opinion alone rules nothing out.
LEAST = 1e-4
#: A premise of more words is a passage. Sentence pairs have fewer, and gain nothing from word overlap.
SENTENCE_WORDS = 40


def is_passage(premise: str) -> bool:
    """Whether it has more words than the premise of a sentence pair."""
    return len(premise.split()) > SENTENCE_WORDS


def pooled(said: Distribution, overlap: Distribution, pool: OpinionPool) -> Distribution:
    """What a model and word overlap say together: their probabilities multiplied, each to its power.

    That is the logarithmic opinion pool (Genest and Zidek 1986). `windows` is the model's.
    """
    scores = {
        label: pool.model * math.log(max(getattr(said, label), LEAST))
        + pool.overlap * math.log(max(getattr(overlap, label), LEAST))
        for label in ("entailment", "contradiction", "neutral")
    }
    highest = max(scores.values())
    weights = {label: math.exp(score - highest) for label, score in scores.items()}
    total = math.fsum(weights.values())
    return Distribution(windows=said.windows, **{label: weight / total for label, weight in weights.items()})
