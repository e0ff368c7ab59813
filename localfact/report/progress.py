"""Shows how far a run is: responses, claims, relations, time left. On standard error, so that output stays clean."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from localfact.records import Assessment


class TerminalProgress:
    """A progress bar in a terminal; where standard error is no terminal, a line now and then."""

    #: Without a terminal, a line is printed each time another such share of the responses is done.
    SHARE = 0.1

    def __init__(self, console: Console) -> None:
        """Draws on `console`."""
        self._console = console
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("responses  {task.fields[claims]} claims  {task.fields[relations]} relations"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self._counts = {"claims": 0, "relations": 0}
        self._done = self._total = self._printed = 0
        self._task = self._bar.add_task("starting", total=None, claims=0, relations=0)

    def __enter__(self) -> Self:
        """Starts drawing."""
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Leaves the terminal as it was."""
        if self._console.is_terminal:
            self._bar.stop()

    def begin(self, responses: int, done: int) -> None:
        """There are so many responses, of which so many were done before."""
        self._total, self._done = responses, done
        self._bar.update(self._task, total=responses, completed=done, description="resuming" if done else "assessing")

    def count(self, stage: str, number: int) -> None:
        """A stage handled so many more."""
        self._counts[stage] = self._counts.get(stage, 0) + number
        self._bar.update(self._task, claims=self._counts["claims"], relations=self._counts["relations"])

    def response_done(self, assessment: Assessment) -> None:
        """One more response is on the disk."""
        self._done += 1
        self._bar.update(self._task, advance=1, description="assessing")
        if not self._console.is_terminal and self._done - self._printed >= max(1, self.SHARE * self._total):
            self._printed = self._done
            claims, relations = self._counts["claims"], self._counts["relations"]
            self._console.print(f"{self._done} of {self._total} responses, {claims} claims, {relations} relations")
