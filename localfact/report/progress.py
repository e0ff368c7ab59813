"""Shows how far a run is: responses, claims, relations, time left. On standard error, so that output stays clean."""

import time
from collections import Counter
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
            TextColumn("responses  {task.fields[detail]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self._counts: Counter[str] = Counter()
        self._done = self._total = self._printed = 0
        self._begun = time.monotonic()
        self._task = self._bar.add_task("starting", total=None, detail="")

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
        self._begun = time.monotonic()
        self._bar.update(self._task, total=responses, completed=done, description="resuming" if done else "assessing")

    def count(self, stage: str, number: int) -> None:
        """A stage handled so many more."""
        self._counts[stage] += number
        self._bar.update(self._task, detail=self.detail())

    def detail(self) -> str:
        """What was handled so far; with a language model also how quickly, and what share of the prompts was cached."""
        counts = self._counts
        parts = [f"{counts['claims']} claims"]
        if counts["relations"]:
            parts.append(f"{counts['relations']} relations")
        if counts["prompt_tokens"]:
            rate = (counts["prompt_tokens"] + counts["output_tokens"]) / max(1e-9, time.monotonic() - self._begun)
            parts.append(f"{rate:,.0f} tokens/s ({counts['cached_tokens'] / counts['prompt_tokens']:.0%} of prompts cached)")
        return ", ".join(parts)

    def response_done(self, assessment: Assessment) -> None:
        """One more response is on the disk."""
        self.row_done()

    def row_done(self) -> None:
        """One more row of a pass is on the disk."""
        self._done += 1
        self._bar.update(self._task, advance=1, description="assessing")
        if not self._console.is_terminal and self._done - self._printed >= max(1, self.SHARE * self._total):
            self._printed = self._done
            self._console.print(f"{self._done} of {self._total} responses, {self.detail()}", highlight=False)
