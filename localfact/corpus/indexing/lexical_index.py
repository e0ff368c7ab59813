"""BM25 over passages (bm25s), in memory or as an immutable folder that is mapped into memory."""

import re
import unicodedata
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localfact.text import normalise, words

#: Scripts written without spaces: Thai to Myanmar, Khmer, kana and ideographs. They are indexed by pairs of characters.
SPACELESS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
ACCENT = re.compile("[\u0300-\u036f]")
POSSESSIVE = re.compile("['’]s?$")


class LexicalIndex:
    """BM25 scores of passages for a text; a passage is known by its position. Made by `of` or `load`."""

    def __init__(self, bm25: Any) -> None:
        self._bm25 = bm25

    @classmethod
    def of(cls, texts: Iterable[str]) -> "LexicalIndex":
        """Builds the index of at least one text, in the order given; the texts are read one by one."""
        import bm25s

        met: dict[str, int] = {}
        found = [array("i", (met.setdefault(term, len(met)) for term in terms(text))) for text in texts]
        # The library numbers terms from a set, in an order that differs between processes; these ids are the same in all.
        ids = {term: position for position, term in enumerate(["", *sorted(met)])}
        final = np.array([ids[term] for term in met], dtype=np.int32)
        for own in found:
            own[:] = array("i", final[own].tobytes())
        bm25 = bm25s.BM25()
        # The library divides by the mean length, which is 0 if no passage has a term; 0 / 0 then does no harm.
        with np.errstate(invalid="ignore"):
            bm25.index((found, ids), create_empty_token=False, show_progress=False)
        return cls(bm25)

    @classmethod
    def load(cls, folder: Path) -> "LexicalIndex":
        """Maps a saved index into memory. Raises OSError, ValueError or KeyError when a file is missing or damaged."""
        import bm25s

        return cls(bm25s.BM25.load(folder, mmap=True, show_progress=False))

    def save(self, folder: Path) -> None:
        """Writes the index as a folder of arrays and a vocabulary."""
        self._bm25.save(folder, show_progress=False)

    def __len__(self) -> int:
        return int(self._bm25.scores["num_docs"])

    def scores(self, text: str) -> NDArray[np.float32]:
        """BM25 of every passage for the text, shape (passages,); 0 where they share no term."""
        vocabulary = self._bm25.vocab_dict
        ids = [vocabulary[term] for term in terms(text) if term in vocabulary]
        scores: NDArray[np.float32] = self._bm25.get_scores_from_ids(ids)
        return scores


def terms(text: str) -> Iterator[str]:
    """The terms that BM25 counts: words without case, accents and possessive endings; hyphenated words in their parts.

    In scripts without spaces, every pair of neighbouring characters.
    """
    run = ""
    for word in words(normalise(text)):
        if SPACELESS.match(word):
            run += word
            continue
        yield from pairs(run)
        run = ""
        plain = unicodedata.normalize("NFC", ACCENT.sub("", unicodedata.normalize("NFKD", word)))
        yield from filter(None, POSSESSIVE.sub("", plain).split("-"))
    yield from pairs(run)


def pairs(run: str) -> Iterator[str]:
    """Every two neighbouring characters; a single character by itself."""
    return iter([run[i : i + 2] for i in range(len(run) - 1)] or ([run] if run else []))
