"""Relations by a cross-encoder: any sequence-classification model of natural language inference, named by its card.

The third stage of the road where no language model answers. A prediction depends on its pair alone: on a CPU each pair goes
through the model by itself, to the last bit the same whatever is asked with it; on a GPU in batches of a fixed shape that
depends on the pair's own length only.
"""

import asyncio
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from localfact.embedding import single_threaded_workers
from localfact.errors import InputError
from localfact.modelcards import ModelCard, settled, weights_folder
from localfact.records import Distribution, Failure, Pair
from localfact.relations.pretrained import label_order, load, window_of
from localfact.relations.windows import READING, measured, most_decided, windows
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


class Tokens(NamedTuple):
    """A pair as the model reads it: each of the tokenizer's fields, a number a token."""

    fields: dict[str, list[int]]

    @property
    def length(self) -> int:
        """How many tokens."""
        return len(self.fields["input_ids"])


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
        # One call at a time: together they would not be faster, and would fight for the device.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="cross-encoder")

    async def relate(self, pairs: Sequence[Pair]) -> Sequence[Distribution | Failure]:
        """One prediction a pair, in order, off the event loop; equal pairs are computed once.

        A pair longer than the window is read in windows of sentences, joined by the most decided one. A pair that the model has
        no number for is a Failure alone.
        """
        if not pairs:
            return []
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._relate, list(pairs))

    async def fits(self, pair: Pair) -> bool:
        """Whether the whole pair is read at once."""
        return bool(sum(self._length(readable(text), {}) for text in pair) <= self._room)

    def close(self) -> None:
        """Ends its threads, once what they do is done; nothing may be asked any more."""
        self._thread.shutdown()
        self._workers.shutdown()

    def _relate(self, pairs: Sequence[Pair]) -> list[Distribution | Failure]:
        lengths: dict[str, int] = {}
        read: dict[Pair, list[Pair]] = {}
        refused: dict[Pair, Failure] = {}
        for pair in dict.fromkeys(pairs):
            try:
                shown = Pair(readable(pair.premise), readable(pair.hypothesis))
                read[pair] = measured(windows(shown, self._room), lambda text: self._length(text, lengths))
            except InputError as error:
                refused[pair] = Failure(reason=str(error))
        predictions = self._predict(list(dict.fromkeys(window for several in read.values() for window in several)))
        answers = {pair: joined([predictions[window] for window in several]) for pair, several in read.items()}
        return [answers.get(pair) or refused[pair] for pair in pairs]

    def _length(self, text: str, known: dict[str, int]) -> int:
        if text not in known:
            known[text] = len(self._tokenizer(text, add_special_tokens=False, truncation=False, verbose=False)["input_ids"])
        return known[text]

    def _predict(self, pairs: Sequence[Pair]) -> dict[Pair, Distribution | Failure]:
        """Predictions of pairs that each fit the window."""
        tokens = [self._tokens(pair) for pair in pairs]
        batches = list(batches_of([each.length for each in tokens], self._shape))
        outputs = self._workers.map(lambda batch: self._outputs([tokens[place] for place in batch]), batches)
        predictions: dict[Pair, Distribution | Failure] = {}
        for batch, rows in zip(batches, outputs, strict=True):
            predictions |= {pairs[place]: self._distribution(row) for place, row in zip(batch, rows, strict=True)}
        return predictions

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


def joined(read: Sequence[Distribution | Failure]) -> Distribution | Failure:
    """The most decided of the windows; the first failure where one failed."""
    failure = next((one for one in read if isinstance(one, Failure)), None)
    return failure or most_decided([one for one in read if isinstance(one, Distribution)])


def batches_of(lengths: Sequence[int], shape: Shape) -> Iterator[list[int]]:
    """Yields the places of what is read together, the longest first, so that memory is short at once or never."""
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    for length, places in groupby(order, key=lambda place: shape.length(lengths[place])):
        alike = list(places)
        for begin in range(0, len(alike), shape.rows(length)):
            yield alike[begin : begin + shape.rows(length)]
