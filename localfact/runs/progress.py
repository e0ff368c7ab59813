"""Who is told how far a run or a pass over a file is. `report/progress.py` draws it in a terminal."""

from typing import Protocol


class Progress(Protocol):
    """Is told how far the work is."""

    def begin(self, rows: int, done: int) -> None:
        """There are so many rows, of which so many were done before."""
        ...

    def count(self, what: str, number: int) -> None:
        """So many more of something: "claims", "relations", "searches", "prompt_tokens" (pipeline.Observer has them all)."""
        ...

    def row_done(self) -> None:
        """One more row is on the disk."""
        ...


class Silent:
    """Progress that nobody watches: for the Python interface and for tests."""

    def begin(self, rows: int, done: int) -> None:
        """Shows nothing."""

    def count(self, what: str, number: int) -> None:
        """Shows nothing."""

    def row_done(self) -> None:
        """Shows nothing."""


SILENT = Silent()
