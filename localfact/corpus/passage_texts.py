"""Indexes the passages of one kind; their texts are a mapping that reads them from the store, several at a time."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping

from localfact.corpus.indexing.dense_index import PassageEmbedder
from localfact.corpus.indexing.passage_ids import PassageIds
from localfact.corpus.indexing.segments import Segments
from localfact.corpus.passage_reader import PassageReader
from localfact.corpus.passages import PassageKind
from localfact.errors import CorpusError

#: The most texts in memory: with passages of 4,000 characters, some megabytes.
MOST_AHEAD = 1_000


class PassageTexts(Mapping[str, str]):
    """All passages of a kind, id -> text, ascending by id; `ids` are the ids.

    Sequential access reads ahead, more and more at a time; random access reads little. The store's passages of that kind must
    not change meanwhile.
    """

    def __init__(self, reader: PassageReader, kind: PassageKind) -> None:
        self._reader = reader
        self.ids = PassageIds.of(reader.passage_ids(kind))
        self._texts: dict[str, str] = {}
        self._end = 0
        self._width = 1

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def __getitem__(self, passage: str) -> str:
        """The text of that passage.

        Raises:
            KeyError: there is no such passage. CorpusError: the store lacks its text, or is damaged.
        """
        if passage not in self._texts:
            position = bisect_left(self.ids, passage)
            if position == len(self.ids) or self.ids[position] != passage:
                raise KeyError(passage)
            self._width = min(2 * self._width, MOST_AHEAD) if position == self._end else 1
            wanted = self.ids[position : position + self._width]
            self._end = position + len(wanted)
            self._texts = self._reader.texts_of(wanted)
            if len(self._texts) < len(wanted):
                raise CorpusError("The store of the corpus lacks texts of its passages. Copy or build the corpus again.")
        return self._texts[passage]


def index_passages(
    reader: PassageReader,
    kind: PassageKind,
    segments: Segments,
    embedder: PassageEmbedder | None,
    progress: Callable[[int, int], None],
    *,
    merge: bool,
) -> tuple[int, int | None]:
    """Brings the index over a kind up to date with the store; see `Segments.add`.

    Args:
        progress: called as (passages with vectors, all passages).

    Returns:
        How many passages there are and, with an embedder, how many vectors they have. Without passages there is no index.
    """
    texts = PassageTexts(reader, kind)
    if not texts:
        segments.remove_others(())
        return 0, None
    return segments.add(texts, embedder, lambda done: progress(done, len(texts)), ids=texts.ids, merge=merge)
