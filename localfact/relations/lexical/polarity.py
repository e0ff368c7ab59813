"""Whether a text denies what it shares with a claim: by negations right before it, or by a sentence that calls it untrue."""

from collections.abc import Collection, Sequence
from itertools import takewhile

from localfact.relations.assertions import calls_untrue
from localfact.relations.lexical.statements import CONTENT_IDF, ParsedClaim, Premise, Window
from localfact.relations.lexical.tokens import REACH, LexicalToken, negations

#: Where a negation ends: "not a lake but a reservoir".
_TURN = "but"


def denies(claim: ParsedClaim, premise: Premise, window: Window, shared: Collection[str]) -> bool:
    """Whether one of the two denies what both speak of, and the other does not.

    A negation in the premise denies those words of the claim right behind it that the window does not say elsewhere. A
    sentence that calls something a myth, false or denied denies what it shares with the claim, unless the claim says that,
    too. Where the claim is negated, whatever of this stands in the window agrees with it.

    Args:
        window: the sentences of the premise that are compared. shared: the claim's stems that stand there.
    """
    sentences = [premise.sentences[index] for index in window]
    if claim.negated:
        return not (any(map(negations, sentences)) or any(calls_untrue(premise.written[index]) for index in window))
    told = frozenset(word for word in shared if claim.weights[word] >= CONTENT_IDF)
    parted = [_part_denied(sentence) for sentence in sentences]
    denied = frozenset(word for part, _ in parted for word in part) & told
    if denied.difference(*(rest for _, rest in parted)):
        return True
    if calls_untrue(claim.text):
        return False
    return any(calls_untrue(premise.written[index]) for index in window)


def _part_denied(sentence: Sequence[LexicalToken]) -> tuple[frozenset[str], frozenset[str]]:
    """The stems that stand right behind a negation of the sentence, and those that stand elsewhere in it."""
    places = frozenset[int]()
    for negation in negations(sentence):
        reached = range(negation + 1, min(negation + 1 + REACH, len(sentence)))
        places |= frozenset(takewhile(lambda place: sentence[place].stem != _TURN, reached))
    stems = [token.stem for token in sentence]
    return frozenset(stems[place] for place in places), frozenset(one for place, one in enumerate(stems) if place not in places)
