"""Selects the windows of a long source to read for a sentence: those that share most of its rare words, names and numbers.

Of windows that share as much, that one counts for more which has one sentence with what is claimed and a value of its kind: the
value itself where the claim is true, another one where it is false. Lengths are counted in words, whatever model reads them.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from localfact.records import Span
from localfact.relations.lexical.statements import ParsedClaim
from localfact.relations.lexical.tokens import LexicalToken, is_detail, tokens
from localfact.relations.lexical.tokens import stem as stem_of
from localfact.text import sentences

#: How much more a claim's numbers count than its other words of the same rarity.
NUMBER_FACTOR = 2.0
#: How much the best sentence of a window counts beside all that the window shares with the claim.
SENTENCE_SHARE = 0.25
#: In that sentence: how much the claim's subject counts, which often stands there as a pronoun, and how much more a sentence
#: with a value of each kind that the claim has.
SUBJECT_FACTOR = 0.5
KINDS_FACTOR = 0.5
#: Words, besides numbers, that are values.
VALUE_STEMS = frozenset(
    map(
        stem_of,
        (
            *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "half", "quarter"),
            *("dozen", "hundred", "thousand", "million", "billion", "once", "twice", "single", "only"),
        ),
    )
)
#: A word of a lower idf ("the", "was") is in most sentences and is not counted.
COUNTED_IDF = 2.0

_WORD = re.compile(r"\S+")

#: (begin, end) -> how relevant the sentences [begin, end) are to a claim: 0 or more.
RunScore = Callable[[int, int], float]


class Run(NamedTuple):
    """Consecutive sentences [begin, end) of a source."""

    begin: int
    end: int


class LongSource:
    """A source cut into sentences of known length, each no longer than a window.

    Attributes:
        text: of the source.
        size: the most words of a window, from 1.
        spans: of its sentences, long ones in parts; all of it, where it is short enough.
        counts: the words of each.
    """

    def __init__(self, text: str, size: int) -> None:
        self.text = text
        self.size = size
        self.spans = [Span(start=0, end=len(text))] if len(text.split()) <= size else sentence_spans(text, size)
        self.counts = [len(text[span.start : span.end].split()) for span in self.spans]

    def windows(self, claim: ParsedClaim, most: int) -> list[Span]:
        """The windows to read for the claim, at most so many, in the order of the text."""
        runs = best_runs(self.counts, self.run_score(claim), most, self.size)
        return [Span(start=self.spans[run.begin].start, end=self.spans[run.end - 1].end) for run in runs]

    def run_score(self, claim: ParsedClaim) -> RunScore:
        """The score of a run of sentences: the summed weight of the claim's stems that it holds, and a share of its best's."""
        weighed = [(weight, self.places.get(stem, ())) for stem, weight in claim_weights(claim).items()]
        found = [(weight, places) for weight, places in weighed if places]
        alone = self.sentence_scores(claim)

        def score(begin: int, end: int) -> float:
            total = SENTENCE_SHARE * max(alone[begin:end])
            for weight, places in found:
                place = bisect_left(places, begin)
                if place < len(places) and places[place] < end:
                    total += weight
            return total

        return score

    def sentence_scores(self, claim: ParsedClaim) -> list[float]:
        """The score of each sentence: the weight of the claim's stems in it, more where it has values of the claim's kinds."""
        scores = [0.0] * len(self.spans)
        for stem, weight in claim_weights(claim).items():
            for place in self.places.get(stem, ()):
                scores[place] += weight * (SUBJECT_FACTOR if stem in claim.subject else 1.0)
        asked = kinds_of(claim.tokens)
        shares = [len(asked & kinds) / max(1, len(asked)) for kinds in self.kinds]
        return [score * (1 + KINDS_FACTOR * share) for score, share in zip(scores, shares, strict=True)]

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """Stem -> the numbers of the sentences that hold it, ascending."""
        found: dict[str, list[int]] = {}
        for index, sentence in enumerate(self._tokens):
            for stem in dict.fromkeys(token.stem for token in sentence):
                found.setdefault(stem, []).append(index)
        return found

    @cached_property
    def kinds(self) -> list[frozenset[str]]:
        """The kinds of values that each sentence has."""
        return [kinds_of(sentence) for sentence in self._tokens]

    @cached_property
    def _tokens(self) -> list[list[LexicalToken]]:
        return [tokens(self.text[span.start : span.end]) for span in self.spans]


def sentence_spans(text: str, limit: int) -> list[Span]:
    """The sentences of a text; one of more than `limit` words in parts that have so many."""
    found: list[Span] = []
    for sentence in sentences(text):
        words = list(_WORD.finditer(text, sentence.start, sentence.end))
        parts = (words[place : place + limit] for place in range(0, len(words), limit))
        found += [Span(start=part[0].start(), end=part[-1].end()) for part in parts]
    return found


def is_value(token: LexicalToken) -> bool:
    """Whether a token is a number, a year, a month, or a word that counts or orders."""
    return is_detail(token) or token.stem in VALUE_STEMS


def kinds_of(sentence: Iterable[LexicalToken]) -> frozenset[str]:
    """The kinds of values among tokens: "year", "month", "number"."""
    return frozenset("year" if token.year else "month" if token.month else "number" for token in sentence if is_value(token))


def claim_weights(claim: ParsedClaim) -> dict[str, float]:
    """The weight of each informative stem of a claim."""
    numbers = claim.details(is_value)
    return {
        stem: weight * (NUMBER_FACTOR if stem in numbers else 1.0)
        for stem, weight in claim.weights.items()
        if weight >= COUNTED_IDF or stem in numbers
    }


def best_runs(counts: Sequence[int], run_score: RunScore, most: int, size: int) -> list[Run]:
    """The runs of sentences to read, in order.

    Where `most` consecutive windows hold the whole text, it is those. Else runs are chosen greedily: the one with the highest
    score, wherever it begins, then the best among the sentences that are left; the first of equals.

    Args:
        counts: words of each sentence.
        run_score: see `RunScore`.
        most: the most runs, from 1.
        size: the most words of a run.
    """
    ends = list(accumulate(counts, initial=0))

    def end_of(begin: int, stop: int) -> int:
        limit = ends[begin] + size
        end = begin + 1
        while end < stop and ends[end + 1] <= limit:
            end += 1
        return end

    whole = list(_consecutive_runs(len(counts), end_of))
    if len(whole) <= most:
        return whole
    picked: list[Run] = []
    left = [Run(0, len(counts))]
    while left and len(picked) < most:
        runs = [(stretch, run) for stretch in left for run in _longest_runs(stretch, end_of)]
        stretch, best = max(runs, key=lambda one: run_score(*one[1]))
        picked.append(best)
        left.remove(stretch)
        left += [rest for rest in (Run(stretch.begin, best.begin), Run(best.end, stretch.end)) if rest.begin < rest.end]
        left.sort()
    return sorted(picked)


def _consecutive_runs(length: int, end_of: Callable[[int, int], int]) -> Iterator[Run]:
    begin = 0
    while begin < length:
        end = end_of(begin, length)
        yield Run(begin, end)
        begin = end


def _longest_runs(stretch: Run, end_of: Callable[[int, int], int]) -> Iterator[Run]:
    """The longest runs within a stretch of sentences: those that no other run there contains."""
    reached = stretch.begin
    for begin in range(stretch.begin, stretch.end):
        end = end_of(begin, stretch.end)
        if end > reached:
            yield Run(begin, end)
        reached = max(reached, end)
