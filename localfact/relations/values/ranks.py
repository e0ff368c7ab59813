"""Ranks: ordinals ("third", "21st") and superlatives ("the second largest", "one of the oldest", "the most populous")."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from localfact.records import Span
from localfact.relations.values.value import Measure, Value, ValueAgreement, is_free
from localfact.relations.values.vocabulary import ONES, ORDINALS, STOP_WORDS, TENS, base, is_verb

#: Two superlatives a line that cannot both be true of one thing.
_OPPOSITES = (
    *("largest smallest", "biggest smallest", "highest lowest", "tallest shortest", "longest shortest", "oldest newest"),
    *("oldest youngest", "earliest latest", "best worst", "richest poorest", "heaviest lightest", "fastest slowest"),
    *("deepest shallowest", "hottest coldest", "warmest coldest", "widest narrowest", "strongest weakest", "wettest driest"),
    *("northernmost southernmost", "easternmost westernmost", "busiest quietest", "nearest farthest", "closest farthest"),
    *(
        "easiest hardest",
        "cheapest costliest",
        "newest earliest",
        "oldest youngest",
        "last first",
        "largest tiniest",
        "greatest least",
        "greatest smallest",
    ),
)
#: Words for the same: they are read as the second one.
_SAME = {
    "biggest": "largest",
    "greatest": "largest",
    "tallest": "highest",
    "eldest": "oldest",
    "costliest": "most expensive",
    "furthest": "farthest",
}
_NO_SUPERLATIVES = (
    "west|east|forest|interest|guest|request|test|contest|protest|harvest|honest|modest|invest|arrest|conquest|quest|priest"
    "|chest|rest|nest|vest|crest|pest|southwest|northwest|southeast|northeast|manifest|suggest|digest|ernest|budapest|everest|est"
)
_TENS_ORDINALS = "|".join(ten[:-1] + "ieth" for ten in TENS)
_ORDINAL = (
    rf"(?:(?P<digits>\d{{1,3}})(?:st|nd|rd|th)|(?:(?P<ten>{'|'.join(TENS)})-)?(?P<word>{'|'.join(ORDINALS)})|(?P<tenth>{_TENS_ORDINALS})"
    r"|(?P<last>last|final))"
)
_SUPERLATIVE = (
    rf"(?P<superlative>(?!(?:{_NO_SUPERLATIVES})\b)[a-z]{{2,}}(?:est|ernmost)"
    rf"|(?:most|least)\s+(?!of\b|people\b|are\b)[a-z]{{4,}})"
)
_RANK = re.compile(
    rf"\b(?P<several>one of\s+(?:the|its|their|his|her)\s+|among\s+the\s+)?"
    rf"(?:{_ORDINAL}(?:[\s-]+{_SUPERLATIVE})?|(?<=\bthe\s){_SUPERLATIVE.replace('superlative', 'alone')}"
    rf"|(?<=\bits\s){_SUPERLATIVE.replace('superlative', 'its')}|(?<=[’']s\s){_SUPERLATIVE.replace('superlative', 'owned')})\b",
    re.IGNORECASE,
)
_HINT = re.compile(rf"\d(?:st|nd|rd|th)\b|est\b|most|least|last|final|ieth|ernmost|{'|'.join(ORDINALS)}", re.IGNORECASE)
_COUNTED_WORDS = 3
_WORDS = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|[.,;:()]")
#: Of the "second" that is a time, and the "first" of a day or a person's own name.
_NO_RANK_BEFORE = re.compile(r"(?:\bper|\ba|\beach|\d)\s+$", re.IGNORECASE)


@dataclass(frozen=True)
class Rank:
    """A place in an order.

    Attributes:
        place: from 1; -1 for the last.
        order: the superlative, in lower case; "" for a bare ordinal.
        ranked: the things that are ranked, as compared words.
        several: one of those at the place.
    """

    place: int
    order: str
    ranked: frozenset[str]
    several: bool = False

    def agreement(self, said: Measure) -> ValueAgreement | None:
        """See `Measure`."""
        if not isinstance(said, Rank) or (self.ranked and said.ranked and not self.ranked & said.ranked):
            return None
        if bool(self.order) != bool(said.order):
            return None
        if self.order != said.order:
            return ValueAgreement.OTHER if self.place == said.place and are_opposite(self.order, said.order) else None
        if self.several or said.several:
            return ValueAgreement.SAME if self.several else ValueAgreement.OPEN
        return ValueAgreement.SAME if self.place == said.place else ValueAgreement.OTHER


def are_opposite(one: str, other: str) -> bool:
    """Whether two superlatives cannot both be true of one thing."""
    most = {tuple(sorted((one, other)))} & {tuple(sorted(pair.split())) for pair in _OPPOSITES}
    return bool(most) or (one.partition(" ")[2] == other.partition(" ")[2] != "" and one != other)


def read_ranks(text: str, taken: Collection[Span]) -> Iterator[Value]:
    """The ranks in a sentence that stand in none of the spans `taken`."""
    if not _HINT.search(text):
        return
    for found in _RANK.finditer(text):
        several = found["several"] or ""
        span = Span(start=found.start(), end=found.end())
        if not is_free(span, taken) or (not several and _NO_RANK_BEFORE.search(text[: found.start()])):
            continue
        order = next((found[name] for name in ("superlative", "alone", "its", "owned") if found[name]), "").lower()
        ranked = _read_ranked_nouns(text, found.end())
        if order and not ranked and not text.startswith((" of", " in"), found.end()):
            continue  # "at its deepest"
        yield Value(span, Rank(_place(found), _SAME.get(order, order), ranked, bool(several)), words=ranked)


def _place(found: re.Match[str]) -> int:
    if found["digits"]:
        return int(found["digits"])
    if found["last"]:
        return -1
    if found["tenth"]:
        return 10 * ([ten[:-1] + "ieth" for ten in TENS].index(found["tenth"].lower()) + 2)
    if found["word"]:
        tens = 10 * (TENS.index(found["ten"].lower()) + 2) if found["ten"] else 0
        return tens + ORDINALS.index(found["word"].lower()) + 1
    return 1


def _read_ranked_nouns(text: str, end: int) -> frozenset[str]:
    found: list[str] = []
    for match in _WORDS.finditer(text, end):
        word = match.group().lower()
        if len(found) == _COUNTED_WORDS or not word[0].isalpha() or word in STOP_WORDS or (is_verb(word) and found):
            break
        if word in ONES or word == "place":
            break
        found.append(base(word))
    return frozenset(found)
