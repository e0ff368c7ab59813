"""The protocol for reports on how far a run or a pass is. `report/progress.py` draws them in a terminal."""

from typing import Protocol


class Progress(Protocol):
    """Gets reports on how far the work is."""

    def begin(self, rows: int, done: int) -> None:
        """Called first: the number of rows, and how many of them an earlier call has done."""
        ...

    def count(self, what: str, number: int) -> None:
        """Called with further counts: "claims", "relations", "searches", "prompt_tokens" and so on (see pipeline.Observer)."""
        ...

    def row_done(self) -> None:
        """Called when one more row is on the disk."""
        ...


class Silent:
    """Ignores all reports: for the Python interface and for tests."""

    def begin(self, rows: int, done: int) -> None:
        """Shows nothing."""

    def count(self, what: str, number: int) -> None:
        """Shows nothing."""

    def row_done(self) -> None:
        """Shows nothing."""


SILENT = Silent()
