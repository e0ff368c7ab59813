"""Selects the windows of a long premise to read for a claim: those that share most of its rare words, names and numbers.

Of windows that share as much, that one counts for more which has one sentence with what the claim says and a value of its kind:
the value itself where the claim is true, another one where it is false.

Used by models whose card limits how much of a premise is read at once, or how many such windows; their training data are made
by the same functions. Lengths are counted in tokens, from the places where the model's tokenizer begins each of them.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import NamedTuple

from localfact.errors import InputError
from localfact.models.embedder import fitting_pieces
from localfact.records import Pair, Span
from localfact.relations.lexical.statements import ParsedClaim, idf_table
from localfact.relations.lexical.tokens import LexicalToken, is_detail, tokens
from localfact.relations.lexical.tokens import stem as stem_of
from localfact.relations.windows import measure_cutting, pieces
from localfact.text import sentences

#: Part of a model's identity; increased when premises are cut or windows selected in another way, as that changes predictions.
SELECTION_VERSION = 2
#: How much more a claim's names and numbers count than its other words of the same rarity.
NAME_FACTOR = 1.0
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
#: How many parsed premises and claims are cached: pairs that share one come soon after each other.
CACHED_PREMISES = 128
CACHED_CLAIMS = 1_024

#: A text -> the offset in characters at which each of its tokens begins, ascending, without special tokens.
TokenStarts = Callable[[str], Sequence[int]]
#: (begin, end) -> how relevant the sentences [begin, end) are to a claim: 0 or more.
RunScore = Callable[[int, int], float]


class Run(NamedTuple):
    """Consecutive sentences [begin, end) of a premise."""

    begin: int
    end: int


class LongPremise:
    """A premise cut into sentences of known length, each no longer than a window.

    Attributes:
        text: the premise.
        size: the most tokens of a window, from 1.
        spans: of its sentences, long ones in parts; all of it, where it is short enough.
        counts: the tokens of each.
    """

    def __init__(self, text: str, starts: TokenStarts, size: int) -> None:
        """`starts` is that of the model's tokenizer."""
        # Some tokenizers count the space before a word as its first character.
        at = [start + text[start : start + 1].isspace() for start in starts(text)]
        self.text = text
        self.size = size
        self.spans, self.counts = [Span(start=0, end=len(text))], [len(at)]
        if len(at) > size:
            self.spans = sentence_spans(text, at, size)
            self.counts = [len(own_starts(at, span)) for span in self.spans]

    def windows(self, claim: ParsedClaim, most: int | None) -> list[str]:
        """The windows to read for the claim, in the order of the text: at most `most`, with None as many as hold it all."""
        runs = best_runs(self.counts, self.run_score(claim), most, self.size)
        return [self.text_of(run) for run in runs]

    def text_of(self, run: Run) -> str:
        """The text of a window."""
        return self.text[self.spans[run.begin].start : self.spans[run.end - 1].end] if len(self.spans) > 1 else self.text

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


def own_starts(at: Sequence[int], span: Span) -> list[int]:
    """The token offsets within a span, from its beginning. A token that begins before the span counts as one at 0."""
    own = [start - span.start for start in at[bisect_left(at, span.start) : bisect_left(at, span.end)]]
    return own if own[:1] == [0] or span.start == span.end else [0, *own]


def sentence_spans(text: str, at: Sequence[int], limit: int) -> list[Span]:
    """The sentences of a text whose tokens begin at `at`; sentences of more than `limit` tokens are cut into parts."""
    found: list[Span] = []
    for span in sentences(text):
        place = span.start
        for part in fitting_pieces(text[span.start : span.end], own_starts(at, span), limit):
            begin = text.index(part, place)
            place = begin + len(part)
            found.append(Span(start=begin, end=place))
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
        stem: weight * (NUMBER_FACTOR if stem in numbers else NAME_FACTOR if stem in claim.names | claim.subject else 1.0)
        for stem, weight in claim.weights.items()
        if weight >= COUNTED_IDF or stem in numbers
    }


def best_runs(counts: Sequence[int], run_score: RunScore, most: int | None, size: int) -> list[Run]:
    """The runs of sentences to read, in order.

    Where `most` consecutive windows hold the whole text, it is those. Else runs are chosen greedily: the one with the highest
    score, wherever it begins, then the best among the sentences that are left; the first of equals.

    Args:
        counts: tokens of each sentence.
        run_score: see `RunScore`.
        most: the most runs; None for as many as hold the whole text.
        size: the most tokens of a run.
    """
    ends = list(accumulate(counts, initial=0))

    def end_of(begin: int, stop: int) -> int:
        limit = ends[begin] + size
        end = begin + 1
        while end < stop and ends[end + 1] <= limit:
            end += 1
        return end

    whole = list(_consecutive_runs(len(counts), end_of))
    if most is None or len(whole) <= most:
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


class WindowSelection:
    """Selects what one model reads of pairs of any length: windows of the premise for each piece of the hypothesis.

    Args:
        starts: of the model's tokenizer.
        room: the most tokens of premise and hypothesis together.
        size: the most tokens of a premise that are read at once; None for what the hypothesis leaves.
        most: the most windows of a premise that are read for a piece of the hypothesis; None for all.
    """

    def __init__(self, starts: TokenStarts, room: int, *, size: int | None, most: int | None) -> None:
        self._room = room
        self._size = room if size is None else min(size, room - 1)
        self._most = most
        self._premise = lru_cache(CACHED_PREMISES)(lambda premise, size: LongPremise(premise, starts, size))
        self._claim = lru_cache(CACHED_CLAIMS)(lambda text: ParsedClaim(text, idf_table()))
        self._length = lru_cache(CACHED_CLAIMS)(lambda text: len(starts(text)))

    def fits(self, pair: Pair) -> bool:
        """Whether one window is read: all of the pair, or the one that is selected."""
        return len(self.windows(pair)) == 1

    def windows(self, pair: Pair) -> list[Pair]:
        """The pairs to read in place of `pair`: each piece of the hypothesis with the windows selected for it.

        A hypothesis that is longer than a window of the premise, or leaves it too little room, is cut into pieces.

        Raises:
            InputError: the room is less than 2 tokens.
        """
        if self._room < 2:
            raise InputError(f"The model's window leaves two texts {max(0, self._room)} tokens: too few to read anything in.")
        longest = max(1, min(self._size, self._room - min(self._size, self._room // 2)))
        hypotheses = measure_cutting(pieces(pair.hypothesis, longest), self._length)
        return [Pair(shown, asked) for asked in hypotheses for shown in self._select_windows(pair.premise, asked)]

    def _select_windows(self, premise: str, asked: str) -> list[str]:
        size = max(1, min(self._size, self._room - self._length(asked)))
        return self._premise(premise, size).windows(self._claim(asked), self._most)
