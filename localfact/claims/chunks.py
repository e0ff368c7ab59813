"""Cuts a response into chunks of whole sentences, splits chunks that are too long, and locates claims in them.

Nothing is left out: the chunks of a response hold every sentence, each in one chunk (FastFact, section 4.1, chunk window).
"""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from localfact.errors import InputError
from localfact.records import Span
from localfact.text import sentences, words

#: How many sentences a chunk has; "max" for the whole response.
Stride = int | Literal["max"]
#: The context shown around a chunk, to resolve pronouns: sentences before and after, and the most characters of each side.
AROUND = (3, 1)
CONTEXT_CHARACTERS = 1_000


@dataclass(frozen=True)
class Chunk:
    """Sentences [first, last), at least one, of a response.

    Attributes:
        response: the whole text.
        sentences: all its sentences; where one of them had to be split, its pieces take its place.
        alone: whether it is shown without context.
        around: how many sentences before and after it are its context.
    """

    response: str
    sentences: tuple[Span, ...]
    first: int
    last: int
    alone: bool = False
    around: tuple[int, int] = AROUND

    @property
    def spans(self) -> tuple[Span, ...]:
        """The chunk's own sentences."""
        return self.sentences[self.first : self.last]

    @property
    def text(self) -> str:
        """The chunk's text."""
        return self.response[self.spans[0].start : self.spans[-1].end]

    @property
    def before(self) -> str:
        """The sentences before the chunk; of long ones the end, from the beginning of a word. "" if `alone`."""
        context = self._stretch(self.sentences[max(0, self.first - self.around[0]) : self.first])
        if len(context) <= CONTEXT_CHARACTERS:
            return context
        # No claims are taken from the context, so it may be cut, unlike the chunk.
        end = context[-CONTEXT_CHARACTERS:]
        return end.partition(" ")[2] or end

    @property
    def after(self) -> str:
        """The sentences after the chunk; of long ones the beginning, to the end of a word. "" if `alone`."""
        context = self._stretch(self.sentences[self.last : self.last + self.around[1]])
        if len(context) <= CONTEXT_CHARACTERS:
            return context
        beginning = context[:CONTEXT_CHARACTERS]
        return beginning.rpartition(" ")[0] or beginning

    def _stretch(self, spans: tuple[Span, ...]) -> str:
        return self.response[spans[0].start : spans[-1].end] if spans and not self.alone else ""


def check_stride(stride: Stride) -> None:
    """Raises an InputError where the stride is neither "max" nor a whole number from 1."""
    if stride != "max" and (not isinstance(stride, int) or stride < 1):
        raise InputError(f"A chunk cannot have {stride!r} sentences: give a whole number from 1, or max.")


def chunks_of(response: str, stride: Stride, around: tuple[int, int] = AROUND) -> list[Chunk]:
    """Cuts a response into chunks of `stride` sentences, the last one perhaps shorter; none for white space alone.

    `around`: how many sentences before and after a chunk are its context.

    Raises:
        InputError: the stride is invalid.
    """
    check_stride(stride)
    spans = tuple(sentences(response))
    step = len(spans) if stride == "max" else stride
    begins = range(0, len(spans), step or 1)
    return [Chunk(response, spans, first, min(first + step, len(spans)), around=around) for first in begins]


def halves(chunk: Chunk) -> tuple[Chunk, Chunk] | None:
    """Splits a chunk at the boundary nearest its middle: between sentences or, of a single one, between words.

    Text without white space (Chinese, a long address) is split between two characters; None for a single character.
    """
    if len(chunk.spans) == 1:
        return _pieces(chunk)
    middle = (chunk.spans[0].start + chunk.spans[-1].end) / 2
    inner = range(chunk.first + 1, chunk.last)
    border = min(inner, key=lambda index: abs(chunk.sentences[index].start - middle))
    left = Chunk(chunk.response, chunk.sentences, chunk.first, border, around=chunk.around)
    return left, Chunk(chunk.response, chunk.sentences, border, chunk.last, around=chunk.around)


def _pieces(chunk: Chunk) -> tuple[Chunk, Chunk] | None:
    """Splits a single sentence; its pieces are treated as sentences from then on."""
    (span,) = chunk.spans
    text = chunk.text
    if len(text) < 2:
        return None
    gaps = [index for index, character in enumerate(text) if character.isspace()]
    border = min(gaps, key=lambda index: abs(index - len(text) / 2), default=len(text) // 2)
    left = Span(start=span.start, end=span.start + len(text[:border].rstrip()))
    right = Span(start=span.end - len(text[border:].lstrip()), end=span.end)
    pieces = (*chunk.sentences[: chunk.first], left, right, *chunk.sentences[chunk.last :])
    first = chunk.first
    left_chunk = Chunk(chunk.response, pieces, first, first + 1, around=chunk.around)
    return left_chunk, Chunk(chunk.response, pieces, first + 1, first + 2, around=chunk.around)


class ClaimLocator:
    """Finds where in a chunk a claim comes from."""

    def __init__(self, chunk: Chunk) -> None:
        self._chunk = chunk
        self._words = [_content(chunk.response[span.start : span.end]) for span in chunk.spans]
        found_in = Counter(word for sentence in self._words for word in sentence)
        # A word that every sentence has ("the", the topic's name) hardly helps to find the one that a claim comes from.
        self._weights = {word: math.log1p(len(self._words) / count) for word, count in found_in.items()}

    def locate(self, claim: str) -> tuple[Span, ...]:
        """Returns the place of the claim's wording in the chunk, else the sentence that shares most of its words.

        Words weigh more the fewer sentences of the chunk have them; of equal sentences it is the first. () when no sentence has
        any of the words.
        """
        start = self._chunk.spans[0].start
        wanted = claim.rstrip(" .")
        found = self._chunk.text.find(wanted) if wanted else -1
        if found >= 0:
            return (Span(start=start + found, end=start + found + len(wanted)),)
        claimed = _content(claim)
        shares = [math.fsum(self._weights[word] for word in sorted(claimed & sentence)) for sentence in self._words]
        best = max(range(len(shares)), key=lambda index: shares[index])
        return (self._chunk.spans[best],) if shares[best] > 0 else ()


def _content(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in words(text))
