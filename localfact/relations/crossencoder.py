"""Relations by a cross-encoder: any sequence-classification model of natural language inference, named by its card.

The third stage of the road where no language model answers. A prediction depends on its pair alone: on a CPU each pair goes
through the model by itself, to the last bit the same whatever is asked with it; on a GPU in batches of a fixed shape that
depends on the pair's own length only.
"""

import asyncio
import math
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby, islice
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from localfact.embedding import single_threaded_workers
from localfact.errors import EngineError, InputError
from localfact.modelcards import ModelCard, settled, weights_folder
from localfact.records import Distribution, Failure, Pair
from localfact.relations.pretrained import label_order, load, window_of
from localfact.relations.windows import READING, Joining, measured, windows
from localfact.stages import Relations
from localfact.text import readable

if TYPE_CHECKING:
    import torch


class Shape(NamedTuple):
    """How pairs are put together: each padded to a multiple of `step` tokens, as many as have `tokens` together, or one."""

    step: int
    tokens: int

    def length(self, tokens: int) -> int:
        """Of a pair with its padding."""
        return -(-tokens // self.step) * self.step

    def rows(self, length: int) -> int:
        """How many pairs of that length, padding included, are read at once."""
        return max(1, self.tokens // length)


#: On a CPU nothing is gained by a batch: several pairs are read at the same time, each on a core of its own.
ALONE = Shape(step=1, tokens=1)
#: On a GPU 4,096 tokens of ALBERT-xlarge are some 10 TFLOP, enough to be busy with; padding adds an eighth to 256 tokens.
BATCHED = Shape(step=64, tokens=4_096)

#: Pairs of one call that are sorted by length together: enough for full batches, few enough that their tokens are small.
PAIRS_AT_ONCE = 1_024


class Tokens(NamedTuple):
    """A pair as the model reads it: each of the tokenizer's fields, a number a token."""

    fields: dict[str, list[int]]

    @property
    def length(self) -> int:
        """How many tokens."""
        return len(self.fields["input_ids"])


class Prepared(NamedTuple):
    """Pairs ready for the model: the windows that each is read in, those that cannot be, and every window's tokens."""

    read: dict[Pair, list[Pair]]
    refused: dict[Pair, Failure]
    tokens: dict[Pair, Tokens]


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
        if "relations" not in card.roles:
            raise InputError(f"The model '{card.name}' is no relation model; its roles are: {', '.join(card.roles)}.")
        card = settled(card)
        folder = weights_folder(card)
        import torch

        on = torch.device(device_used(device))
        self._model, self._tokenizer = load(folder, card, precision_on(on.type))
        self._model.to(on)
        self.order = label_order(card, self._model.config.id2label)
        self.window = window_of(card, self._model.config, self._tokenizer)
        self.identity = cross_encoder_identity(card, device)
        self._room = self.window - self._tokenizer.num_special_tokens_to_add(pair=True)
        self._shape = BATCHED if on.type == "cuda" else ALONE
        self._workers = single_threaded_workers() if on.type == "cpu" else ThreadPoolExecutor(1)
        # Each worker has its next batch waiting. More would only wait, and be in the way of whoever stops.
        self._batches_at_once = 2 * (len(os.sched_getaffinity(0)) if on.type == "cpu" else 1)
        # The tokenizer's own: it must not be asked by two at once.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="cross-encoder")
        # One call at a time: together they would not be faster, and each would hold its tokens.
        self._turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
        self._closed = threading.Event()

    async def relate(self, pairs: Sequence[Pair]) -> Sequence[Distribution | Failure]:
        """One prediction a pair, in order, off the event loop; equal pairs are computed once.

        A pair longer than the window is read in windows of sentences, joined by the most decided one. A pair that the model has
        no number for is a Failure alone.
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
                await self._predict(prepared.tokens, Joining(prepared.read, told))

    async def fits(self, pair: Pair) -> bool:
        """Whether the whole pair is read at once."""
        return bool(sum(self._length(readable(text), {}) for text in pair) <= self._room)

    def close(self) -> None:
        """Ends its threads once each has read the batch it is at; what waits is given up, and nothing may be asked any more."""
        self._closed.set()
        self._workers.shutdown()
        self._thread.shutdown()

    def _go_on(self) -> None:
        if self._closed.is_set():
            raise EngineError("The relation model was closed while it was asked. What it answered before stands.")

    def _prepare(self, pairs: Sequence[Pair]) -> Prepared:
        lengths: dict[str, int] = {}
        read: dict[Pair, list[Pair]] = {}
        refused: dict[Pair, Failure] = {}
        tokens: dict[Pair, Tokens] = {}
        for pair in pairs:
            self._go_on()
            try:
                shown = Pair(readable(pair.premise), readable(pair.hypothesis))
                read[pair] = measured(windows(shown, self._room), lambda text: self._length(text, lengths))
            except InputError as error:
                refused[pair] = Failure(reason=str(error))
                continue
            tokens |= {window: self._tokens(window) for window in read[pair] if window not in tokens}
        return Prepared(read, refused, tokens)

    def _length(self, text: str, known: dict[str, int]) -> int:
        if text not in known:
            known[text] = len(self._tokenizer(text, add_special_tokens=False, truncation=False, verbose=False)["input_ids"])
        return known[text]

    async def _predict(self, tokens: Mapping[Pair, Tokens], told: Callable[[Relations], None]) -> None:
        """Tells the predictions of pairs that each fit the window, those of a batch together."""
        loop = asyncio.get_running_loop()
        pairs = list(tokens)
        batches = batches_of([each.length for each in tokens.values()], self._shape)
        running: dict[asyncio.Future[list[list[float]]], list[Pair]] = {}
        try:
            while True:
                self._go_on()
                for places in islice(batches, self._batches_at_once - len(running)):
                    batch = [pairs[place] for place in places]
                    running[loop.run_in_executor(self._workers, self._read, [tokens[pair] for pair in batch])] = batch
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
        fields = self._tokenizer(
            pair.premise,
            pair.hypothesis,
            truncation="only_first",
            max_length=self.window,
            return_attention_mask=True,
            verbose=False,
        )
        return Tokens({name: list(numbers) for name, numbers in fields.items()})

    def _outputs(self, batch: Sequence[Tokens]) -> list[list[float]]:
        """What the model says about each, as its outputs stand. A batch has the fixed shape of its longest pair."""
        import torch

        length = min(self._shape.length(max(tokens.length for tokens in batch)), self.window)
        rows = [*batch, *[batch[0]] * (self._shape.rows(length) - len(batch))]
        with torch.inference_mode():
            features = {name: self._tensor(name, rows, length) for name in batch[0].fields}
            logits = self._model(**features).logits.float().cpu()
        outputs: list[list[float]] = logits[: len(batch)].tolist()
        return outputs

    def _tensor(self, name: str, rows: Sequence[Tokens], length: int) -> "torch.Tensor":
        import torch

        fillers = {"input_ids": self._tokenizer.pad_token_id or 0, "token_type_ids": self._tokenizer.pad_token_type_id}
        padded = [[*row.fields[name], *[fillers.get(name, 0)] * (length - row.length)] for row in rows]
        return torch.tensor(padded, device=self._model.device)

    def _distribution(self, outputs: Sequence[float]) -> Distribution | Failure:
        if not all(map(math.isfinite, outputs)):
            return Failure(reason="The relation model answers with numbers that are none (NaN): its weights are damaged.")
        highest = max(outputs)
        weights = [math.exp(output - highest) for output in outputs]
        total = math.fsum(weights)
        return Distribution.model_validate({label: weight / total for label, weight in zip(self.order, weights, strict=True)})


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
    precision = precision_on(device_used(device).partition(":")[0])
    return "+".join((card.identity, precision, *(f"{name}={value}" for name, value in stated.items() if value)))


def device_used(device: str | None) -> str:
    """The device that is asked for; a GPU if there is one and none is."""
    import torch

    return device or ("cuda" if torch.cuda.is_available() else "cpu")


def precision_on(kind: str) -> str:
    """bfloat16 on a GPU that computes with it, else float32."""
    import torch

    return "bfloat16" if kind == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False) else "float32"


def batches_of(lengths: Sequence[int], shape: Shape) -> Iterator[list[int]]:
    """Yields the places of what is read together, the longest first, so that memory is short at once or never."""
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    for length, places in groupby(order, key=lambda place: shape.length(lengths[place])):
        alike = list(places)
        for begin in range(0, len(alike), shape.rows(length)):
            yield alike[begin : begin + shape.rows(length)]
