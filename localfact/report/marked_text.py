"""What is marked in texts: the places of claims in a response, the sentence of a passage that decided, what differs in it."""

import re
from collections.abc import Sequence
from itertools import pairwise, product
from typing import NamedTuple

from localfact.records import Claim, CountedPassage, Passage, Span
from localfact.text import closest_sentences
from localfact.vocabulary import RelationLabel

#: A sentence longer than this is cut around what differs; characters.
QUOTED = 400
_WORD = re.compile(r"\d+(?:[.,]\d+)+|\w+(?:[-']\w{3,})*")


class Piece(NamedTuple):
    """A part of a text. `claims`: which cover it, ascending; `ends`: which of them end a place with it. Both are indices."""

    text: str
    claims: tuple[int, ...]
    ends: tuple[int, ...]


class Quote(NamedTuple):
    """A passage's sentence as pieces, each with whether it is what differs; claimed: what it differs from in the claim."""

    pieces: tuple[tuple[str, bool], ...]
    claimed: Span | None


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


def quote(claim: Claim, counted: CountedPassage, passage: Passage, *, search: bool = True) -> Quote:
    """The sentence of a passage that a verdict hangs on, with what differs from the claim, where that is plain.

    Args:
        search: whether to look for the closest sentence where none was recorded; else what was read stands for it.
    """
    text = passage.text
    found = counted.sentence or (decisive_sentence(passage, claim, counted) if search else counted.window)
    start, end = (found.start, min(found.end, len(text))) if found is not None else (0, len(text))
    differs, claimed = counted.value, counted.claimed
    if differs is None and counted.relation is RelationLabel.CONTRADICTION:
        differs, claimed = _different_words(text[start:end], claim.text)
        differs = Span(start=differs.start + start, end=differs.end + start) if differs is not None else None
    if differs is None or not start <= differs.start < differs.end <= end:
        return Quote(((_cut_end(text[start:end], QUOTED), False),), None)
    before, after = text[start : differs.start], text[differs.end : end]
    parts = ((_cut_start(before, QUOTED // 2), False), (text[differs.start : differs.end], True))
    return Quote(tuple(part for part in (*parts, (_cut_end(after, QUOTED // 2), False)) if part[0]), claimed)


def _different_words(sentence: str, claim: str) -> tuple[Span | None, Span | None]:
    """The first names, or numbers, in which two sentences differ between the same words: "Third" and "Fourth" before "Crusade".

    They stand before the same word, or after the same two, of which one has more than three letters. A guess for the eye: no
    verdict hangs on it.
    """
    said, claimed = _tokens(sentence), _tokens(claim)
    words, others = [word for word, *_ in claimed], [word for word, *_ in said]
    for (other, (word, kind, place)), (own, (instead, same, where)) in product(enumerate(said), enumerate(claimed)):
        if not kind or kind != same or word in words or instead in others:
            continue
        around = (others[other + 1 : other + 2], words[own + 1 : own + 2]), (_before(others, other), _before(words, own))
        if any(one == two and any(len(word) > 3 for word in one) for one, two in around):
            return place, where
    return None, None


def _tokens(text: str) -> list[tuple[str, str, Span]]:
    """The words of a text in lower case, each with its kind (number, name or "") and place."""
    return [
        (
            found[0].casefold().replace(",", ""),
            "number" if found[0][0].isdigit() else "name" if found[0][0].isupper() else "",
            Span(start=found.start(), end=found.end()),
        )
        for found in _WORD.finditer(text)
    ]


def _before(words: Sequence[str], place: int) -> Sequence[str]:
    return words[max(0, place - 2) : place]


def _cut_end(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most].rstrip()} …"


def _cut_start(text: str, most: int) -> str:
    return text if len(text) <= most else f"… {text[-most:].lstrip()}"
