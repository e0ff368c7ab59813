"""What runs on a machine of the cluster: opens models and corpus once, then assesses responses. Ray itself is in workers.py."""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from localfact.errors import InputError
from localfact.methods.options import Options
from localfact.methods.settings import windowless
from localfact.methods.web import Notes
from localfact.methods.wiring import configure, wire
from localfact.pipeline import Costs, ResponseAssessor, ignore_reports
from localfact.records import Assessment, Failure, Response
from localfact.runs.failures import or_failure
from localfact.runs.journal import differences
from localfact.runtime.offline import go_offline

#: Opens what assesses responses, and registers with the stack what must be closed.
Make = Callable[[AsyncExitStack], tuple[ResponseAssessor, Notes]]


class Answer(NamedTuple):
    """What became of one response: its assessment or why there is none, what that cost, and what was counted on the way."""

    result: Assessment | Failure
    costs: Costs
    counted: Mapping[str, int]


class Worker:
    """Assesses responses with models and a corpus that it opens once. An error at opening is raised by `ready`.

    Args:
        make: opens them, and blocks until they are there.
    """

    def __init__(self, make: Make) -> None:
        self._opened = AsyncExitStack()
        self._error: Exception | None = None
        try:
            self._assessor, self._notes = make(self._opened)
        except Exception as error:
            self._error = error

    async def ready(self) -> None:
        """Returns when responses can be assessed.

        Raises:
            LocalFactError: they cannot: weights or a corpus are missing here, for example.
        """
        if self._error is not None:
            raise self._error

    async def assess(self, index: int, response: Response) -> Answer:
        """Assesses one response.

        Raises:
            LocalFactError: one that would meet every other response too.
        """
        costs, counted = Costs(), Counter[str]()

        def observe(what: str, number: int) -> None:
            counted[what] += number

        result = await or_failure(self._assessor.assess(index, response, costs, observe))
        costs.ledger.watch = costs.ledger.observe = None
        return Answer(result, costs, counted)

    async def notes(self) -> tuple[str, ...]:
        """Notes about the run as a whole."""
        return tuple(self._notes())

    async def close(self) -> None:
        """Closes what was opened."""
        await self._opened.aclose()


@dataclass(frozen=True)
class OpenAssessor:
    """Opens what a method with these options needs, on whichever machine it is called.

    Attributes:
        method, options: as for `configure`, with absolute paths.
        settings: what must come of them, `data` left out, as plain values.
        secret: of the machine of the command, so that models are sent the same everywhere.
        offline: whether the process is cut off from the network first.
    """

    method: str
    options: Options
    settings: Mapping[str, Any]
    secret: bytes = field(repr=False)
    offline: bool = False

    def __call__(self, opened: AsyncExitStack) -> tuple[ResponseAssessor, Notes]:
        """Returns the assessor and the notes of its evidence.

        Raises:
            InputError: here something decides results that is not as on the machine of the command.
        """
        if self.offline:
            go_offline()
        chosen = configure(self.method, self.options)
        found = windowless(chosen.settings.plain())
        if changes := differences(windowless(self.settings), found):
            raise InputError(f"This worker would decide otherwise than the machine of the command: {'; '.join(changes)}.")
        return wire(chosen, opened, observe=ignore_reports, secret=self.secret)
