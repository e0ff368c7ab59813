"""What the readers of data sets share: putting tokenised text back together, pairing texts for pairs that say nothing.

Beside it stand the readers: answer_sets.py, page_sets.py.
"""

import re
from collections.abc import Sequence
from itertools import takewhile

from localfact.text import words

#: As long as a passage gets, in characters.
LONGEST_PREMISE = 4_000

_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_REPAIRS = (
    (re.compile(r"``|''"), '"'),
    (re.compile(r'"\s*([^"]*?)\s*"'), r'"\1"'),
    (re.compile(r"(?<=\d) -- (?=\d)"), "–"),
    (re.compile(r" -- "), " – "),
    (re.compile(r"(?<=\w) - (?=\w)"), "-"),
    (re.compile(r"\s+([,;:!?)\]%]|\.(?!\d)|n't\b|'(?:s|re|ve|ll|d|m)\b)"), r"\1"),
    (re.compile(r"(?<=s) '(?=\s)"), "'"),
    (re.compile(r"([(\[$£€])\s+"), r"\1"),
)
_YES_OR_NO = re.compile(r"^(?:yes|no)[,;.]\s*", re.IGNORECASE)
_NO_BEGINNING = frozenset(
    {"it", "they", "he", "she", "this", "these", "those", "that", "to", "by", "in", "at", "because", "when", "through", "both"}
)
_RELATIVES = frozenset({"that", "which", "where", "who", "when", "whose"})
_VERBS = frozenset(
    words(
        "is are was were has have had does do did can could will would may might must should refers refer means became becomes "
        "uses use includes include represents represent consists contains won lost began started ended plays played died"
    )
)


def detokenised(text: str) -> str:
    """The text as it is usually printed: no space before a comma or inside brackets, quotation marks of one kind."""
    for sign, bracket in _BRACKETS.items():
        text = text.replace(sign, bracket)
    for pattern, repair in _REPAIRS:
        text = pattern.sub(repair, text)
    return " ".join(text.split())


def partners(texts: Sequence[str]) -> dict[int, int]:
    """For the place of each text the place of another one that is much like it, and the other way round.

    Only mutual pairs, so that whatever is built from two texts joins no more than two topics. Of an odd number one is left out.
    """
    vocabularies = [frozenset(words(text.casefold())) for text in texts]
    free = list(range(len(texts)))
    found: dict[int, int] = {}
    while len(free) > 1:
        one = free.pop(0)
        other = max(free, key=lambda place: (overlap(vocabularies[one], vocabularies[place]), -place))
        free.remove(other)
        found |= {one: other, other: one}
    return found


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """How many words two texts share among all that they have, from 0 to 1 (Jaccard index)."""
    return len(one & other) / len(one | other) if one or other else 0.0


def as_claim(answer: str) -> str:
    """A short answer as a claim, without the "Yes," or "No," before it; "" where it cannot stand alone.

    It can when it has five words at least, begins with no pronoun, and has an ordinary finite verb outside of relative clauses.
    """
    claim = _YES_OR_NO.sub("", answer).strip()
    found = [word.casefold() for word in words(claim)]
    main = set(takewhile(lambda word: word not in _RELATIVES, found))
    if len(found) < 5 or found[0] in _NO_BEGINNING or main.isdisjoint(_VERBS):
        return ""
    return claim[0].upper() + claim[1:]


def share_told(claim: str, passage: str) -> float:
    """How many of the claim's words of four letters or more, and numbers, stand in the passage, from 0 to 1."""
    asked = {word.casefold() for word in words(claim) if len(word) > 3 or word.isdigit()}
    return len(asked & {word.casefold() for word in words(passage)}) / len(asked) if asked else 0.0
