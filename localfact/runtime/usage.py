"""What a response's way costs, kept per response: calls of a language model by stage, searches and pages as they are sent.

Table 3 of FastFact is counted from what was really sent.

A stage calls an engine; the engine's outermost wrapper (`llm/metered.py`) spends the usage of each call on the ledger of the
response that is on its way in this context. Coroutines and threads started there share the ledger: no stage hands costs on.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from localfact.records import Record

Count = Annotated[int, Field(ge=0)]


class Usage(Record):
    """What one call cost.

    Attributes:
        requests: how many prefills it took: 1, or one per branching of the labels' tree in `choose`.
        prompt_tokens: tokens sent, of all its requests; cached_tokens of them were not computed anew.
        output_tokens: tokens generated; 0 for a choice, which decodes nothing.
        seconds: wall-clock time from the call to its answer, waiting in the engine's queue included.
    """

    requests: Count = 1
    prompt_tokens: Count = 0
    cached_tokens: Count = 0
    output_tokens: Count = 0
    seconds: Annotated[float, Field(ge=0)] = 0.0


#: What of a usage is the same in every run with the same settings; the rest depends on what was batched and cached with what.
REPEATABLE = ("calls", "requests", "prompt_tokens", "output_tokens")


@dataclass
class StageUsage:
    """The sums of one stage."""

    calls: int = 0
    requests: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0

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

    `watch` is told of each call, `observe` of everything else, for progress.
    """

    stages: dict[str, StageUsage] = field(default_factory=dict)
    sent: Counter[str] = field(default_factory=Counter)
    watch: Callable[[Usage], None] | None = None
    observe: Callable[[str, int], None] | None = None

    def add(self, stage: str, usage: Usage) -> None:
        """Counts a call of that stage."""
        self.stages.setdefault(stage, StageUsage()).add(usage)
        if self.watch is not None:
            self.watch(usage)

    def count(self, what: str, number: int) -> None:
        """Counts something that was sent, or that was asked for and not given."""
        self.sent[what] += number
        if self.observe is not None:
            self.observe(what, number)

    def repeatable(self) -> dict[str, dict[str, int]]:
        """Stage -> what every run with the same settings counts alike; what an Assessment may keep."""
        return {stage: {name: getattr(sums, name) for name in REPEATABLE} for stage, sums in sorted(self.stages.items())}

    def varying(self) -> Mapping[str, Mapping[str, float]]:
        """Stage -> cached tokens and seconds, which differ from run to run; for timings.jsonl."""
        return {
            stage: {"cached_tokens": sums.cached_tokens, "seconds": sums.seconds} for stage, sums in sorted(self.stages.items())
        }


_current: ContextVar[Ledger | None] = ContextVar("ledger", default=None)


@contextmanager
def usage_counted_in(ledger: Ledger) -> Iterator[None]:
    """Everything spent inside, in coroutines and threads started there too, goes to `ledger`."""
    token = _current.set(ledger)
    try:
        yield
    finally:
        _current.reset(token)


def count(what: str, number: int = 1) -> None:
    """Counts something sent on the current ledger; nothing where nobody keeps one."""
    ledger = _current.get()
    if ledger is not None:
        ledger.count(what, number)


def spend(stage: str, usage: Usage) -> None:
    """Counts a call on the current ledger; nothing where nobody keeps one."""
    ledger = _current.get()
    if ledger is not None:
        ledger.add(stage, usage)
