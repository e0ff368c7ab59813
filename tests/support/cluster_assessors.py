"""What the workers of a cluster open in tests and in the benchmark to assess responses: it sleeps, or ends its own process."""

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from localfact.assembling import begin_assessment
from localfact.errors import EngineError, MissingError
from localfact.methods.web import Notes
from localfact.pipeline import Costs, Observer
from localfact.records import Assessment, Response


@dataclass
class Scripted:
    """Takes a moment for each response; one whose text begins with "kill" ends the process, with "dead" the engine.

    Attributes:
        seconds: how long it takes. log: a folder in which each process leaves the ids of what it was given.
        company: how many processes must have been given something before any of them is done.
    """

    seconds: float = 0.0
    log: Path | None = None
    company: int = 1

    async def assess(self, index: int, response: Response, costs: Costs, observe: Observer) -> Assessment:
        if self.log is not None:
            with (self.log / str(os.getpid())).open("a") as file:
                file.write(f"{response.id}\n")
            while len(list(self.log.iterdir())) < self.company:
                await asyncio.sleep(0.05)
        await asyncio.sleep(self.seconds)
        if response.text.startswith("kill"):
            os.kill(os.getpid(), signal.SIGKILL)
        if response.text.startswith("dead"):
            raise EngineError("The engine died.")
        if response.text.startswith("bug"):
            raise ZeroDivisionError("a bug")
        observe("claims", 1)
        return begin_assessment(index, response).model_copy(update={"status": "abstained"})


@dataclass
class Make:
    """Opens such an assessor; or nothing, where something is missing."""

    seconds: float = 0.0
    log: Path | None = None
    missing: str = ""
    closed: Callable[[], None] | None = field(default=None)
    company: int = 1

    def __call__(self, opened: AsyncExitStack) -> tuple[Scripted, Notes]:
        if self.missing:
            raise MissingError(self.missing)
        return Scripted(self.seconds, self.log, self.company), lambda: ("A note of the worker.",)
