"""Which passages have which terms, how often: in memory, or as an immutable folder that is mapped into memory.

What is kept are counts and not weights: a weight depends on all passages of a corpus, and a count on its passage alone, so that
passages can be added without those before them being read again. `bm25.py` weighs them.
"""

import re
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from localfact.text import normalise, words

#: Scripts written without spaces: Thai to Myanmar, Khmer, kana and ideographs. They are indexed by pairs of characters.
SPACELESS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
ACCENT = re.compile("[\u0300-\u036f]")
POSSESSIVE = re.compile("['’]s?$")
#: Postings that are sorted at once when indexes are joined: some 350 MB.
POSTINGS_AT_ONCE = 1 << 23
#: The arrays of an index, each in a file of its own: UTF-8 of the terms in ascending order and where each begins, where each
#: term's postings begin, of these the positions of passages and the counts, and how many terms each passage has.
ARRAYS = ("terms", "term_starts", "starts", "positions", "counts", "lengths")

Integers = NDArray[np.integer[Any]]


class Terms:
    """The terms of an index in ascending order, as UTF-8 in one array, and where each begins, shape (terms + 1,)."""

    def __init__(self, text: NDArray[np.uint8], starts: Integers) -> None:
        self.text = text
        self.starts = starts

    @classmethod
    def of(cls, terms: Sequence[bytes]) -> "Terms":
        """The terms given, which are in order."""
        starts = np.zeros(len(terms) + 1, dtype=np.int64)
        np.cumsum([len(term) for term in terms], out=starts[1:])
        return cls(np.frombuffer(b"".join(terms), dtype=np.uint8), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[bytes]:
        return map(self._at, range(len(self)))

    def place(self, term: bytes) -> int | None:
        """The position of a term; None where it is not in the index."""
        found = bisect_left(range(len(self)), term, key=self._at)
        return found if found < len(self) and self._at(found) == term else None

    def _at(self, place: int) -> bytes:
        return self.text[self.starts[place] : self.starts[place + 1]].tobytes()


class Postings(NamedTuple):
    """The passages that have a term, by position, ascending, and how often each has it; both of shape (postings,)."""

    positions: Integers
    counts: Integers


class LexicalIndex:
    """The terms of passages and their counts; a passage is known by its position. Made by `of`, `load` or `join`.

    Attributes:
        terms: all of them, in ascending order.
        lengths: how many each passage has, repeated ones too, shape (passages,).
    """

    def __init__(self, terms: Terms, starts: Integers, postings: Postings, lengths: Integers) -> None:
        self.terms = terms
        self._starts = starts
        self._postings = postings
        self.lengths = lengths

    @classmethod
    def of(cls, texts: Iterable[str]) -> "LexicalIndex":
        """Counts the terms of the texts, in the order given; the texts are read one by one."""
        met: dict[str, int] = {}
        found, lengths = array("i"), array("i")
        for text in texts:
            before = len(found)
            found.extend([met.setdefault(term, len(met)) for term in terms(text)])
            lengths.append(len(found) - before)
        order, rank = order_terms([utf8(term) for term in met])
        places = rank[np.frombuffer(found, dtype=np.int32)]
        passages = np.repeat(np.arange(len(lengths)), lengths)
        sums = sum_postings(places, passages, np.ones(len(found), dtype=np.int32), len(lengths), len(order))
        return cls._make(order, [sums], np.array(lengths, dtype=np.int32))

    @classmethod
    def join(cls, parts: Sequence["tuple[LexicalIndex, Integers]"], passages: int) -> "LexicalIndex":
        """One index of several.

        Args:
            parts: each with the new position of each of its passages, -1 for one that is left out.
            passages: how many new positions there are; each is given once.
        """
        met: dict[bytes, int] = {}
        found = [np.array([met.setdefault(term, len(met)) for term in part.terms], dtype=np.int64) for part, _ in parts]
        order, rank = order_terms(list(met))
        lengths = np.zeros(passages, dtype=np.int32)
        numbers = np.zeros(len(order), dtype=np.int64)
        ranks = [rank[own] for own in found]
        for (part, new), own in zip(parts, ranks, strict=True):
            numbers[own] += np.diff(part._starts)
            lengths[new[new >= 0]] = part.lengths[new >= 0]
        sums = []
        for first, last in pairwise(edges(numbers)):
            chosen = [part._between(new, own, first, last) for (part, new), own in zip(parts, ranks, strict=True)]
            places, positions, counts = (np.concatenate(column) for column in zip(*chosen, strict=True))
            sums.append(sum_postings(places, positions, counts, passages, last - first))
        return cls._make(order, sums, lengths)

    def _between(self, new: Integers, ranks: Integers, first: int, last: int) -> tuple[Integers, Integers, Integers]:
        """The postings of the terms of these ranks: rank after the first, new position and count of each that has one."""
        begin, end = np.searchsorted(ranks, (first, last))
        own = slice(self._starts[begin], self._starts[end])
        moved = new[self._postings.positions[own]]
        kept = moved >= 0
        places = np.repeat(ranks[begin:end] - first, np.diff(self._starts[begin : end + 1]))
        return places[kept], moved[kept], self._postings.counts[own][kept].astype(np.int32)

    @classmethod
    def _make(cls, order: Sequence[bytes], sums: Sequence["Sums"], lengths: Integers) -> "LexicalIndex":
        """The index of sorted terms, from the postings of consecutive ranges of them."""
        numbers = np.concatenate([each.numbers for each in sums])
        used = np.flatnonzero(numbers)  # a joined index may have lost all passages of a term
        return cls(
            Terms.of([order[place] for place in used]),
            np.concatenate([[0], np.cumsum(numbers[used])]).astype(np.int64),
            Postings(np.concatenate([each.positions for each in sums]), narrow(np.concatenate([each.counts for each in sums]))),
            lengths,
        )

    @classmethod
    def load(cls, folder: Path) -> "LexicalIndex":
        """Maps a saved index into memory. Raises OSError or ValueError when a file is missing or damaged."""
        text, term_starts, starts, positions, counts, lengths = (
            np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r")) for name in ARRAYS
        )
        for name, each, total in (("term_starts", term_starts, len(text)), ("starts", starts, len(positions))):
            if each.ndim != 1 or not len(each) or each[0] != 0 or each[-1] != total or np.any(np.diff(each) < 0):
                raise ValueError(f"the places in {name}.npy are not those of the others")
        if len(starts) != len(term_starts) or len(counts) != len(positions) or positions.dtype.kind != "u":
            raise ValueError(f"{len(term_starts)} terms, {len(starts)} lists and {len(counts)} counts do not belong together")
        return cls(Terms(text, term_starts), starts, Postings(positions, counts), lengths)

    def save(self, folder: Path) -> None:
        """Writes the arrays into the folder."""
        arrays = (self.terms.text, self.terms.starts, self._starts, *self._postings, self.lengths)
        for name, each in zip(ARRAYS, arrays, strict=True):
            np.save(folder / f"{name}.npy", each)

    def __len__(self) -> int:
        return len(self.lengths)

    def postings(self, term: str) -> Postings:
        """The passages that have the term."""
        place = self.terms.place(utf8(term))
        begin, end = (0, 0) if place is None else (self._starts[place], self._starts[place + 1])
        return Postings(self._postings.positions[begin:end], self._postings.counts[begin:end])


class Sums(NamedTuple):
    """How many passages have each term of a range, and the postings of all of them, by term and position."""

    numbers: Integers
    positions: Integers
    counts: Integers


def sum_postings(places: Integers, passages: Integers, counts: Integers, width: int, terms: int) -> Sums:
    """Sorts postings, of which several may be of one term and passage: `places` below `terms`, `passages` below `width`."""
    key = places * max(1, width) + passages
    sorting = np.argsort(key, kind="stable")
    key = key[sorting]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    total = np.add.reduceat(counts[sorting], first) if len(first) else counts[:0]
    numbers = np.bincount(key[first] // max(1, width), minlength=terms)
    return Sums(numbers, (key[first] % max(1, width)).astype(np.uint32), total)


def order_terms(terms: Sequence[bytes]) -> tuple[list[bytes], Integers]:
    """The terms in their order, and the place of each of the given ones there."""
    order = sorted(range(len(terms)), key=terms.__getitem__)
    rank = np.empty(len(terms), dtype=np.int64)
    rank[order] = np.arange(len(terms))
    return [terms[place] for place in order], rank


def edges(numbers: Integers) -> list[int]:
    """The boundaries of consecutive ranges of terms that have some millions of postings each."""
    ends = np.cumsum(numbers)
    inner = np.searchsorted(ends, np.arange(POSTINGS_AT_ONCE, int(numbers.sum()), POSTINGS_AT_ONCE)) + 1
    return [*sorted({0, *inner[inner < len(numbers)].tolist()}), len(numbers)]


def utf8(term: str) -> bytes:
    """The term as UTF-8 bytes, as the index stores it (lone surrogates kept); these sort in the order of the terms."""
    return term.encode("utf-8", "surrogatepass")


def narrow(counts: Integers) -> Integers:
    """The counts in the smallest unsigned type that holds them."""
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))


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
