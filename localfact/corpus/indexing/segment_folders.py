"""Segments: parts of an index over some passages each, written once; several together hold all current passages."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from localfact.corpus.indexing.numbered_folders import NumberedFolders
from localfact.corpus.indexing.passage_ids import PassageIds
from localfact.runtime.files import NEW

IDS_FILE = "passages.npy"
#: When an add leaves more segments than this, it merges all but one that has more than half of the passages.
MOST_SEGMENTS = 16


class Saved(Protocol):
    """A part of an index that a folder can hold."""

    def __len__(self) -> int:
        """How many passages it has."""

    def save(self, folder: Path) -> None:
        """Writes it."""


Part = TypeVar("Part", bound=Saved)


class Segment(NamedTuple, Generic[Part]):
    """The ids of its passages, some perhaps not current any more, and what it has of them, in the same order."""

    ids: PassageIds
    part: Part


class SegmentFolders(NumberedFolders, Generic[Part]):
    """The segments of one sort.

    Args:
        folder, name: see NumberedFolders. load: reads a part. join: of the given segments, a part of exactly these passages.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        load: Callable[[Path], Part],
        join: Callable[[PassageIds, Sequence[Segment[Part]]], Part],
    ) -> None:
        super().__init__(folder, name)
        self._load = load
        self._join = join

    def segment(self, name: str) -> Segment[Part]:
        """Opens one.

        Raises:
            OSError, ValueError, RuntimeError: it is damaged.
        """
        segment = Segment(PassageIds.load(self.folder / name / IDS_FILE), self._load(self.folder / name))
        if len(segment.ids) != len(segment.part):
            raise ValueError(f"{name} names {len(segment.ids)} passages and has {len(segment.part)}")
        return segment

    def write(self, ids: PassageIds, part: Part) -> str:
        """Writes one and returns its name."""
        with self.new() as folder:
            ids.save(folder / IDS_FILE)
            part.save(folder)
        return folder.name.removesuffix(NEW)

    def missing(self, ids: PassageIds, most: int) -> Iterator[tuple[PassageIds, int]]:
        """The passages that no segment holds, so many at a time, and how many passages were held before each block."""
        known = np.zeros(len(ids), dtype=bool)
        for name in self.names():
            found = ids.positions(PassageIds.load(self.folder / name / IDS_FILE).all)
            known[found[found >= 0]] = True
        new = np.flatnonzero(~known)
        for begin in range(0, len(new), most):
            yield PassageIds(ids.take(new[begin : begin + most])), len(ids) - len(new) + begin

    def holding(self, ids: PassageIds, listed: Collection[str]) -> dict[str, Segment[Part]]:
        """The segments needed for these passages, those that are listed first.

        Raises:
            ValueError: there are passages that none has; or as in `segment`.
        """
        known = np.zeros(len(ids), dtype=bool)
        held = {}
        for name in sorted(self.names(), key=lambda name: name not in listed):
            segment = self.segment(name)
            found = ids.positions(segment.ids.all)
            found = found[found >= 0]
            if not known[found].all():
                held[name] = segment
                known[found] = True
        if not known.all():
            raise ValueError(f"{int((~known).sum())} passages are in no segment")
        return held

    def few(self, ids: PassageIds, listed: Collection[str]) -> dict[str, Segment[Part]]:
        """The segments needed for these passages, merged where they are many."""
        held = self.holding(ids, listed)
        if len(held) <= MOST_SEGMENTS:
            return held
        large = {name: segment for name, segment in held.items() if 2 * len(segment.ids) > len(ids)}
        rest = np.ones(len(ids), dtype=bool)
        for segment in large.values():
            found = ids.positions(segment.ids.all)
            rest[found[found >= 0]] = False
        small = [segment for name, segment in held.items() if name not in large]
        return large | self._merged(PassageIds(ids.take(np.flatnonzero(rest))), small)

    def one(self, ids: PassageIds, listed: Collection[str]) -> dict[str, Segment[Part]]:
        """One segment of exactly these passages."""
        held = self.holding(ids, listed)
        is_one = len(held) == 1 and all(len(segment.ids) == len(ids) for segment in held.values())
        return held if is_one else self._merged(ids, list(held.values()))

    def _merged(self, ids: PassageIds, segments: Sequence[Segment[Part]]) -> dict[str, Segment[Part]]:
        name = self.write(ids, self._join(ids, segments))
        return {name: self.segment(name)}


def owned(ids: PassageIds, segments: Iterable[Segment[Part]]) -> Iterator[tuple[Part, NDArray[np.int64]]]:
    """The part of each segment and the positions of its passages among the ids.

    -1 where a passage is not among them, or an earlier segment has it.
    """
    known = np.zeros(len(ids), dtype=bool)
    for segment in segments:
        found = ids.positions(segment.ids.all)
        found[(found >= 0) & known[found]] = -1
        known[found[found >= 0]] = True
        yield segment.part, found
