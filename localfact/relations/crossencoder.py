"""Relations by a cross-encoder: any sequence-classification model of natural language inference, named by its card.

A prediction depends on its pair alone: on a CPU each pair goes through the model by itself, to the last bit the same whatever
is asked with it; on a GPU in batches of a fixed shape that depends on the pair's own length only.
"""

import asyncio
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from functools import cache
from itertools import islice
from typing import NamedTuple
from weakref import WeakKeyDictionary

from localfact.errors import EngineError, InputError
from localfact.models.cards import resolve_card
from localfact.models.cross_encoder import CrossEncoder, Tokens, batches_of
from localfact.models.model_card import ModelCard
from localfact.records import Distribution, Failure, Pair
from localfact.relations.labels import label_order
from localfact.relations.windows import READING_VERSION, Joining, measure_cutting, windows
from localfact.stages import Relations
from localfact.text import readable

#: Pairs of one call that are tokenised and sorted by length together: enough for full batches, few enough to hold in memory.
PAIRS_AT_ONCE = 1_024


class Prepared(NamedTuple):
    """Pairs ready for the model.

    Attributes:
        read: pair -> its windows.
        refused: pair -> why it cannot be read.
        tokens: window -> its tokens.
    """

    read: dict[Pair, list[Pair]]
    refused: dict[Pair, Failure]
    tokens: dict[Pair, Tokens]


class PairTurns(NamedTuple):
    """Limits memory: in one event loop, one call is tokenised while another is predicted; further calls wait."""

    to_prepare: asyncio.Lock
    to_predict: asyncio.Lock


class CrossEncoderRelationModel:
    """A RelationModel over a cross-encoder in memory, in the precision of its card (`dtype`; float32 where it states none).

    Attributes:
        identity: see `cross_encoder_identity`.
        order: the relation of each of the model's outputs.
        window: the most tokens of one input, special ones included.
    """

    def __init__(self, card: ModelCard, *, device: str | None = None) -> None:
        """Loads the model of `card` from this machine; downloads nothing.

        Args:
            card: of a relation model.
            device: "cuda", "cuda:1", "cpu"; None for a GPU if there is one.

        Raises:
            MissingError: its weights are not on this machine.
            InputError: the card is no relation model's, the weights cannot be read, or it is not known what the outputs mean.
        """
        card = resolve_card(card)
        self._encoder = CrossEncoder(card, "relations", device=device, precision=card.precision)
        self.order = label_order(card, self._encoder.names)
        self.window = self._encoder.window
        self.identity = cross_encoder_identity(card)
        # Each worker has its next batch waiting. More would gain nothing, and delay a cancelled call.
        self._batches_at_once = 2 * self._encoder.workers_count
        # One thread for the tokenizer, which must not be used by two at once.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="cross-encoder")
        self._turns: WeakKeyDictionary[asyncio.AbstractEventLoop, PairTurns] = WeakKeyDictionary()
        self._closed = threading.Event()

    async def relate(self, pairs: Sequence[Pair]) -> Sequence[Distribution | Failure]:
        """One prediction a pair, in order, off the event loop; equal pairs are computed once.

        A pair longer than the model's window is read in windows of whole sentences, of which the most decided one counts;
        `windows` counts them. A pair for which the model gives no finite number is a Failure alone.
        """
        predictions: dict[Pair, Distribution | Failure] = {}
        await self.relate_reporting(pairs, predictions.update)
        return [predictions[pair] for pair in pairs]

    async def relate_reporting(self, pairs: Sequence[Pair], report: Callable[[Relations], None]) -> None:
        """As `relate`, but calls `report` with the predictions of each batch as soon as they are made.

        After a cancelled call, only the batches that are being read are finished.

        Raises:
            EngineError: the model was closed meanwhile.
        """
        unique = list(dict.fromkeys(pairs))
        loop = asyncio.get_running_loop()
        turns = self._turns.setdefault(loop, PairTurns(asyncio.Lock(), asyncio.Lock()))
        for begin in range(0, len(unique), PAIRS_AT_ONCE):
            async with AsyncExitStack() as stack:
                async with turns.to_prepare:
                    self._go_on()
                    asked = unique[begin : begin + PAIRS_AT_ONCE]
                    prepared = await loop.run_in_executor(self._thread, self._prepare, asked)
                    if prepared.refused:
                        report(prepared.refused)
                    await stack.enter_async_context(turns.to_predict)
                await self._predict(prepared.tokens, Joining(prepared.read, report))

    async def fits(self, pair: Pair) -> bool:
        """Whether the pair is read in one window."""
        return sum(self._encoder.length(readable(text)) for text in pair) <= self._encoder.room

    def close(self) -> None:
        """Ends the worker threads after the batches that they are reading; open calls fail, and so do later ones."""
        self._closed.set()
        self._encoder.workers.shutdown()
        self._thread.shutdown()

    def _go_on(self) -> None:
        if self._closed.is_set():
            raise EngineError("The relation model was closed while it was asked. What it answered before stands.")

    def _prepare(self, pairs: Sequence[Pair]) -> Prepared:
        length = cache(self._encoder.length)
        read: dict[Pair, list[Pair]] = {}
        refused: dict[Pair, Failure] = {}
        tokens: dict[Pair, Tokens] = {}
        for pair in pairs:
            self._go_on()
            try:
                read[pair] = self._windows(Pair(readable(pair.premise), readable(pair.hypothesis)), length)
            except InputError as error:
                refused[pair] = Failure(reason=str(error))
                continue
            tokens |= {window: self._tokens(window) for window in read[pair] if window not in tokens}
        return Prepared(read, refused, tokens)

    def _windows(self, pair: Pair, length: Callable[[str], int]) -> list[Pair]:
        return measure_cutting(windows(pair, self._encoder.room), length)

    async def _predict(self, tokens: Mapping[Pair, Tokens], report: Callable[[Relations], None]) -> None:
        """Predicts pairs that each fit the window, and calls `report` once a batch."""
        loop = asyncio.get_running_loop()
        pairs = list(tokens)
        batches = batches_of([each.length for each in tokens.values()], self._encoder.shape)
        running: dict[asyncio.Future[list[list[float]]], list[Pair]] = {}
        try:
            while True:
                self._go_on()
                for places in islice(batches, self._batches_at_once - len(running)):
                    batch = [pairs[place] for place in places]
                    running[loop.run_in_executor(self._encoder.workers, self._outputs, [tokens[pair] for pair in batch])] = (
                        batch
                    )
                if not running:
                    return
                await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for done in [future for future in running if future.done()]:
                    report(dict(zip(running.pop(done), map(self._distribution, done.result()), strict=True)))
        finally:
            for future in running:
                if not future.cancel():
                    future.exception()  # retrieved, so that asyncio does not log it: only the first error is raised

    def _outputs(self, batch: Sequence[Tokens]) -> list[list[float]]:
        self._go_on()
        return self._encoder.outputs(batch)

    def _tokens(self, pair: Pair) -> Tokens:
        # Truncation only happens where a tokenizer makes more tokens of two texts together than of each by itself.
        return self._encoder.tokens(pair.premise, pair.hypothesis, cut="only_first")

    def _distribution(self, outputs: Sequence[float]) -> Distribution | Failure:
        if not all(map(math.isfinite, outputs)):
            return Failure(reason="The relation model answers with numbers that are none (NaN): its weights are damaged.")
        highest = max(outputs)
        weights = [math.exp(output - highest) for output in outputs]
        total = math.fsum(weights)
        return Distribution.model_validate({label: weight / total for label, weight in zip(self.order, weights, strict=True)})


def cross_encoder_identity(card: ModelCard) -> str:
    """The identity of the relation model of `card`, without loading it.

    It holds all that decides a prediction: the weights' revision, the precision, the card's own settings, and the versions of
    the code that reads long pairs.
    """
    card = resolve_card(card)
    stated = {
        "window": card.window,
        "labels": "".join(label[0] for label in card.labels or ()),
        "reading": READING_VERSION,
    }
    return "+".join((card.identity, card.precision, *(f"{name}={value}" for name, value in stated.items() if value)))
