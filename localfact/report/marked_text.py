"""What is marked in texts: the places of claims in a response, and the sentence of a passage that decided."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from localfact.records import Claim, CountedPassage, Passage, Span
from localfact.text import closest_sentences


class Piece(NamedTuple):
    """A part of a text. `claims`: which cover it, ascending; `ends`: which of them end a place with it. Both are indices."""

    text: str
    claims: tuple[int, ...]
    ends: tuple[int, ...]


def pieces(text: str, spans: Sequence[Sequence[Span]]) -> list[Piece]:
    """The text in pieces, which joined are the text again.

    Args:
        spans: of each claim, all its places; one that is empty or reaches beyond the text is no place.
    """
    places = [
        (index, span.start, span.end)
        for index, own in enumerate(spans)
        for span in dict.fromkeys(own)
        if span.start < span.end <= len(text)
    ]
    cuts = sorted({0, len(text), *(cut for _, start, end in places for cut in (start, end))})
    found = []
    for start, end in pairwise(cuts):
        covering = sorted({index for index, first, last in places if first <= start and end <= last})
        ending = sorted({index for index, _, last in places if last == end})
        found.append(Piece(text[start:end], tuple(covering), tuple(ending)))
    return found


def decisive_sentence(passage: Passage, claim: Claim, counted: CountedPassage) -> Span | None:
    """The sentence of a passage on which its relation to the claim hangs, as far as that was recorded.

    Else the one that shares most words with the claim; None where none shares any.
    """
    return counted.sentence or next(iter(closest_sentences(passage.text, claim.text)), None)
