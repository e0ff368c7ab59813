"""Which windows of a long premise are worth reading for a claim: those that share most of its rare words, names and numbers.

A model whose card says how much of a premise it reads at once, and how many such windows, asks here; premises to train it on
are made by the same functions. Nothing here measures texts but by where a tokenizer begins each token.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from localfact.errors import InputError
from localfact.models.embedder import fitting_pieces
from localfact.records import Pair, Span
from localfact.relations.lexical.statements import Claim, IdfTable
from localfact.relations.lexical.tokens import Token, tokens
from localfact.relations.windows import measured, pieces
from localfact.text import sentences

#: Raised when premises are cut or windows picked in another way: predictions of before are those of another model.
PICKING = 1
IDF_FILE = Path(__file__).parent / "lexical" / "idf.txt"
#: A window that opens within the premise can be read behind so many tokens of its first sentence, which "he" and "it" may mean.
#: None by default: they take room from sentences of the answer. With them a trained model judged joined snippets worse, and
#: whole pages a little better (scripts/training/measure_windows.py).
LEAD_TOKENS = 0
#: In a small window a lead gets at most such a share.
LEAD_SHARE = 4
#: How much more a claim's names and numbers count than its other words of the same rarity.
NAME_FACTOR = 1.0
NUMBER_FACTOR = 2.0
#: A word of a lower idf ("the", "was") stands everywhere and tells nothing of where to read.
COUNTED_IDF = 2.0
#: Premises and claims that are taken apart once for all pairs that they are in: pairs that share one come close together.
KEPT_PREMISES = 128
KEPT_CLAIMS = 1_024

#: Tells where each token of a text begins, ascending, in characters, no special tokens.
TokenStarts = Callable[[str], Sequence[int]]
#: How much it promises to read sentences `begin` to `end`, the last not included.
Promise = Callable[[int, int], float]


class Run(NamedTuple):
    """Neighbouring sentences of a premise, the last not included."""

    begin: int
    end: int


def premise_windows(
    premise: str, hypothesis: str, starts: TokenStarts, *, size: int, most: int | None, lead: int = LEAD_TOKENS
) -> list[str]:
    """What is read of a premise beside a hypothesis, in the order of the text; the premise itself where it is short enough.

    Args:
        premise: of any length.
        hypothesis: what decides which windows are picked; one that is no passage itself.
        starts: of the model's tokenizer.
        size: tokens of a window at most, at least 1.
        most: windows at most, at least 1; None for as many as together hold every word.
        lead: tokens of the premise's beginning that each window inside it is read behind; 0 for none.
    """
    return LongPremise(premise, starts, size, lead).windows(Claim(hypothesis, idf_table()), most)


class LongPremise:
    """A premise cut into sentences of known length, each no longer than a window.

    Attributes:
        text: the premise. lead: what windows inside it are read behind; "" for nothing.
        spans: of its sentences, long ones in parts. counts: the tokens of each.
        size: tokens that a window at the beginning has; `inside`: any other, less its lead.
    """

    def __init__(self, text: str, starts: TokenStarts, size: int, lead: int = LEAD_TOKENS) -> None:
        """See `premise_windows`."""
        # Some tokenizers count the space before a word as its first character.
        at = [start + text[start : start + 1].isspace() for start in starts(text)]
        self.text = text
        self.size = size
        self.lead, self.spans = "", [Span(start=0, end=len(text))]
        self.counts = [len(at)]
        self.inside = size
        if len(at) > size:
            self._set_lead(at, min(lead, size // LEAD_SHARE))
            self.spans = sentence_spans(text, at, self.inside)
            self.counts = [len(own_starts(at, span)) for span in self.spans]

    def windows(self, claim: Claim, most: int | None) -> list[str]:
        """The windows to read for the claim, at most so many, in the order of the text."""
        runs = picked_runs(self.counts, self.promise(claim), most, self.size, self.inside)
        return [self.shown(run) for run in runs]

    def shown(self, run: Run) -> str:
        """A window as it is read."""
        if len(self.spans) == 1:
            return self.text
        window = self.text[self.spans[run.begin].start : self.spans[run.end - 1].end]
        return f"{self.lead}\n{window}" if run.begin and self.lead else window

    def promise(self, claim: Claim) -> Promise:
        """How much of the weight of the claim's words stands in a run of sentences."""
        weighed = [(weight, self.places.get(stem, ())) for stem, weight in claim_weights(claim).items()]
        found = [(weight, places) for weight, places in weighed if places]

        def shared(begin: int, end: int) -> float:
            total = 0.0
            for weight, places in found:
                place = bisect_left(places, begin)
                if place < len(places) and places[place] < end:
                    total += weight
            return total

        return shared

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """In which sentences each stem stands, ascending."""
        found: dict[str, list[int]] = {}
        for index, span in enumerate(self.spans):
            for stem in dict.fromkeys(token.stem for token in tokens(self.text[span.start : span.end])):
                found.setdefault(stem, []).append(index)
        return found

    def _set_lead(self, at: Sequence[int], most: int) -> None:
        first = next(iter(sentences(self.text)), Span(start=0, end=0))
        own = own_starts(at, first)
        if most > 0 and own:
            text = self.text[first.start : first.end]
            kept = fitting_pieces(text, own, most)[0]
            self.lead = " ".join(kept.split()) + (" …" if kept != text else "")
            self.inside = self.size - min(most, len(own)) - (kept != text)


def own_starts(at: Sequence[int], span: Span) -> list[int]:
    """Where the tokens of a span begin, seen from its own beginning. What begins before it has its rest counted here too."""
    own = [start - span.start for start in at[bisect_left(at, span.start) : bisect_left(at, span.end)]]
    return own if own[:1] == [0] or span.start == span.end else [0, *own]


def sentence_spans(text: str, at: Sequence[int], limit: int) -> list[Span]:
    """The sentences of a text whose tokens begin `at`; one that has more than `limit` tokens, in parts that have not."""
    found: list[Span] = []
    for span in sentences(text):
        place = span.start
        for part in fitting_pieces(text[span.start : span.end], own_starts(at, span), limit):
            begin = text.index(part, place)
            place = begin + len(part)
            found.append(Span(start=begin, end=place))
    return found


def claim_weights(claim: Claim) -> dict[str, float]:
    """What each of a claim's stems that tells something counts."""
    numbers = claim.details(_is_number)
    return {
        stem: weight * (NUMBER_FACTOR if stem in numbers else NAME_FACTOR if stem in claim.names | claim.subject else 1.0)
        for stem, weight in claim.weights.items()
        if weight >= COUNTED_IDF or stem in numbers
    }


def picked_runs(counts: Sequence[int], promise: Promise, most: int | None, first: int, inside: int) -> list[Run]:
    """The runs of sentences to read, in order.

    Where `most` windows hold the whole text, those do, one behind the other. Else the most promising run is taken, wherever it
    begins, then the most promising one of what is left; of equals the first, so that what is to be read has more of its text
    before it than behind it.

    Args:
        counts: tokens of each sentence.
        promise: of a run.
        most: runs at most; None for all.
        first: tokens of a run that begins with the first sentence. inside: of any other.
    """
    ends = list(accumulate(counts, initial=0))

    def end_of(begin: int, stop: int) -> int:
        limit = ends[begin] + (inside if begin else first)
        end = begin + 1
        while end < stop and ends[end + 1] <= limit:
            end += 1
        return end

    whole = list(_one_behind_the_other(len(counts), end_of))
    if most is None or len(whole) <= most:
        return whole
    picked: list[Run] = []
    left = [Run(0, len(counts))]
    while left and len(picked) < most:
        runs = [(stretch, run) for stretch in left for run in _longest_runs(stretch, end_of)]
        stretch, best = max(runs, key=lambda one: promise(*one[1]))
        picked.append(best)
        left.remove(stretch)
        left += [rest for rest in (Run(stretch.begin, best.begin), Run(best.end, stretch.end)) if rest.begin < rest.end]
        left.sort()
    return sorted(picked)


def _one_behind_the_other(length: int, end_of: Callable[[int, int], int]) -> Iterator[Run]:
    begin = 0
    while begin < length:
        end = end_of(begin, length)
        yield Run(begin, end)
        begin = end


def _longest_runs(stretch: Run, end_of: Callable[[int, int], int]) -> Iterator[Run]:
    """Runs within a stretch that no other contains."""
    reached = stretch.begin
    for begin in range(stretch.begin, stretch.end):
        end = end_of(begin, stretch.end)
        if end > reached:
            yield Run(begin, end)
        reached = max(reached, end)


class Picking:
    """How one model reads pairs of any length: the premise's windows worth reading, beside each piece of the hypothesis."""

    def __init__(self, starts: TokenStarts, room: int, *, size: int | None, most: int | None) -> None:
        """Takes the model's tokenizer, the tokens that both texts may have together, and what its card says.

        Args:
            starts: see `TokenStarts`.
            room: tokens of premise and hypothesis together.
            size: tokens of a premise that are read at once; None for what the hypothesis leaves.
            most: windows of a premise that are read for a claim, or for a piece of a passage; None for all.
        """
        self._starts = starts
        self._room = room
        self._size = room if size is None else min(size, room - 1)
        self._most = most
        self._premise = lru_cache(KEPT_PREMISES)(self._cut)
        self._claim = lru_cache(KEPT_CLAIMS)(lambda text: Claim(text, idf_table()))
        self._length = lru_cache(KEPT_CLAIMS)(lambda text: len(starts(text)))

    def fits(self, pair: Pair) -> bool:
        """Whether the pair is read at once, in one window, be it all of it or what is picked."""
        return len(self.windows(pair)) == 1

    def windows(self, pair: Pair) -> list[Pair]:
        """The pairs to read in place of `pair`: the windows of the premise that are worth it for each piece of the hypothesis.

        A hypothesis that is longer than a window of the premise, or leaves it too little room, is a passage, read in pieces.

        Raises:
            InputError: the room is too small to read anything in.
        """
        if self._room < 2:
            raise InputError(f"The model's window leaves two texts {max(0, self._room)} tokens: too few to read anything in.")
        longest = max(1, min(self._size, self._room - min(self._size, self._room // 2)))
        hypotheses = measured(pieces(pair.hypothesis, longest), self._length)
        return [Pair(shown, asked) for asked in hypotheses for shown in self._shown(pair.premise, asked)]

    def _shown(self, premise: str, asked: str) -> list[str]:
        size = max(1, min(self._size, self._room - self._length(asked)))
        return self._premise(premise, size).windows(self._claim(asked), self._most)

    def _cut(self, premise: str, size: int) -> LongPremise:
        return LongPremise(premise, self._starts, size)


@cache
def idf_table() -> IdfTable:
    """How rare each stem is."""
    return IdfTable.read(IDF_FILE)


def _is_number(token: Token) -> bool:
    return token.number or token.year or token.month
