"""How a pair that is longer than a model's window is read: in windows of whole sentences, the premise the first to be cut.

Of the predictions of a pair's windows the most decided one counts. Only the model can measure texts, so the functions that cut
are generators: they yield a text, are sent its length in tokens, and return the result (`measure_cutting` runs one).
"""

import re
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from typing import TypeVar

from localfact.errors import InputError
from localfact.records import Distribution, Failure, Pair, Span
from localfact.stages import Relations
from localfact.text import readable, sentences

Result = TypeVar("Result")
#: Yields texts whose lengths, in tokens, it needs to go on; returns its result.
Measuring = Generator[str, int, Result]

#: Part of a model's identity; increased when pairs are cut or joined in another way, as that changes predictions.
READING_VERSION = 1
#: Tokens that one sentence of a premise needs. A hypothesis that leaves a longer premise fewer is itself cut, as a passage is.
SENTENCE_TOKENS = 64
#: In small windows a sentence of the premise needs at most the room divided by this.
SENTENCE_SHARE = 4


def windows(pair: Pair, room: int, *, step: int = 1) -> Measuring[list[Pair]]:
    """Returns the pairs to read in place of `pair`, in order; `pair` itself where it fits.

    The premise is cut. The hypothesis is cut only where it leaves no room for a sentence of the premise, as between two
    passages; its pieces then leave the premise half of the room, and every piece is read with every window of the premise.

    Args:
        pair: of any lengths.
        room: tokens that premise and hypothesis may have together.
        step: the hypothesis' length is rounded up to a multiple of so many tokens, so that hypotheses of similar length get
            the same windows of a premise, whose cached prefixes they then share.

    Raises:
        InputError: the room is too small for a single character of each.
    """
    hypothesis = yield pair.hypothesis
    premise = yield pair.premise
    if premise + hypothesis <= room:
        return [pair]
    sentence = min(premise, SENTENCE_TOKENS, max(1, room // SENTENCE_SHARE))
    if room - hypothesis < sentence:
        hypothesis = max(room // 2, room - premise)
        hypotheses = yield from pieces(pair.hypothesis, hypothesis)
    else:
        rounded = -(-hypothesis // step) * step
        hypothesis = rounded if room - rounded >= sentence else hypothesis
        hypotheses = [pair.hypothesis]
    premises = yield from pieces(pair.premise, room - hypothesis)
    return [Pair(shown, asked) for asked in hypotheses for shown in premises]


def pieces(text: str, limit: int) -> Measuring[list[str]]:
    """Returns the text itself if it has at most `limit` tokens; else consecutive pieces that do, together holding every word.

    A piece is as long as it can be. It ends where a sentence ends; within a sentence that is too long by itself, where a word
    ends; within such a word, behind any character.

    Raises:
        InputError: a single character has more than `limit` tokens.
    """
    if (yield text) <= limit:
        return [text]
    spans = sentences(text)
    sentence_ends = [span.end for span in spans]
    word_ends = [word.end() for word in re.finditer(r"\S+", text)]
    found: list[str] = []
    begin, end_of_text = 0, sentence_ends[-1] if spans else 0
    while begin < end_of_text:
        characters = range(begin + 1, end_of_text + 1)
        for ends in (sentence_ends, word_ends, characters):
            end = yield from _furthest(text, begin, [end for end in ends if end > begin], limit)
            if end > begin:
                break
        else:
            raise InputError(f"The model's window leaves a text {max(0, limit)} tokens: too few to read anything in.")
        found += filter(None, [text[begin:end].strip()])
        begin = end
    return found or [""]


def _furthest(text: str, begin: int, ends: Sequence[int], limit: int) -> Measuring[int]:
    """Returns the last of the sorted ends up to which the text from `begin` fits; `begin` where it fits up to none."""
    fits, beyond = -1, len(ends)
    while fits + 1 < beyond:
        middle = (fits + beyond) // 2
        if (yield text[begin : ends[middle]].strip()) <= limit:
            fits = middle
        else:
            beyond = middle
    return ends[fits] if fits >= 0 else begin


def measure_cutting(cutting: Measuring[Result], measure: Callable[[str], int]) -> Result:
    """Runs the generator `cutting` to its result; `measure` gives the number of tokens of each text that it yields."""
    try:
        text = next(cutting)
        while True:
            text = cutting.send(measure(text))
    except StopIteration as end:
        result: Result = end.value
        return result


async def measure_cutting_async(cutting: Measuring[Result], measure: Callable[[str], Awaitable[int]]) -> Result:
    """`measure_cutting` with a `measure` that is a coroutine (a call of a language model's engine)."""
    try:
        text = next(cutting)
        while True:
            text = cutting.send(await measure(text))
    except StopIteration as end:
        result: Result = end.value
        return result


def join_windows(premise: str, several: Sequence[Pair], read: Sequence[Distribution | Failure]) -> Distribution | Failure:
    """The prediction for a pair from those of its windows: the first failure if one failed, else the most decided.

    That is the one with the largest probability that is not neutral's, the first of equals. Added are `windows`, how many were
    read, and, where it has only a part of the premise, `window`, its place there.
    """
    said: list[Distribution] = []
    for one in read:
        if isinstance(one, Failure):
            return one
        said.append(one)
    decisive, window = max(zip(said, several, strict=True), key=lambda one: max(one[0].entailment, one[0].contradiction))
    decisive = decisive.model_copy(update={"windows": sum(one.windows for one in said)})
    if len(window.premise) >= len(premise.strip()):
        return decisive
    start = readable(premise).find(window.premise)
    place = Span(start=start, end=start + len(window.premise)) if start >= 0 else None
    return decisive.model_copy(update={"window": place})


class Joining:
    """Called with the predictions of windows, each once; calls `report` with those of the pairs whose windows are all there.

    Args:
        read: pair -> its windows, one or more.
        report: called with predictions of whole pairs.
    """

    def __init__(self, read: Mapping[Pair, Sequence[Pair]], report: Callable[[Relations], None]) -> None:
        self._read = read
        self._report = report
        self._windows: dict[Pair, Distribution | Failure] = {}
        self._lacks = {pair: len(set(several)) for pair, several in read.items()}
        self._pairs: dict[Pair, list[Pair]] = {}
        for pair, several in read.items():
            for window in dict.fromkeys(several):
                self._pairs.setdefault(window, []).append(pair)

    def __call__(self, said: Relations) -> None:
        """Adds predictions of windows."""
        self._windows.update(said)
        whole: dict[Pair, Distribution | Failure] = {}
        for pair in (pair for window in said for pair in self._pairs[window]):
            self._lacks[pair] -= 1
            if not self._lacks[pair]:
                several = self._read[pair]
                whole[pair] = join_windows(pair.premise, several, [self._windows[window] for window in several])
        if whole:
            self._report(whole)
