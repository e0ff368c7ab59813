"""Turns texts into vectors with a sentence embedder, named by its card.

A vector depends on its text alone, to the last bit, as a run that was resumed, or read its input in another order, must not
differ. So on a CPU every text goes through the model by itself (several at once, each on one thread), and on a GPU in batches
of a fixed shape that depends on the text's own length only.
"""

import os
import re
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from localfact.errors import InputError
from localfact.models.cards import load_card, weights_folder
from localfact.models.loading import loading_error
from localfact.models.model_card import ModelCard
from localfact.runtime.recent import Recent
from localfact.text import readable, sentences

if TYPE_CHECKING:
    import torch

#: How many vectors are cached; 65,536 of 384 numbers are 100 MB.
MEMO_VECTORS = 65_536
#: The fixed shapes on a GPU: so many texts, each padded to the next multiple of so many tokens.
GPU_BATCH = 64
GPU_LENGTH_STEP = 32
#: Tokens kept free for a prefix: together with its text it may have one token more than each by itself.
PREFIX_JOINT = 1

#: The user's word for no embedder.
NO_EMBEDDER = "none"

Vectors = NDArray[np.float32]
#: Some models were trained with different prefixes for queries and passages.
TextRole = Literal["query", "passage"]


class Embedded(NamedTuple):
    """The vectors of some passages, those of a passage's parts one after another, and how many parts each passage has."""

    vectors: Vectors
    counts: Sequence[int]


class InTurn:
    """A base class that embeds batch after batch with the subclass's methods `parts` and `encode`."""

    parts: Callable[[str], list[str]]
    encode: Callable[[Sequence[str]], Vectors]

    def embed_each(self, batches: Iterable[Sequence[str]]) -> Iterator[Embedded]:
        """The vectors of the passages of each batch, in the order of the batches."""
        for passages in batches:
            parts = [self.parts(text) for text in passages]
            yield Embedded(self.encode([part for own in parts for part in own]), [len(own) for own in parts])


class Embedder(InTurn):
    """A sentence embedder in memory, made by `load_embedder`. Safe to call from several threads.

    Args:
        model: a loaded SentenceTransformer. query_prefix, passage_prefix: what it reads before texts.

    Attributes:
        identity: name and revision of the model.
        dimension: length of a vector.
        window: the most tokens of one input, special tokens and a prefix included; the rest is cut off (see `parts`).

    Raises:
        InputError: a prefix leaves the texts no room in the window.
    """

    def __init__(self, identity: str, model: Any, *, query_prefix: str = "", passage_prefix: str = "") -> None:
        self.identity = identity
        self.dimension: int = model.get_embedding_dimension()
        self.window: int = model.max_seq_length
        self._model = model
        self._tokenizer = model.tokenizer
        self._tokenizer_lock = threading.Lock()  # its truncation is state of the tokenizer, not of the call
        self._prefixes: dict[TextRole, str] = {"query": query_prefix, "passage": passage_prefix}
        self._room = {role: self._room_beside(prefix) for role, prefix in self._prefixes.items()}
        self._memo: Recent[Vectors] = Recent(MEMO_VECTORS)
        self._memo_lock = threading.Lock()
        self._workers = single_threaded_workers() if model.device.type == "cpu" else None

    def encode(self, texts: Sequence[str], *, role: TextRole = "passage") -> Vectors:
        """Returns one row a text, shape (n, dimension), each of length 1. A text longer than the window is cut off.

        `role`: "query" for texts that passages are searched for; "passage" for all others, also for texts that are compared
        with each other.
        """
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        read = self._add_prefix(texts, role)
        vectors = self._recall(read)
        new = [text for text in dict.fromkeys(read) if text not in vectors]
        if new:
            made = dict(zip(new, self._embed(new), strict=True))
            self._keep(made)
            vectors |= made
        return np.stack([vectors[text] for text in read])

    def remember(self, texts: Sequence[str], vectors: Vectors, *, role: TextRole = "passage") -> None:
        """Caches vectors that this embedder made before (row i belongs to text i)."""
        self._keep(dict(zip(self._add_prefix(texts, role), vectors, strict=True)))

    def parts(self, text: str, *, role: TextRole = "passage") -> list[str]:
        """The text itself if it fits the window with its prefix; else consecutive pieces that do and together hold every word.

        A piece has no prefix yet: `encode` adds it. `fitting_pieces` says where pieces end.
        """
        return fitting_pieces(text, self._token_starts(text), self._room[role])

    def _add_prefix(self, texts: Sequence[str], role: TextRole) -> list[str]:
        return [self._prefixes[role] + text for text in texts]

    def _room_beside(self, prefix: str) -> int:
        """How many tokens of a text fit the window beside the special tokens and the prefix."""
        room: int = self.window - self._tokenizer.num_special_tokens_to_add()
        if prefix:
            room -= len(self._token_starts(prefix)) + PREFIX_JOINT
        if room < 1:
            raise InputError(
                f"The prefix '{prefix}' leaves texts no room in the window of {self.window} tokens of {self.identity}. "
                "Shorten it in the model's card."
            )
        return room

    def _keep(self, vectors: Mapping[str, Vectors]) -> None:
        with self._memo_lock:
            for text, vector in vectors.items():
                if self._memo.get(text) is None:
                    self._memo.keep(text, np.array(vector, dtype=np.float32), 1)

    def _recall(self, texts: Sequence[str]) -> dict[str, Vectors]:
        with self._memo_lock:
            return {text: found for text in texts if (found := self._memo.get(text)) is not None}

    def _embed(self, texts: Sequence[str]) -> list[Vectors]:
        if self._workers is not None:
            return list(self._workers.map(self._embed_alone, texts))
        return self._embed_in_fixed_shapes(texts)

    def _embed_alone(self, text: str) -> Vectors:
        with self._tokenizer_lock:
            features = self._tokenizer([readable(text)], truncation=True, max_length=self.window, return_tensors="pt")
        vector: Vectors = self._forward(features)[0]
        return vector

    def _embed_in_fixed_shapes(self, texts: Sequence[str]) -> list[Vectors]:
        by_length: dict[int, list[int]] = {}
        for position, text in enumerate(texts):
            tokens = min(len(self._token_starts(text)), self.window)
            by_length.setdefault(min(self.window, (tokens // GPU_LENGTH_STEP + 1) * GPU_LENGTH_STEP), []).append(position)
        vectors: list[Vectors] = [np.empty(0, dtype=np.float32)] * len(texts)
        for length, positions in by_length.items():
            for begin in range(0, len(positions), GPU_BATCH):
                batch = positions[begin : begin + GPU_BATCH]
                padded = [readable(texts[position]) for position in batch] + [""] * (GPU_BATCH - len(batch))
                with self._tokenizer_lock:
                    features = self._tokenizer(
                        padded, truncation=True, padding="max_length", max_length=length, return_tensors="pt"
                    )
                for position, vector in zip(batch, self._forward(features), strict=False):
                    vectors[position] = vector
        return vectors

    def _forward(self, features: Mapping[str, "torch.Tensor"]) -> Vectors:
        import torch

        with torch.inference_mode():
            on_device = {name: tensor.to(self._model.device) for name, tensor in features.items()}
            embedding = self._model(on_device)["sentence_embedding"].float()
            vectors: Vectors = torch.nn.functional.normalize(embedding, dim=1).cpu().numpy()
            return vectors

    def _token_starts(self, text: str) -> list[int]:
        with self._tokenizer_lock:
            return token_starts(self._tokenizer, readable(text))


def token_starts(tokenizer: Any, text: str) -> list[int]:
    """The offset at which each token of a text by itself begins, without special tokens; no text is too long."""
    encoded = tokenizer(text, truncation=False, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    return [start for start, _ in encoded["offset_mapping"]]


def fitting_pieces(text: str, starts: Sequence[int], room: int) -> list[str]:
    """The text itself if it has at most `room` tokens; else consecutive pieces that have, together holding every word.

    A piece ends where a sentence ends; within a sentence that is too long by itself, where a word ends; within such a word,
    where a token ends.

    Args:
        text: to be cut.
        starts: the offset at which each of its tokens begins, ascending.
        room: the most tokens of a piece, from 1.
    """
    if len(starts) <= room:
        return [text]
    sentence_starts = [span.start for span in sentences(text)]
    word_starts = [word.start() for word in re.finditer(r"\S+", text)]
    pieces = []
    begin = first = 0
    while begin < len(text) and first + room < len(starts):
        earliest = starts[first]
        limit = max(starts[first + room], earliest + 1)  # where one character is more tokens than fit, it stands alone
        cut = last_between(sentence_starts, earliest, limit) or last_between(word_starts, earliest, limit) or limit
        pieces.append(text[begin:cut].strip())
        begin, first = cut, bisect_left(starts, cut)
    return [*pieces, *filter(None, [text[begin:].strip()])]


def last_between(positions: Sequence[int], begin: int, limit: int) -> int | None:
    """The last of the sorted positions in (begin, limit]; None if there is none."""
    index = bisect_right(positions, limit) - 1
    return positions[index] if index >= 0 and positions[index] > begin else None


def single_threaded_workers() -> ThreadPoolExecutor:
    """One worker thread for each core, each running torch on one thread.

    One, because sums that are split over threads round differently with their number. It is not reset for other threads: MKL's
    number is that of the whole process, so setting it again would change the workers' too.
    """
    import torch

    cores = len(os.sched_getaffinity(0))
    return ThreadPoolExecutor(cores, thread_name_prefix="embedder", initializer=torch.set_num_threads, initargs=(1,))


def load_embedder(card: ModelCard, device: str | None = None) -> Embedder:
    """Loads the embedder of `card` from this machine onto `device`: by default a GPU if there is one; downloads nothing.

    Raises:
        MissingError: its weights are not on this machine.
        InputError: the card is no embedder's, the weights do not match it, or its prefixes fill the window.
    """
    card.require_role("embedder", "embedder")
    folder = weights_folder(card)
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # type: ignore[no-untyped-call]
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        model = SentenceTransformer(
            str(folder),
            device=device,
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"dtype": getattr(torch, card.precision)},
        )
    except Exception as error:  # of any class, where a file is damaged
        raise loading_error(folder, f"the embedder '{card.name}'", error) from error
    embedder = Embedder(card.identity, model.eval(), query_prefix=card.query_prefix, passage_prefix=card.passage_prefix)
    if card.dimension not in (None, embedder.dimension) or card.window not in (None, embedder.window):
        raise InputError(
            f"The card of '{card.name}' says dimension {card.dimension} and window {card.window}, "
            f"but its weights have {embedder.dimension} and {embedder.window}."
        )
    return embedder


#: Those in use that `open_embedder` loaded: identity, folder and device of each.
_opened: WeakValueDictionary[tuple[str, Path | None, str | None], Embedder] = WeakValueDictionary()
_opening = threading.Lock()


def open_embedder(name: str, device: str | None = None) -> Embedder | None:
    """The embedder that a user named: a card, a path, or `NO_EMBEDDER` for none; `device` as for `load_embedder`.

    One that is in use is not loaded again: word overlap then shares the retriever's, and the vectors that it remembers.

    Raises:
        MissingError, InputError: as `load_card` and `load_embedder`.
    """
    if name == NO_EMBEDDER:
        return None
    card = load_card(name)
    with _opening:
        wanted = (card.identity, card.folder, device)
        if (there := _opened.get(wanted)) is None:
            there = _opened[wanted] = load_embedder(card, device)
        return there
