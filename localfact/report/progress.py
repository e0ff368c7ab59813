"""Shows progress on standard error: responses, claims, relations, tokens, time left."""

import math
import time
from collections import Counter
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

#: The counts that are shown where they are above 0.
COUNTED = (
    "searches",
    "searches_failed",
    "pages",
    "pages_failed",
    "claims",
    "claim_pairs",
    "relations",
    "citations",
    "key_facts",
    "passages_indexed",
)


class TerminalProgress:
    """A progress bar on `console`, with a line of details below it; where that is no terminal, a line now and then.

    Without a terminal, a line is printed when another SHARE of the responses is done, but none within SECONDS of the one
    before: what is quick says little there.
    """

    SHARE, SECONDS = 0.1, 30.0

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("responses "),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
        )
        self._counts: Counter[str] = Counter()
        self._before = self._done = self._total = self._printed = 0
        self._started, self._printed_at = time.monotonic(), -math.inf
        #: When the first response was done, and how much work there was then.
        self._first: tuple[float, float] | None = None
        self._task = self._bar.add_task("loading", total=None, left="")
        self._live = Live(console=console, get_renderable=self.draw, transient=True)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def draw(self) -> RenderableType:
        """The bar, and the details below it."""
        self._bar.update(self._task, left=self.time_left())
        return Group(self._bar.get_renderable(), Text(self.detail(), style="dim"))

    def begin(self, responses: int, done: int) -> None:
        """Called first: the number of responses, and how many of them an earlier call has done."""
        self._total = responses
        self._before = self._done = self._printed = done
        self._started, self._printed_at = time.monotonic(), -math.inf
        self._first = None
        self._bar.reset(self._task, total=responses, completed=done, description="resuming" if done else "working", left="")

    def count(self, stage: str, number: int) -> None:
        """Adds to a count."""
        self._counts[stage] += number

    def detail(self) -> str:
        """The counts so far; with a language model also tokens a second and the share of prompt tokens that was cached.

        Tokens a second count prompts, cached ones included, and answers.
        """
        counts = self._counts
        parts = [f"{counts[name]:,} {name.replace('_', ' ')}" for name in COUNTED if counts[name]]
        if counts["prompt_tokens"]:
            rate = (counts["prompt_tokens"] + counts["output_tokens"]) / max(1e-9, time.monotonic() - self._started)
            parts.append(f"{rate:,.0f} tokens/s ({counts['cached_tokens'] / counts['prompt_tokens']:.0%} of prompts cached)")
        return ", ".join(parts)

    def time_left(self) -> str:
        """The time that the remaining responses take at the pace of this run; "" before the second is done.

        Where they are counted in words, by words, and a row that cannot be used takes no time. Of what is under way between
        nothing and all is done: the geometric mean of both reckonings is the least wrong. So it is of the paces since the
        beginning, which has a model loaded in it, and since the first was done, when others were nearly done.
        """
        done, total = self._work_done(), self._counts["words_to_do"] or self._total - self._before
        if self._first is None or self._done == self._total:
            return ""
        now, (at, then) = time.monotonic(), self._first
        if done <= then:
            return ""
        whole = (now - self._started) / done
        since = (now - at) / (done - then) or whole
        seconds = round(math.sqrt(whole * since) * (total - done))
        return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02} left"

    def _work_done(self) -> float:
        """What is done and half done of this call's work: in words, where they are counted, else in responses."""
        if self._counts["words_to_do"]:
            return math.sqrt(self._counts["words_begun"] * self._counts["words_done"])
        return float(self._done - self._before)

    def row_done(self) -> None:
        """Called when one more response, or row of a pass, is on the disk."""
        self._done += 1
        if self._first is None and self._work_done():
            self._first = time.monotonic(), self._work_done()
        self._bar.update(self._task, advance=1, description="working")
        if not self._console.is_terminal and self._line_is_due():
            self._printed, self._printed_at = self._done, time.monotonic()
            parts = (f"{self._done} of {self._total} responses", self.detail(), self.time_left())
            self._console.print(", ".join(filter(None, parts)), highlight=False)

    def _line_is_due(self) -> bool:
        enough = self._done - self._printed >= max(1, self.SHARE * self._total)
        return enough and time.monotonic() - self._printed_at >= self.SECONDS


#: What is said of one text when a stage of it has ended, or its pairs are known.
STAGES = {
    "claims": "{:,} claims found; reading what there is about them",
    "claim_pairs": "{:,} pairs of claims to compare",
    "pairs": "{:,} pairs of a claim and a passage to relate",
    "citations": "{:,} citations to check in their sources",
    "key_facts": "{:,} key facts of the pages to look for",
    "relations": "{:,} pairs related; finding the sentences that verdicts rest on",
}


class TextProgress(TerminalProgress):
    """Progress on one text: which stage it is in. Where the console is no terminal, a line for each."""

    def begin(self, responses: int, done: int) -> None:
        """Called when everything is loaded."""
        super().begin(responses, done)
        self._say("reading the text")

    def count(self, stage: str, number: int) -> None:
        """Adds to a count; the end of a stage is said."""
        super().count(stage, number)
        if stage in STAGES and number:
            self._say(STAGES[stage].format(number))

    def _say(self, what: str) -> None:
        self._bar.update(self._task, description=what)
        if not self._console.is_terminal:
            self._console.print(f"{what[0].upper()}{what[1:]} ...", highlight=False)
