"""The ids of an index's passages, ascending, mapped into memory: a million Python strings would take 70 MB and a second."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import overload

import numpy as np
from numpy.typing import NDArray


class PassageIds(Sequence[str]):
    """Ids as a sequence of strings over an array of UTF-8, ascending and unique, shape (passages,).

    UTF-8 sorts as the strings do.
    """

    def __init__(self, array: NDArray[np.bytes_]) -> None:
        self._array = array

    @classmethod
    def of(cls, ids: Iterable[str]) -> "PassageIds":
        """The ids given, in ascending order; no id may end with NUL, which an array of fixed width cannot store."""
        return cls(np.array([passage.encode() for passage in sorted(ids)], dtype=np.bytes_))

    @classmethod
    def load(cls, file: Path) -> "PassageIds":
        """Maps a saved file. Raises OSError or ValueError when it is missing or damaged."""
        array = np.asarray(np.load(file, mmap_mode="r"))
        if array.dtype.kind != "S" or array.ndim != 1:
            raise ValueError(f"{file.name} holds no ids of passages")
        return cls(array)

    def save(self, file: Path) -> None:
        """Writes them as a NumPy array of bytes."""
        np.save(file, self._array)

    def __len__(self) -> int:
        return len(self._array)

    @overload
    def __getitem__(self, position: int) -> str: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[str, ...]: ...
    def __getitem__(self, position: int | slice) -> str | tuple[str, ...]:
        if isinstance(position, slice):
            return tuple(passage.decode() for passage in self._array[position].tolist())
        return str(self._array[position].decode())

    def __iter__(self) -> Iterator[str]:
        return (passage.decode() for passage in self._array.tolist())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str) or len(other) != len(self):
            return False
        return all(one == another for one, another in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # equal to tuples, which hash otherwise

    @property
    def all(self) -> NDArray[np.bytes_]:
        """All ids as the underlying array of UTF-8 bytes, ascending, shape (passages,); not a copy."""
        return self._array

    def same(self, other: "PassageIds") -> bool:
        """Whether the other holds the same ids, without making strings of them."""
        return np.array_equal(self._array, other._array)

    def take(self, positions: NDArray[np.int64]) -> NDArray[np.bytes_]:
        """The ids at these positions, as an array of UTF-8."""
        return self._array[positions]

    def positions(self, ids: NDArray[np.bytes_]) -> NDArray[np.int64]:
        """The position of each of these ids, -1 where there is none; shape as given."""
        if not len(self):
            return np.full(len(ids), -1, dtype=np.int64)
        fitting = ids.astype(self._array.dtype)  # search in another width would copy the whole array
        # Numbers are compared faster than bytes; of ids that begin alike the bytes decide.
        found = np.minimum(np.searchsorted(beginnings(self._array), beginnings(fitting)), len(self) - 1)
        unsure = self._array[found] != fitting
        if unsure.any():
            found[unsure] = np.minimum(np.searchsorted(self._array, fitting[unsure]), len(self) - 1)
        same = (self._array[found] == fitting) & (fitting == ids)
        return np.where(same, found, -1)


def beginnings(ids: NDArray[np.bytes_]) -> NDArray[np.uint64]:
    """The first eight bytes of each id as a number, in the order of the ids."""
    return ids.astype("S8").view(">u8").astype(np.uint64)
