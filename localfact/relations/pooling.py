"""Pools the predictions of a cross-encoder and of word overlap for a passage.

They make different errors: a cross-encoder understands paraphrases, but tends to read a claim that the passage does not mention
as contradicted; word overlap only sees whether the claim's words are there. Which number belongs to what has to be read:
word overlap may make the cross-encoder less sure, and turns it round only where all details are there. Nor does a text
contradict what it does not speak of: of 40 answers of OpenFactCheck on topics that the share of words was not chosen on (but
which had been looked at), the true claims called contradicted fell from 15 to 8 of 111, the false ones from 11 to 10 of 39.
"""

import math
from functools import lru_cache

from localfact.models.card_parts import OpinionPool
from localfact.records import Distribution, Pair
from localfact.relations.lexical.statements import ParsedClaim, Premise, idf_table
from localfact.relations.lexical.tokens import is_detail
from localfact.vocabulary import RelationLabel

#: Part of a model's identity where it is pooled; increased when pooling changes, as that changes predictions.
POOLING_VERSION = 3
LABELS = ("entailment", "contradiction", "neutral")
#: Of the model's lead over the label that word overlap would put in its place.
MOST_TAKEN = 0.9
#: Lower probabilities are raised to this, so that neither model alone rules a relation out.
LEAST = 1e-4
#: A premise of more words is a passage. Predictions for sentence pairs, which have fewer, do not improve by pooling.
SENTENCE_WORDS = 40

#: A text that has less of a claim's words by weight, its numbers and names aside, speaks of something else.
LEAST_SHARED = 0.3

# Pairs that share a text come soon after each other.
_claim, _premise = lru_cache(1_024)(lambda text: ParsedClaim(text, idf_table())), lru_cache(1_024)(Premise)


def is_passage(premise: str) -> bool:
    """Whether the premise has more than SENTENCE_WORDS words."""
    return len(premise.split()) > SENTENCE_WORDS


def pool_distributions(pair: Pair, said: Distribution, overlap: Distribution, pool: OpinionPool) -> Distribution:
    """The pooled distribution: the two probabilities of each label, each raised to its power, multiplied and normalised.

    That is the logarithmic opinion pool (Genest and Zidek, 1986). What was read is as in `said`, the model's. Where the passage
    lacks a number, date or name of the claim, word overlap does not change the model's label: it counts at most so much that a
    tenth of its lead is left.
    """
    own = {label: pool.model * math.log(max(getattr(said, label), LEAST)) for label in LABELS}
    other = {label: pool.overlap * math.log(max(getattr(overlap, label), LEAST)) for label in LABELS}
    share = most_that_keeps(said.label, own, other)
    if share < 1:
        share = 1.0 if holds_details(*pair) else share * MOST_TAKEN
    scores = {label: own[label] + share * other[label] for label in LABELS}
    highest = max(scores.values())
    weights = {label: math.exp(score - highest) for label, score in scores.items()}
    total = math.fsum(weights.values())
    return said.model_copy(update={label: weight / total for label, weight in weights.items()})


def most_that_keeps(label: str, own: dict[str, float], other: dict[str, float]) -> float:
    """The largest weight of `other`, in [0, 1], with which `label`, the best of `own`, is still the best of the sum."""
    share = 1.0
    for rival in own:
        ahead, catches_up = own[label] - own[rival], other[rival] - other[label]
        if catches_up > ahead:
            share = min(share, max(0.0, ahead) / catches_up)
    return share


def holds_details(premise: str, hypothesis: str) -> bool:
    """Whether every number, date and name of the hypothesis stands in the premise, wherever."""
    claim, passage = _claim(hypothesis), _premise(premise)
    details = claim.names | claim.subject | claim.details(is_detail)
    return all(stem in passage.places for stem in details)


def drop_stray_contradiction(pair: Pair, said: Distribution) -> Distribution:
    """The distribution with its contradiction moved to neutral if the text does not mention what the claim is about.

    A small model takes what it cannot place ("Type: holiday") for a denial. Numbers, dates and names do not count, as these are
    what a denial changes.
    """
    if said.label is not RelationLabel.CONTRADICTION or is_passage(pair.hypothesis) or speaks_of(*pair):
        return said
    return said.model_copy(update={"contradiction": 0.0, "neutral": said.neutral + said.contradiction})


def speaks_of(premise: str, hypothesis: str) -> bool:
    """Whether the premise has LEAST_SHARED of the words of the hypothesis that are no numbers and names."""
    claim, passage = _claim(hypothesis), _premise(premise)
    apart = claim.names | claim.details(is_detail)
    weights = {stem: weight for stem, weight in claim.weights.items() if stem not in apart}
    held = sum(weight for stem, weight in weights.items() if stem in passage.places)
    return held >= LEAST_SHARED * sum(weights.values())
