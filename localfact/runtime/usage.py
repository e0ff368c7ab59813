"""Counts what each response costs: calls of a language model by stage, and searches and pages as they are sent.

Table 3 of FastFact is counted from what was really sent.

A stage calls an engine, in which a layer (`llm/layers/metering.py`) adds the usage of each call to the ledger of the current
context. Coroutines and threads started in the context share the ledger, so no stage hands costs on.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from math import fsum
from typing import Annotated

from pydantic import Field

from localfact.records import Record

Count = Annotated[int, Field(ge=0)]


class Usage(Record):
    """What one call cost.

    Attributes:
        requests: number of prefills: 1, or one for each node of the labels' tree in `choose`.
        prompt_tokens: tokens sent, over all its requests.
        cached_tokens: those of them that the prefix cache had.
        output_tokens: tokens generated; 0 for a choice, which decodes nothing.
        seconds: wall-clock time from the call to its answer, with the time in the engine's queue.
    """

    requests: Count = 1
    prompt_tokens: Count = 0
    cached_tokens: Count = 0
    output_tokens: Count = 0
    seconds: Annotated[float, Field(ge=0)] = 0.0


#: The figures that are the same in every run with the same settings; the others depend on batching and caching.
REPEATABLE = ("calls", "requests", "prompt_tokens", "output_tokens")
#: Those of choices among labels.
CHOSEN = ("choices", "mass")


@dataclass
class StageUsage:
    """The sums of one stage; `masses`: of each choice, the probability that its labels had together."""

    calls: int = 0
    requests: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    masses: list[float] = field(default_factory=list)

    @property
    def choices(self) -> int:
        """How many choices among labels there were."""
        return len(self.masses)

    @property
    def mass(self) -> float:
        """The sum of `masses` over all choices of the stage; independent of their order, and 0 without any."""
        return fsum(self.masses)

    def add(self, usage: Usage) -> None:
        """Counts one more call."""
        self.calls += 1
        self.requests += usage.requests
        self.prompt_tokens += usage.prompt_tokens
        self.cached_tokens += usage.cached_tokens
        self.output_tokens += usage.output_tokens
        self.seconds += usage.seconds


@dataclass
class Ledger:
    """The calls of one response, by stage, and what else it sent (searches, pages), which differs from run to run.

    `watch` is called with the usage of each call, `observe` with every other count; both for progress.
    `window`: tokens of the language model's, where a larger one might have split or cut a text otherwise.
    """

    stages: dict[str, StageUsage] = field(default_factory=dict)
    sent: Counter[str] = field(default_factory=Counter)
    watch: Callable[[Usage], None] | None = None
    observe: Callable[[str, int], None] | None = None
    window: int | None = None

    def weigh(self, stage: str, mass: float) -> None:
        """Adds the mass of a choice of that stage: the probability that its labels had together."""
        self.stages.setdefault(stage, StageUsage()).masses.append(mass)

    def add(self, stage: str, usage: Usage) -> None:
        """Adds a call of that stage."""
        self.stages.setdefault(stage, StageUsage()).add(usage)
        if self.watch is not None:
            self.watch(usage)

    def count(self, what: str, number: int) -> None:
        """Adds to a count of what was sent, or of what was asked for and not answered."""
        self.sent[what] += number
        if self.observe is not None:
            self.observe(what, number)

    def repeatable(self) -> dict[str, dict[str, float]]:
        """Stage -> the figures that every run with the same settings repeats: those in an Assessment.

        `choices` and `mass` (the sum over the choices) only where labels were chosen among.
        """
        return {
            stage: {name: getattr(sums, name) for name in (*REPEATABLE, *(CHOSEN if sums.choices else ()))}
            for stage, sums in sorted(self.stages.items())
        }

    def varying(self) -> Mapping[str, Mapping[str, float]]:
        """Stage -> cached tokens and seconds, which differ from run to run; for timings.jsonl."""
        return {
            stage: {"cached_tokens": sums.cached_tokens, "seconds": sums.seconds} for stage, sums in sorted(self.stages.items())
        }


_current: ContextVar[Ledger | None] = ContextVar("ledger", default=None)


@contextmanager
def usage_counted_in(ledger: Ledger) -> Iterator[None]:
    """Makes `ledger` the current one while the block runs, also in coroutines and threads that are started there."""
    token = _current.set(ledger)
    try:
        yield
    finally:
        _current.reset(token)


def current_ledger() -> Ledger:
    """The current ledger; a new one, whose counts are lost, if there is none."""
    return _current.get() or Ledger()


def count(what: str, number: int = 1) -> None:
    """Adds to a count of the current ledger."""
    current_ledger().count(what, number)


def note_window(window: int) -> None:
    """Notes on the current ledger that the model's window, in tokens, cut or split something."""
    current_ledger().window = window
