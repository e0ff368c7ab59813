"""One of K shares of the responses of a run: every K-th response, so that K machines can run them without a cluster."""

from dataclasses import dataclass
from typing import Self

from localfact.errors import InputError


@dataclass(frozen=True)
class Shard:
    """Share `number` of `of`, counted from 1. Prints as "3/8".

    Raises:
        InputError: there is no such share.
    """

    number: int
    of: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of:
            raise InputError(f"Of {self.of} shards there is no number {self.number}; they are counted from 1.")

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads what `str` wrote.

        Raises:
            InputError: it is none.
        """
        number, _, of = text.partition("/")
        if not (number.isdecimal() and of.isdecimal()):
            raise InputError(f"{text!r} is no shard such as 3/8.")
        return cls(int(number), int(of))

    def indices(self, count: int) -> range:
        """The places of its responses among so many; neighbours go to different shards, as long responses stand together."""
        return range(self.number - 1, count, self.of)
