"""Segments: parts of an index over some passages each, written once; several together hold all current passages."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from localfact.corpus.indexing.dense_index import DenseIndex
from localfact.corpus.indexing.lexical_index import LexicalIndex
from localfact.corpus.indexing.numbered_folders import NumberedFolders
from localfact.corpus.indexing.passage_ids import PassageIds
from localfact.runtime.files import NEW

IDS_FILE = "passages.npy"
#: When an add leaves so many small segments, it joins them.
MOST_SEGMENTS = 16
#: The most passages of a segment that is joined of others; one with more than half of that, or of all passages, is not small.
LARGEST = 1 << 20


#: What a segment has of its passages: vectors or words.
Part = TypeVar("Part", DenseIndex, LexicalIndex)


class Segment(NamedTuple, Generic[Part]):
    """The ids of a segment's passages, some of which may be outdated, and its data on them, in the same order."""

    ids: PassageIds
    part: Part


class SegmentFolders(NumberedFolders, Generic[Part]):
    """The segments of one sort.

    Args:
        folder, name: see NumberedFolders.
        load: reads a part.
        join: of the given segments, a part of exactly these passages.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        load: Callable[[Path], Part],
        join: Callable[[PassageIds, Sequence[Segment[Part]]], Part],
    ) -> None:
        super().__init__(folder, name)
        self._load: Callable[[Path], Part] = load
        self._join: Callable[[PassageIds, Sequence[Segment[Part]]], Part] = join

    def segment(self, name: str) -> Segment[Part]:
        """Opens one. Raises OSError, ValueError or RuntimeError where it is damaged."""
        segment = Segment(PassageIds.load(self.folder / name / IDS_FILE), self._load(self.folder / name))
        if len(segment.ids) != len(segment.part):
            raise ValueError(f"{name} names {len(segment.ids)} passages and has {len(segment.part)}")
        return segment

    def write(self, ids: PassageIds, part: Part) -> str:
        """Writes a segment and returns its name."""
        with self.new() as folder:
            ids.save(folder / IDS_FILE)
            part.save(folder)
        return folder.name.removesuffix(NEW)

    def missing(self, ids: PassageIds, most: int) -> list[PassageIds]:
        """The passages that no segment holds, in blocks of so many."""
        known = np.zeros(len(ids), dtype=bool)
        for name in self.names():
            found = ids.positions(PassageIds.load(self.folder / name / IDS_FILE).all)
            known[found[found >= 0]] = True
        new = np.flatnonzero(~known)
        return [PassageIds(ids.take(new[begin : begin + most])) for begin in range(0, len(new), most)]

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
        """The segments that hold these passages, after joining the new ones, and the small ones where there are many of these.

        So an add writes in proportion to what it adds, now and then all small segments again, and never a large one.
        """
        held = self.holding(ids, listed)
        held = self._join_small(ids, held, [name for name in held if name not in listed])
        small = [name for name, segment in held.items() if len(segment.ids) <= min(len(ids), LARGEST) / 2]
        return held if len(small) < MOST_SEGMENTS else self._join_small(ids, held, small)

    def one(self, ids: PassageIds, listed: Collection[str]) -> dict[str, Segment[Part]]:
        """These passages as a single segment, which is made of several if need be."""
        held = self.holding(ids, listed)
        is_one = len(held) == 1 and all(len(segment.ids) == len(ids) for segment in held.values())
        return held if is_one else self._merge(ids, list(held.values()))

    def _join_small(self, ids: PassageIds, held: Mapping[str, Segment[Part]], names: Sequence[str]) -> dict[str, Segment[Part]]:
        """The segments with those of these names joined, as many to one as are not larger than LARGEST together."""
        places = {name: found[found >= 0] for name, (_, found) in zip(held, find_owners(ids, held.values()), strict=True)}
        result = {name: segment for name, segment in held.items() if name not in names}
        for group in groups({name: len(places[name]) for name in names}):
            if len(group) == 1:
                result[group[0]] = held[group[0]]
                continue
            own = PassageIds(ids.take(np.sort(np.concatenate([places[name] for name in group]))))
            result |= self._merge(own, [held[name] for name in group])
        return result

    def _merge(self, ids: PassageIds, segments: Sequence[Segment[Part]]) -> dict[str, Segment[Part]]:
        name = self.write(ids, self._join(ids, segments))
        return {name: self.segment(name)}


def groups(sizes: Mapping[str, int]) -> list[list[str]]:
    """The names in their order, as many to a group as are not larger than LARGEST together."""
    found: list[list[str]] = []
    room = 0
    for name, size in sizes.items():
        if size > room or not found:
            found.append([])
            room = LARGEST
        found[-1].append(name)
        room -= size
    return found


def find_owners(ids: PassageIds, segments: Iterable[Segment[Part]]) -> Iterator[tuple[Part, NDArray[np.int64]]]:
    """The part of each segment and the positions of its passages among the ids.

    -1 where a passage is not among them, or an earlier segment has it.
    """
    known = np.zeros(len(ids), dtype=bool)
    for segment in segments:
        found = ids.positions(segment.ids.all)
        found[(found >= 0) & known[found]] = -1
        known[found[found >= 0]] = True
        yield segment.part, found
