"""Corrects what a small relation model says of a pair by the pair's values: the same however they are spelled, or another one.

The same values are taken over where they are sure. Another value turns a model only where its slot has one value and subject
and predicate are the claim's (`ValueFinding.sure`); where it is as strong without that, it takes away what the model gives to
entailment. A model turned by every other value was wrong more often than right on the sample, where every claim meets many
passages; numbers, and dates of what may happen again, turned true claims there and no false one, and so turn none.
"""

from functools import lru_cache

from localfact.records import Distribution, Pair
from localfact.relations.values.judging import NOTHING, Ruling, ValueFinding, judge_values

#: Part of a model's identity where it is corrected; increased when that changes predictions.
CORRECTION_VERSION = 7
#: From this strength on the same value entails; below, it only takes a contradiction away.
SURE = 0.8
#: Of what is neutral, the part that a sure finding moves as well.
OF_NEUTRAL = 0.5
#: From this strength on another value in a slot that has one contradicts, whatever the model says.
CONTRADICTS = 0.7
#: From this strength on another value in any slot takes entailment away; a lower bound cost true claims on the sample.
TAKES_AWAY = 0.9
#: A hypothesis of more words is read as a passage: which of its sentences decides is not ours to say.
MOST_WORDS = 80
CACHED_FINDINGS = 8_192


@lru_cache(maxsize=CACHED_FINDINGS)
def finding_of(pair: Pair) -> ValueFinding:
    """What the premise makes of the values of the hypothesis; nothing where that is no single claim."""
    return judge_values(pair.premise, pair.hypothesis) if len(pair.hypothesis.split()) <= MOST_WORDS else NOTHING


def correct_by_values(pair: Pair, said: Distribution) -> Distribution:
    """The distribution with what the pair's values rule out taken away, and given to what they show, where that is sure."""
    found = finding_of(pair)
    if found.ruling is Ruling.NOTHING:
        return said
    if found.ruling is Ruling.SAME:
        return _move(said, found.strength, "contradiction", "entailment" if found.strength >= SURE else "neutral")
    if found.sure and found.strength >= CONTRADICTS:
        return said.model_copy(
            update={
                "contradiction": said.contradiction + found.strength * (1 - said.contradiction),
                "entailment": said.entailment * (1 - found.strength),
                "neutral": said.neutral * (1 - found.strength),
            }
        )
    return _move(said, found.strength, "entailment", "neutral") if found.strength >= TAKES_AWAY else said


def _move(said: Distribution, strength: float, source: str, target: str) -> Distribution:
    """The distribution with that share of one relation's probability given to another, and of neutral, if that is not it."""
    shares = {"entailment": said.entailment, "contradiction": said.contradiction, "neutral": said.neutral}
    lost = strength * shares[source]
    shares[source] -= lost
    shares[target] += lost
    if target != "neutral":
        drawn = strength * OF_NEUTRAL * said.neutral
        shares["neutral"] -= drawn
        shares[target] += drawn
    return said.model_copy(update=shares)
