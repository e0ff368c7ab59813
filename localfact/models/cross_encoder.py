"""A trained cross-encoder in memory: reads two texts together and returns one number for each of its outputs.

Used to predict relations and to rerank passages. On a CPU each pair goes through the model by itself, so that its result does
not depend, to the last bit, on what is read beside it; on a GPU pairs go in batches of a fixed shape that depends on their own
length only.
"""

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from localfact.errors import InputError
from localfact.models.cards import weights_folder
from localfact.models.embedder import single_threaded_workers, token_starts
from localfact.models.loading import loading_error
from localfact.models.model_card import ModelCard

if TYPE_CHECKING:
    import torch

#: What a cross-encoder is loaded for, and its name in messages.
Use = Literal["relations", "reranker"]
CALLED: dict[Use, str] = {"relations": "relation model", "reranker": "reranker"}
#: The tokenizer's field that tells the tokens of the first text from those of the second.
TYPES = "token_type_ids"
#: Models whose positions are counted from the padding token's id plus 1.
OFFSET_POSITIONS = ("roberta", "xlm-roberta", "camembert", "mpnet", "longformer")


class BatchShape(NamedTuple):
    """The shape of batches: pairs are padded to a multiple of `step` tokens; a batch has up to `tokens` tokens, or one pair."""

    step: int
    tokens: int

    def length(self, tokens: int) -> int:
        """The length of a pair with its padding."""
        return -(-tokens // self.step) * self.step

    def rows(self, length: int) -> int:
        """How many pairs of that length, padding included, are in a batch."""
        return max(1, self.tokens // length)


#: On a CPU there are no batches: several pairs are read at the same time, each on a core of its own.
ALONE = BatchShape(step=1, tokens=1)
#: On a GPU 4,096 tokens of ALBERT-xlarge are some 10 TFLOP, enough to be busy with; padding adds an eighth to 256 tokens.
BATCHED = BatchShape(step=64, tokens=4_096)


class Tokens(NamedTuple):
    """The tokens of a pair: each of the tokenizer's fields, one number a token."""

    fields: dict[str, list[int]]

    @property
    def length(self) -> int:
        """How many tokens."""
        return len(self.fields["input_ids"])


class CrossEncoder:
    """A sequence-classification model of two texts. Safe to call from several threads.

    Args:
        card: resolved (`cards.resolved`), or with weights in its folder.
        use: a role that the card must have.
        device: "cuda", "cuda:1", "cpu"; None for a GPU if there is one.
        precision: of the weights in memory, as torch calls it.

    Attributes:
        model, tokenizer: those of transformers.
        names: the model's names for its outputs.
        window: the most tokens of one input, special ones included.
        room: those of them that the two texts can have.
        shape: of batches.
        workers: the threads to call `outputs` on, each with a batch of its own.

    Raises:
        MissingError: its weights are not on this machine.
        InputError: the card has another role, or the weights cannot be used.
    """

    def __init__(self, card: ModelCard, use: Use, *, device: str | None = None, precision: str = "float32") -> None:
        card.require_role(use, CALLED[use])
        folder = weights_folder(card)
        self.model, self.tokenizer = load(folder, card, use, precision)
        self.model.to(device := device_used(device))
        on = device.partition(":")[0]
        self.workers_count = len(os.sched_getaffinity(0)) if on == "cpu" else 1
        self.workers = single_threaded_workers() if on == "cpu" else ThreadPoolExecutor(1)
        self.names: Mapping[int, str] = self.model.config.id2label
        self.window = window_of(card, self.model.config, self.tokenizer)
        self.room: int = self.window - self.tokenizer.num_special_tokens_to_add(pair=True)
        self.shape = BATCHED if on == "cuda" else ALONE
        self._tokenizer_lock = threading.Lock()  # truncation is state of the tokenizer, not of the call

    def starts(self, text: str) -> list[int]:
        """The offset at which each token of a text by itself begins."""
        with self._tokenizer_lock:
            return token_starts(self.tokenizer, text)

    def length(self, text: str) -> int:
        """The number of tokens of a text by itself."""
        return len(self.starts(text))

    def tokens(self, first: str, second: str, *, cut: Literal["only_first", "only_second"]) -> Tokens:
        """The tokens of the two texts in that order; `cut` says which of them is truncated to fit the window."""
        with self._tokenizer_lock:
            fields = self.tokenizer(
                first, second, truncation=cut, max_length=self.window, return_attention_mask=True, verbose=False
            )
        return Tokens({name: list(numbers) for name, numbers in fields.items()})

    def outputs(self, batch: Sequence[Tokens]) -> list[list[float]]:
        """The model's raw outputs for each pair. A batch has the fixed shape of its longest pair."""
        import torch

        length = min(self.shape.length(max(tokens.length for tokens in batch)), self.window)
        rows = [*batch, *[batch[0]] * (self.shape.rows(length) - len(batch))]
        with torch.inference_mode():
            features = {name: self._tensor(name, rows, length) for name in batch[0].fields}
            logits = self.model(**features).logits.float().cpu()
        outputs: list[list[float]] = logits[: len(batch)].tolist()
        return outputs

    def _tensor(self, name: str, rows: Sequence[Tokens], length: int) -> "torch.Tensor":
        import torch

        fillers = {"input_ids": self.tokenizer.pad_token_id or 0, TYPES: self.tokenizer.pad_token_type_id}
        padded = [[*row.fields[name], *[fillers.get(name, 0)] * (length - row.length)] for row in rows]
        return torch.tensor(padded, device=self.model.device)


def device_used(device: str | None) -> str:
    """The device that is asked for; for None a GPU if there is one, else the CPU."""
    import torch

    return device or ("cuda" if torch.cuda.is_available() else "cpu")


def batches_of(lengths: Sequence[int], shape: BatchShape) -> Iterator[list[int]]:
    """Yields the indices of each batch, the longest inputs first, so that memory runs out at once or never."""
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    for length, places in groupby(order, key=lambda place: shape.length(lengths[place])):
        alike = list(places)
        for begin in range(0, len(alike), shape.rows(length)):
            yield alike[begin : begin + shape.rows(length)]


def window_of(card: ModelCard, config: Any, tokenizer: Any) -> int:
    """The most tokens of an input: the least that the card, the tokenizer and the configuration allow.

    Raises:
        InputError: none of them says, or what a file of the model says is no number.
    """
    positions = getattr(config, "max_position_embeddings", None)
    for said in (positions, tokenizer.model_max_length):
        if not isinstance(said, int | float | None):
            raise InputError(f"A file of the model '{card.name}' gives {said!r:.40} as the most tokens that it reads.")
    if positions and config.model_type in OFFSET_POSITIONS:
        positions -= (config.pad_token_id or 0) + 1
    stated = [limit for limit in (card.window, positions, tokenizer.model_max_length) if limit and limit < 1e9]
    if not stated:
        raise InputError(f"Nothing says how many tokens the model '{card.name}' reads: give `window` in its card.")
    return int(min(stated))


def load(folder: Path, card: ModelCard, use: Use, precision: str) -> tuple[Any, Any]:
    """Loads the model and its tokenizer.

    Raises:
        InputError: they cannot be loaded, or the weights have no trained classification head.
    """
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        # Texts are data: a page that spells a special token must not end the first text and begin another second one.
        tokenizer = AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False, split_special_tokens=True
        )
        model, loading_info = AutoModelForSequenceClassification.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=False,
            weights_only=True,
            dtype=getattr(torch, precision),
            output_loading_info=True,
        )
    except Exception as error:  # of any class, where a file is damaged
        raise loading_error(folder, f"the {CALLED[use]} '{card.name}'", error) from error
    if loading_info["missing_keys"]:
        raise InputError(
            f"The folder {folder} holds no {CALLED[use]}: its weights lack {min(loading_info['missing_keys'])}. "
            "Give a model that was trained for sequence classification."
        )
    return model.eval(), tokenizer
