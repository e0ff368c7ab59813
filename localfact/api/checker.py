"""Checks responses as they come, one or many at a time: models and corpus are opened by the first and kept for all.

For tools that hand over one response after the other (`integrations/`); `evaluate` has a whole file, and a run folder.
"""

import atexit
import contextlib
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

from localfact.api.evaluate import NO_EVIDENCE, usual_concurrency
from localfact.api.sample import with_recording
from localfact.errors import InputError
from localfact.inputs.responses import MAX_WORDS, response_of
from localfact.llm.cores.loop_thread import LoopThread
from localfact.methods.option_group import check_options
from localfact.methods.options import Options
from localfact.methods.wiring import configure, wire, with_cache
from localfact.pipeline import Costs, Pipeline, failed
from localfact.records import Assessment, Failure, Response
from localfact.runs.failures import or_failure
from localfact.runs.progress import SILENT
from localfact.runs.record import RunSettings


class Checker:
    """Judges responses by one method. Any thread may ask it, and several at once; what it opens is closed when Python ends.

    Args:
        method, options, max_words: as of `evaluate`.

    Attributes:
        settings: what decides the verdicts, as a run of the same would have them.
        at_once: how many responses at the same time use what there is well.

    Raises:
        InputError: an option that cannot be used; the web cannot be searched meanwhile. MissingError: as `evaluate`.
    """

    def __init__(self, method: str | None = None, options: Options | None = None, max_words: int = MAX_WORDS) -> None:
        options = with_recording(options or Options(), of_sample=False)
        if options.live:
            raise InputError("Another tool's responses are judged by a finished corpus: `localfact corpus fetch` makes one.")
        self._chosen = configure(method, options)
        self._max_words = max_words
        self._pipeline: Pipeline | None = None
        self._opened = AsyncExitStack()
        self._thread = LoopThread("localfact-checker")
        self.settings = RunSettings.read(self._chosen.settings.plain())
        self.at_once = usual_concurrency(self._chosen)
        atexit.register(self.close)

    @classmethod
    def of(cls, method: str | None, chosen: Mapping[str, Any], max_words: int = MAX_WORDS) -> "Checker":
        """With options by their names, as in a file of settings.

        Raises:
            InputError: also for a name that no option has.
        """
        unknown = sorted(set(chosen) - set(Options.model_fields))
        if unknown:
            raise InputError(f"There is no option '{unknown[0]}': `localfact eval --help` lists them, with _ for each -.")
        return cls(method, check_options(Options, chosen), max_words)

    def check(self, row: Mapping[str, Any], index: int = 0) -> Assessment:
        """Assesses one response and returns when that is done; one that cannot be used comes back as failed, with the reason.

        Args:
            row: as in a file of responses (docs/inputs.md). index: its position in the input, from 0.

        Raises:
            LocalFactError: one that concerns all responses: something missing or damaged.
        """
        response = response_of(dict(row), index + 1, self._max_words)
        if response.problem is None and response.evidence is None and self._chosen.options.corpus is None:
            response = response.model_copy(update={"problem": NO_EVIDENCE.format(who="the response brings")})
        return self._thread.wait(self._assess(index, response))

    async def _assess(self, index: int, response: Response) -> Assessment:
        if self._pipeline is None:  # blocks the thread's loop: nothing can be assessed without it
            pipeline, _ = wire(self._chosen, self._opened, observe=SILENT.count)
            cache = self._chosen.options.relations_cache
            self._pipeline = pipeline if cache is None else with_cache(pipeline, self._chosen, cache, self._opened)
        costs = Costs()
        assessment = await or_failure(self._pipeline.assess(index, response, costs, SILENT.count))
        return failed(index, response, assessment.reason, costs) if isinstance(assessment, Failure) else assessment

    def close(self) -> None:
        """Closes what was opened, if that can still be done; a second call does nothing."""
        atexit.unregister(self.close)
        opened, self._opened = self._opened.pop_all(), AsyncExitStack()
        with contextlib.suppress(Exception):  # at the end of Python some of it has ended by itself
            self._thread.wait(opened.aclose())
        self._thread.end(lambda: None)
