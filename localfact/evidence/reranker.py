"""Reorders passages with a cross-encoder that reads each together with the query; off by default.

It costs a pass of the model a passage, so only the candidates that an index found are reranked.
"""

import hashlib
import math
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence

from localfact.errors import EngineError, InputError
from localfact.models.cards import load_card, resolve_card
from localfact.models.cross_encoder import CrossEncoder, Tokens, batches_of
from localfact.models.embedder import fitting_pieces
from localfact.models.model_card import ModelCard
from localfact.text import readable

#: Part of a reranker's identity; increased when texts are cut or joined in another way, as that changes scores.
READING = 1
#: A query gets at most the room divided by this; the texts get the rest.
QUERY_SHARE = 2
#: How many scores are cached, each under a hash of its pair.
MEMO_SCORES = 65_536
HASH_BYTES = 16


class Reranker:
    """A cross-encoder with one output, in memory. Safe to call from several threads.

    Args:
        card: of a reranker, whose weights are on this machine.
        device: "cuda", "cuda:1", "cpu"; None for a GPU if there is one.

    Attributes:
        identity: see `reranker_identity`.
        window: the most tokens of one input, special ones included.

    Raises:
        MissingError: its weights are not on this machine.
        InputError: the card is no reranker's, the weights have not exactly one output, or the window is too small.
    """

    def __init__(self, card: ModelCard, *, device: str | None = None) -> None:
        card = resolve_card(card)
        self._name = card.name
        self._encoder = CrossEncoder(card, "reranker", device=device, precision=card.precision)
        outputs = self._encoder.model.config.num_labels
        if outputs != 1:
            raise InputError(f"The model '{card.name}' has {outputs} outputs; a reranker has one, how well a text answers.")
        if self._encoder.room < QUERY_SHARE:
            raise InputError(f"The window of {self._encoder.window} tokens of '{card.name}' is too small to read anything in.")
        self.identity = reranker_identity(card)
        self.window = self._encoder.window
        self._memo: OrderedDict[bytes, float] = OrderedDict()
        self._memo_lock = threading.Lock()
        self._closed = threading.Event()

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers the query: the model's raw output, any real number; higher is better.

        Only scores of one query and one model can be compared. A text longer than the window is read in pieces of whole
        sentences, and its score is the best piece's; of a query longer than half of the window only the beginning is read. On a
        CPU a score is the same to the last bit whatever is asked with it, on a GPU up to rounding.

        Raises:
            EngineError: the reranker was closed. InputError: its weights are damaged.
        """
        self._go_on()
        asked = self._cut_query(readable(query))
        keys = {text: pair_hash(asked, readable(text)) for text in dict.fromkeys(texts)}
        known = self._recall(keys.values())
        new = {key: readable(text) for text, key in keys.items() if key not in known}
        if new:
            known |= self._read(asked, new)
        return [known[keys[text]] for text in texts]

    def close(self) -> None:
        """Ends the worker threads after the batches that they are reading; open calls fail, and so do later ones."""
        self._closed.set()
        self._encoder.workers.shutdown()

    def _cut_query(self, query: str) -> str:
        starts, limit = self._encoder.starts(query), self._encoder.room // QUERY_SHARE
        return query if len(starts) <= limit else query[: starts[limit]].rstrip()

    def _read(self, query: str, texts: Mapping[bytes, str]) -> dict[bytes, float]:
        """The scores of texts, by the hashes of their pairs."""
        room = self._encoder.room - self._encoder.length(query)
        owners: list[bytes] = []
        pieces: list[Tokens] = []
        for key, text in texts.items():
            for piece in fitting_pieces(text, self._encoder.starts(text), room):
                owners.append(key)
                # Truncation only happens where a tokenizer makes more tokens of two texts together than of each by itself.
                pieces.append(self._encoder.tokens(query, piece, cut="only_second"))
        batches = list(batches_of([piece.length for piece in pieces], self._encoder.shape))
        outputs = self._ask([[pieces[place] for place in places] for places in batches])
        best: dict[bytes, float] = {}
        for places, scores in zip(batches, outputs, strict=True):
            for place, score in zip(places, scores, strict=True):
                best[owners[place]] = max(score, best.get(owners[place], score))
        self._keep(best)
        return best

    def _ask(self, batches: Sequence[Sequence[Tokens]]) -> list[list[float]]:
        try:
            return list(self._encoder.workers.map(self._outputs, batches))
        except RuntimeError:
            self._go_on()  # the threads take nothing new once they were ended
            raise

    def _outputs(self, batch: Sequence[Tokens]) -> list[float]:
        self._go_on()
        scores = [score for (score,) in self._encoder.outputs(batch)]
        if not all(map(math.isfinite, scores)):
            raise InputError(f"The reranker '{self._name}' answers with numbers that are none (NaN): its weights are damaged.")
        return scores

    def _go_on(self) -> None:
        if self._closed.is_set():
            raise EngineError("The reranker was closed while it was asked. What was retrieved before stands.")

    def _recall(self, keys: Iterable[bytes]) -> dict[bytes, float]:
        with self._memo_lock:
            found = {key: self._memo[key] for key in keys if key in self._memo}
            for key in found:
                self._memo.move_to_end(key)
            return found

    def _keep(self, scores: Mapping[bytes, float]) -> None:
        with self._memo_lock:
            self._memo.update(scores)
            while len(self._memo) > MEMO_SCORES:
                self._memo.popitem(last=False)


def pair_hash(query: str, text: str) -> bytes:
    """The cache key of a pair. The texts are joined by NUL, which neither holds: both are `readable`."""
    return hashlib.blake2b(f"{query}\0{text}".encode(), digest_size=HASH_BYTES).digest()


def reranker_identity(card: ModelCard) -> str:
    """The identity of the reranker of `card`, without loading it.

    It holds all that decides a score but the machine: the weights' revision, their precision, the window that the card states,
    and the version of the code that reads long texts.
    """
    card = resolve_card(card)
    window = f"+window={card.window}" if card.window else ""
    return f"{card.identity}+{card.precision}{window}+reading={READING}"


def open_reranker(name: str) -> Reranker:
    """Loads the reranker that a user named by a card, a path, or a hub id, from this machine; downloads nothing.

    Raises:
        MissingError, InputError: as `load_card` and `Reranker`.
    """
    return Reranker(load_card(name))
