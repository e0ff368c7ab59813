"""Relations by a cross-encoder: any sequence-classification model of natural language inference, named by its card.

The third stage of the road where no language model answers. A prediction depends on its pair alone: on a CPU each pair goes
through the model by itself, to the last bit the same whatever is asked with it; on a GPU in batches of a fixed shape that
depends on the pair's own length only.
"""

import asyncio
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import NamedTuple
from weakref import WeakKeyDictionary

from localfact.errors import EngineError, InputError
from localfact.models.cards import ModelCard, runs_on_onnx, settled
from localfact.models.cross_encoder import CrossEncoder, Tokens, batches_of, device_used
from localfact.records import Distribution, Failure, Pair
from localfact.relations.labels import label_order
from localfact.relations.lexical.model import LexicalRelationModel, lexical_identity
from localfact.relations.pooling import is_passage, pooled
from localfact.relations.window_selection import PICKING, Picking
from localfact.relations.windows import READING, Joining, measured, windows
from localfact.stages import Relations
from localfact.text import readable

#: Pairs of one call that are sorted by length together: enough for full batches, few enough that their tokens are small.
PAIRS_AT_ONCE = 1_024


class Prepared(NamedTuple):
    """Pairs ready for the model.

    Attributes:
        read: the windows that each is read in. refused: those that cannot be read.
        tokens: of every window. overlap: what word overlap says of pairs that are to be pooled with it.
    """

    read: dict[Pair, list[Pair]]
    refused: dict[Pair, Failure]
    tokens: dict[Pair, Tokens]
    overlap: dict[Pair, Distribution]


class CrossEncoderRelationModel:
    """A RelationModel over a cross-encoder in memory: bfloat16 on a GPU that knows it, else float32.

    Attributes:
        identity: see `cross_encoder_identity`.
        order: what each output of the model stands for.
        window: how many tokens it reads at once, special ones included.
    """

    def __init__(self, card: ModelCard, *, device: str | None = None) -> None:
        """Loads the model of `card` from this machine. Never asks a hub.

        Args:
            card: of a relation model.
            device: "cuda", "cuda:1", "cpu"; None for a GPU if there is one.

        Raises:
            MissingError: its weights are not on this machine.
            InputError: the card is no relation model's, the weights are none, or it cannot be told what the outputs mean.
        """
        card = settled(card)
        self._encoder = CrossEncoder(card, "relations", device=device, precision=precision_of(card, device))
        self.order = label_order(card, self._encoder.names)
        self.window = self._encoder.window
        self.identity = cross_encoder_identity(card, device)
        self._picking = picking_of(card, self._encoder)
        self._pool, self._overlap = card.pool, LexicalRelationModel() if card.pool else None
        # Each worker has its next batch waiting. More would only wait, and be in the way of whoever stops.
        self._batches_at_once = 2 * self._encoder.workers_count
        # The tokenizer's own: it must not be asked by two at once.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="cross-encoder")
        # One call at a time: together they would not be faster, and each would hold its tokens.
        self._turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
        self._closed = threading.Event()

    async def relate(self, pairs: Sequence[Pair]) -> Sequence[Distribution | Failure]:
        """One prediction a pair, in order, off the event loop; equal pairs are computed once.

        A pair longer than the window is read in windows of sentences, joined by the most decided one; where the card says how
        much of a premise is read, only in those that are worth it for the hypothesis. `windows` counts those that were read.
        Where the card says so, what comes of a passage is pooled with word overlap, which reads all of it. A pair that the
        model has no number for is a Failure alone.
        """
        predictions: dict[Pair, Distribution | Failure] = {}
        await self.tell(pairs, predictions.update)
        return [predictions[pair] for pair in pairs]

    async def tell(self, pairs: Sequence[Pair], told: Callable[[Relations], None]) -> None:
        """As `relate`, but gives `told` the predictions of each batch as soon as they are there.

        A call that is cancelled leaves the device at most the batches that it is reading.

        Raises:
            EngineError: the model was closed meanwhile.
        """
        unique = list(dict.fromkeys(pairs))
        loop = asyncio.get_running_loop()
        async with self._turns.setdefault(loop, asyncio.Lock()):
            for begin in range(0, len(unique), PAIRS_AT_ONCE):
                asked = unique[begin : begin + PAIRS_AT_ONCE]
                self._go_on()
                prepared = await loop.run_in_executor(self._thread, self._prepare, asked)
                if prepared.refused:
                    told(prepared.refused)
                await self._predict(prepared.tokens, Joining(prepared.read, self._pooling(prepared.overlap, told)))

    async def fits(self, pair: Pair) -> bool:
        """Whether the pair is read at once, in one window, be it all of it or what is picked, so that nothing is joined."""
        if self._picking is not None:
            return self._picking.fits(Pair(readable(pair.premise), readable(pair.hypothesis)))
        return bool(sum(self._length(readable(text), {}) for text in pair) <= self._encoder.room)

    def close(self) -> None:
        """Ends its threads once each has read the batch it is at; what waits is given up, and nothing may be asked any more."""
        self._closed.set()
        self._encoder.workers.shutdown()
        self._thread.shutdown()

    def _go_on(self) -> None:
        if self._closed.is_set():
            raise EngineError("The relation model was closed while it was asked. What it answered before stands.")

    def _prepare(self, pairs: Sequence[Pair]) -> Prepared:
        lengths: dict[str, int] = {}
        read: dict[Pair, list[Pair]] = {}
        refused: dict[Pair, Failure] = {}
        tokens: dict[Pair, Tokens] = {}
        passages: dict[Pair, Pair] = {}  # as they are shown to models
        for pair in pairs:
            self._go_on()
            try:
                shown = Pair(readable(pair.premise), readable(pair.hypothesis))
                read[pair] = self._windows(shown, lengths)
            except InputError as error:
                refused[pair] = Failure(reason=str(error))
                continue
            tokens |= {window: self._tokens(window) for window in read[pair] if window not in tokens}
            if self._overlap is not None and is_passage(shown.premise):
                passages[pair] = shown
        overlap = self._overlap.predictions(list(passages.values())) if self._overlap is not None else []
        return Prepared(read, refused, tokens, dict(zip(passages, overlap, strict=True)))

    def _windows(self, pair: Pair, lengths: dict[str, int]) -> list[Pair]:
        if self._picking is not None:
            return self._picking.windows(pair)
        return measured(windows(pair, self._encoder.room), lambda text: self._length(text, lengths))

    def _length(self, text: str, known: dict[str, int]) -> int:
        if text not in known:
            known[text] = self._encoder.length(text)
        return known[text]

    async def _predict(self, tokens: Mapping[Pair, Tokens], told: Callable[[Relations], None]) -> None:
        """Tells the predictions of pairs that each fit the window, those of a batch together."""
        loop = asyncio.get_running_loop()
        pairs = list(tokens)
        batches = batches_of([each.length for each in tokens.values()], self._encoder.shape)
        running: dict[asyncio.Future[list[list[float]]], list[Pair]] = {}
        try:
            while True:
                self._go_on()
                for places in islice(batches, self._batches_at_once - len(running)):
                    batch = [pairs[place] for place in places]
                    running[loop.run_in_executor(self._encoder.workers, self._read, [tokens[pair] for pair in batch])] = batch
                if not running:
                    return
                await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for read in [read for read in running if read.done()]:
                    told(dict(zip(running.pop(read), map(self._distribution, read.result()), strict=True)))
        finally:
            for read in running:
                if not read.cancel():
                    read.exception()  # seen: one error is raised, and of the others nobody needs to hear

    def _read(self, batch: Sequence[Tokens]) -> list[list[float]]:
        self._go_on()
        return self._outputs(batch)

    def _tokens(self, pair: Pair) -> Tokens:
        # Cut only where a tokenizer makes a token more of two texts than of each by itself.
        return self._encoder.tokens(pair.premise, pair.hypothesis, cut="only_first")

    def _outputs(self, batch: Sequence[Tokens]) -> list[list[float]]:
        return self._encoder.outputs(batch)

    def _distribution(self, outputs: Sequence[float]) -> Distribution | Failure:
        if not all(map(math.isfinite, outputs)):
            return Failure(reason="The relation model answers with numbers that are none (NaN): its weights are damaged.")
        highest = max(outputs)
        weights = [math.exp(output - highest) for output in outputs]
        total = math.fsum(weights)
        return Distribution.model_validate({label: weight / total for label, weight in zip(self.order, weights, strict=True)})

    def _pooling(self, overlap: Mapping[Pair, Distribution], told: Callable[[Relations], None]) -> Callable[[Relations], None]:
        """Tells the model's predictions of pairs, pooled where there is something to pool them with."""
        pool = self._pool
        if pool is None:
            return told

        def weighed(pair: Pair, said: Distribution | Failure) -> Distribution | Failure:
            return pooled(said, overlap[pair], pool) if pair in overlap and isinstance(said, Distribution) else said

        return lambda said: told({pair: weighed(pair, one) for pair, one in said.items()})


def picking_of(card: ModelCard, encoder: CrossEncoder) -> Picking | None:
    """How a model picks what it reads of a premise; None where its card says nothing: then all is read, in long windows."""
    size, most = card.premise_window, card.windows_read
    if size is None and most is None:
        return None
    return Picking(encoder.starts, encoder.room, size=size, most=most)


def cross_encoder_identity(card: ModelCard, device: str | None = None) -> str:
    """The identity of the relation model of `card` on that device: known without loading it.

    It holds all that decides a prediction: the weights' revision, precision, what the card itself settles, and the way long
    pairs are read.
    """
    card = settled(card)
    stated = {
        "window": card.window,
        "labels": "".join(label[0] for label in card.labels or ()),
        "reading": READING,
    }
    reading = {"premise": card.premise_window, "read": card.windows_read}
    if any(reading.values()):
        stated |= {**reading, "picking": PICKING}
    if card.pool is not None:
        stated |= {"pool": f"{card.pool.model:g},{card.pool.overlap:g}", "overlap": lexical_identity(None)}
    return "+".join(
        (card.identity, precision_of(card, device), *(f"{name}={value}" for name, value in stated.items() if value))
    )


def precision_of(card: ModelCard, device: str | None = None) -> str:
    """Of a settled card's weights in memory: bfloat16 on a GPU that computes with it, else float32; "onnx": the file's own."""
    if runs_on_onnx(card):
        return "onnx"
    import torch

    kind = device_used(device).partition(":")[0]
    return "bfloat16" if kind == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
