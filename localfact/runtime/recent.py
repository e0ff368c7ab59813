"""A least-recently-used cache with a budget for the sizes of its values."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """Values by name; where their sizes exceed the budget, the least recently used ones are dropped. One thread at a time.

    Args:
        most: the budget: the largest sum of sizes. A value that is larger by itself is not kept.
    """

    def __init__(self, most: int) -> None:
        self._room = self._most = most
        self._values: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()

    def get(self, name: Hashable) -> Value | None:
        """The value of that name; None if it is no longer cached."""
        found = self._values.get(name)
        if found is None:
            return None
        self._values.move_to_end(name)
        return found[0]

    def keep(self, name: Hashable, value: Value, size: int) -> list[Value]:
        """Adds a value under a name that has none, and returns those that had to go for it."""
        gone: list[Value] = []
        if size > self._most:
            return gone
        self._values[name] = (value, size)
        self._room -= size
        while self._room < 0:
            _, (oldest, freed) = self._values.popitem(last=False)
            self._room += freed
            gone.append(oldest)
        return gone
