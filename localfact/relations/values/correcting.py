"""Corrects what a small relation model says of a pair by what the pair's values say: both ways, and no further than they reach.

The same slot with another value takes a claim's entailment away, and surely so makes it a contradiction; the same value there
takes a contradiction away; a value that stands nowhere in the text cannot be entailed by it.
"""

from functools import lru_cache

from localfact.records import Distribution, Pair
from localfact.relations.values.judging import NOTHING, Ruling, ValueFinding, judge_values

#: Part of a model's identity where it is corrected; increased when that changes predictions.
CORRECTION_VERSION = 1
#: From this strength on, another value contradicts, and the same entails; below, they only leave it open.
SURE = 0.8
#: Of what is neutral, the part that a sure finding moves as well.
OF_NEUTRAL = 0.5
#: Of the entailment of a claim whose value stands nowhere in the text, the part that is lost.
LOST = 0.8
#: Of its contradiction, as only a value of another slot can be what speaks against it.
CALMED = 0.6
#: A hypothesis of more words is read as a passage: which of its sentences decides is not ours to say.
MOST_WORDS = 80
CACHED_FINDINGS = 8_192


@lru_cache(maxsize=CACHED_FINDINGS)
def finding_of(pair: Pair) -> ValueFinding:
    """What the premise makes of the values of the hypothesis; nothing where that is no single claim."""
    return judge_values(pair.premise, pair.hypothesis) if len(pair.hypothesis.split()) <= MOST_WORDS else NOTHING


def correct_by_values(pair: Pair, said: Distribution) -> Distribution:
    """The distribution with the probability moved that the values of the pair speak against."""
    found = finding_of(pair)
    if found.ruling is Ruling.OTHER:
        return _moved(said, "entailment", "contradiction", found.strength)
    if found.ruling is Ruling.SAME:
        return _moved(said, "contradiction", "entailment", found.strength)
    if found.ruling is Ruling.UNSAID:
        calmed = _moved(said, "contradiction", "entailment", CALMED, sure=False)
        return _moved(calmed, "entailment", "contradiction", LOST, sure=False)
    return said


def _moved(said: Distribution, source: str, goal: str, strength: float, sure: bool | None = None) -> Distribution:
    """The distribution with that share of one side moved to the other, and some of what is neutral; to neutral if not sure."""
    sure = strength >= SURE if sure is None else sure
    lost = strength * getattr(said, source)
    drawn = strength * OF_NEUTRAL * said.neutral if sure else -lost
    gained = lost + drawn if sure else 0.0
    changed = {source: getattr(said, source) - lost, goal: getattr(said, goal) + gained, "neutral": said.neutral - drawn}
    return said.model_copy(update=changed)
