"""One engine and one corpus for everybody who asks, opened once: for services and other tools, whose calls overlap.

    with SharedAssessor(options=Options(corpus="index/mine")) as shared:
        assessment = await shared.check({"response": "Marie Curie was born in Warsaw."})

All of it lives on an event loop in a thread of its own, so that whoever serves requests stays free to answer.
"""

import asyncio
import atexit
import contextlib
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Self

from localfact.api.arguments import read_options, require_count
from localfact.api.check import row_of
from localfact.api.evaluate import Job, Opened, Opener, execute_async, prepare, usual_concurrency
from localfact.api.judged_by import JudgedBy, judged_by
from localfact.api.report import how_decided
from localfact.api.sample import with_recording
from localfact.errors import InputError, MissingError
from localfact.inputs.json_rows import Row
from localfact.inputs.responses import MAX_WORDS, response_of
from localfact.llm.cores.sharing import Start, start_engine
from localfact.methods.fitted_map import with_fitted_map
from localfact.methods.option_group import check_options
from localfact.methods.options import Options
from localfact.methods.web import Notes
from localfact.methods.wiring import Configuration, configure, explaining_what_is_shown, wire, with_cache
from localfact.pipeline import Costs, Observer, Pipeline, failed_assessment, ignore_reports
from localfact.records import Assessment, Claim, Failure, Passage, Response
from localfact.report.summary import Summary
from localfact.runs.failures import or_failure
from localfact.runs.progress import Progress
from localfact.runs.record import RunSettings
from localfact.runs.run_folder import RELATIONS_FILE
from localfact.runtime.loop_thread import LoopThread
from localfact.text import word_count

NO_CORPUS = (
    "{what}, and the options name no corpus. Name one, as corpus=DIR; `localfact corpus build PAGES --out DIR` makes one from "
    "your own pages."
)
#: The longest query of a search, in characters.
LONGEST_QUERY = 2_000


class FoundPassage(NamedTuple):
    """A passage found for a query: the rank counts from 1, and a higher score is better."""

    rank: int
    score: float
    passage: Passage


class SharedAssessor:
    """Checks texts, runs evaluations and searches the corpus, for any number of callers at once.

    As many texts are at work at once as in an `eval` with the same options; those of evaluations are counted by themselves, so
    that a long one keeps nobody waiting.

    Args:
        method, options, max_words: as of `evaluate`; without a corpus, only texts that bring passages can be judged.
        concurrency: how many responses are assessed at once; None for the default of the method.

    Raises:
        InputError: an option that cannot be used, or a search of the web: what is judged must not depend on what others asked.
        MissingError: weights or a corpus are missing.
    """

    def __init__(
        self,
        method: str | None = None,
        options: Options | None = None,
        *,
        max_words: int = MAX_WORDS,
        concurrency: int | None = None,
    ) -> None:
        options = read_options(options)
        require_count("max_words", max_words)
        require_count("concurrency", concurrency)
        if options.live:
            raise InputError("What others hand over is judged by a finished corpus: `localfact corpus fetch` makes one.")
        self.options, self.method, self.max_words = options, method, max_words
        self.chosen: Configuration = configure(method, options)
        self.at_once = concurrency or usual_concurrency(self.chosen)
        self._opened = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._checks, self._rows = asyncio.Semaphore(self.at_once), asyncio.Semaphore(self.at_once)
        self._pipeline: Pipeline | None = None
        self._notes: Notes = tuple
        self._thread = LoopThread("assessor")

    @classmethod
    def of_names(cls, method: str | None, chosen: Mapping[str, Any], max_words: int = MAX_WORDS) -> Self:
        """With options by their names, as in a file of settings; closed when Python ends.

        Raises:
            InputError: also for a name that no option has.
        """
        shared = cls(method, with_recording(check_options(Options, chosen), of_sample=False), max_words=max_words)
        atexit.register(shared.close)
        return shared

    @property
    def judged_by(self) -> JudgedBy:
        """Who judges, and what a verdict is not."""
        return judged_by(self.settings)

    @property
    def how(self) -> str:
        """How verdicts are reached, in sentences."""
        return how_decided(self.settings.assessment)

    @property
    def settings(self) -> RunSettings:
        """What decides the verdicts, as a run of the same would have them."""
        return RunSettings.read(self.chosen.settings.plain())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def open(self) -> None:
        """Loads models and corpus now and waits for that; else the first call does.

        Raises:
            MissingError, CorpusError, EngineError: as `wire`.
        """
        self._thread.wait(self._wire_once())

    async def open_meanwhile(self) -> None:
        """As `open`, without blocking the caller's loop."""
        await self._thread.call(self._wire_once())

    def close(self) -> None:
        """Ends every open call and closes what was opened."""
        atexit.unregister(self.close)
        with contextlib.suppress(Exception):  # at the end of Python some of it has ended by itself
            self._thread.end(lambda: self._opened.aclose())

    async def check(self, row: str | Row) -> Assessment:
        """Assesses one text, as `api.check`: a text, or a row of a file of responses, which may bring passages and claims.

        Raises:
            InputError: it is neither, nothing of it can be judged, or it is too long. LocalFactError: as `Pipeline.assess`.
        """
        response = self._read({"id": "text", **row_of(row)})
        if response.problem is not None:
            raise InputError(response.problem)
        return await self._thread.call(self._check(response))

    def check_or_fail(self, row: str | Row) -> Assessment:
        """Assesses one response and waits for that, from any thread; one that cannot be used comes back as failed.

        Args:
            row: as of `check`.

        Raises:
            InputError: it is neither. LocalFactError: one that concerns all responses: something missing or damaged.
        """
        response = self._read(row_of(row))

        async def judge() -> Assessment | Failure:
            return await or_failure(self._check(response))

        assessment = self._thread.wait(judge())
        return failed_assessment(0, response, assessment.reason, Costs()) if isinstance(assessment, Failure) else assessment

    def _read(self, row: Row) -> Response:
        """A row as a response, whose `problem` says why it cannot be judged."""
        response = response_of(row, 1, self.max_words)
        if (words := word_count(response.text)) > self.max_words:
            problem = f"The text has {words:,} words, and {self.max_words:,} at most are taken here (max_words)."
            return response.model_copy(update={"problem": problem})
        if response.problem is None and response.evidence is None and self.options.corpus is None:
            problem = NO_CORPUS.format(what="No evidence: the response brings no passages")
            return response.model_copy(update={"problem": problem})
        return response

    async def search(self, query: str) -> list[FoundPassage]:
        """The passages that a check would read for a claim of these words, best first: as many as a claim gets (`k`).

        Raises:
            InputError: there is nothing to look for, or it is too long. MissingError: there is no corpus.
            CorpusError: the index is damaged.
        """
        if not isinstance(query, str) or not query.strip() or len(query) > LONGEST_QUERY:
            raise InputError(f"A query is a text of 1 to {LONGEST_QUERY:,} characters.")
        if self.options.corpus is None:
            raise MissingError(NO_CORPUS.format(what="A search needs a corpus"))
        return await self._thread.call(self._search(query))

    def job_of(self, data: Path, out: Path) -> Job:
        """An evaluation of a file into a run folder, ready to run.

        Raises:
            InputError: nothing in the file is a row, or it cannot be used.
        """
        return prepare(data, method=self.method, options=self.options, out=out, max_words=self.max_words)

    async def evaluate(self, job: Job, progress: Progress) -> Summary:
        """Runs an evaluation of `job_of`, or goes on with it, by the shared engine; files are touched on the caller's loop.

        Raises:
            LocalFactError: one that stops the whole run, as of `execute`. What is done is in the run folder.
        """
        await self.open_meanwhile()
        settings = job.chosen.settings.model_copy(update={"assessment": self.chosen.settings.assessment})
        job = replace(job, chosen=replace(job.chosen, settings=settings))
        return await execute_async(job, None, self.at_once, False, progress, start_engine, self._opener(job.out))

    async def _wire_once(self) -> Pipeline:
        async with self._opening, AsyncExitStack() as opened:  # what fails leaves nothing open, and the next call tries anew
            if self._pipeline is None:
                pipeline, notes = wire(self.chosen, opened, observe=ignore_reports)
                chosen = replace(self.chosen, settings=await with_fitted_map(self.chosen.settings, pipeline))
                if self.options.relations_cache is not None:
                    pipeline = with_cache(pipeline, chosen, self.options.relations_cache, opened)
                self._pipeline, self._notes, self.chosen, self._opened = pipeline, notes, chosen, opened.pop_all()
        return self._pipeline

    async def _check(self, response: Response) -> Assessment:
        pipeline = await self._wire_once()
        async with self._checks:
            return await explaining_what_is_shown(pipeline).assess(0, response, Costs(), ignore_reports)

    async def _search(self, query: str) -> list[FoundPassage]:
        pipeline = await self._wire_once()
        claim = Claim(id="query", text=query)
        async with self._checks:
            found = await pipeline.retriever.retrieve(Response(id="query", text=query), [claim])
        passages = {passage.id: passage for passage in found.passages}
        return [FoundPassage(hit.rank, hit.score, passages[hit.passage_id]) for hit in found.hits.get(claim.id, ())]

    def _opener(self, out: Path) -> Opener:
        """Opens, for the run in a folder, what assesses its responses: the shared engine."""

        def open_shared(chosen: Configuration, opened: AsyncExitStack, progress: Progress, start: Start) -> Opened:
            rows = _RowsOfRun(self, out / RELATIONS_FILE)
            opened.push_async_callback(rows.close)
            return Opened(rows, self._notes, self.at_once)

        return open_shared


class _RowsOfRun:
    """Assesses the responses of one run by the shared engine; what relation models say is kept in the run's own folder."""

    def __init__(self, shared: SharedAssessor, cache: Path) -> None:
        self._shared, self._cache = shared, cache
        self._opened = AsyncExitStack()
        self._pipeline: Pipeline | None = None

    async def assess(self, index: int, response: Response, costs: Costs, observe: Observer) -> Assessment:
        return await self._shared._thread.call(self._assess(index, response, costs, observe))

    async def close(self) -> None:
        await self._shared._thread.call(self._opened.aclose())

    async def _assess(self, index: int, response: Response, costs: Costs, observe: Observer) -> Assessment:
        pipeline = await self._shared._wire_once()
        if self._pipeline is None:  # the folder is there when the first response is assessed
            cached = self._shared.options.relations_cache is not None
            self._pipeline = pipeline if cached else with_cache(pipeline, self._shared.chosen, self._cache, self._opened)
        async with self._shared._rows:
            return await self._pipeline.assess(index, response, costs, observe)
