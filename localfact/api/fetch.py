"""Fetches evidence ahead of an evaluation: claims are extracted, searched for, their pages kept in a corpus; nothing is judged.

What an evaluation of the same responses by the same method needs is then there, and can be carried to where there is no
network.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from localfact.api.evaluate import Job
from localfact.corpus.corpus import CorpusDescription
from localfact.errors import InputError, LocalFactError, SearchError
from localfact.evidence.queries import LLMQueries, QueryWriter, queries_of
from localfact.evidence.web_collector import WebCollector
from localfact.methods.engine import Start, open_engine, start_engine
from localfact.methods.evidence import Source, finish_corpus, open_source
from localfact.methods.options import Options
from localfact.methods.registry import LLM
from localfact.methods.wiring import assessor, extractor
from localfact.models.embedder import named_embedder
from localfact.pipeline import observe_usage
from localfact.records import Claim, Response
from localfact.runs.passes import SILENT_PASS, PassProgress
from localfact.runs.run import CONCERN_ALL, CONCURRENCY, CONCURRENCY_WITH_MODEL, complete
from localfact.runtime.tasks import for_each
from localfact.runtime.usage import Ledger, kept_in, tell
from localfact.stages import Assessor, ClaimExtractor

#: So many problems are told one by one.
PROBLEMS_TOLD = 20


@dataclass
class Gathered:
    """What a gathering did.

    Attributes:
        sent: what was searched and fetched now: "searches", "pages", "pages_failed".
        unanswered: how many claims' searches nobody answered. problems: of responses and searches, the first PROBLEMS_TOLD.
        without_page: reason -> addresses of the whole corpus that gave no page.
    """

    responses: int = 0
    responses_failed: int = 0
    claims: int = 0
    unanswered: int = 0
    sent: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    without_page: Mapping[str, int] = field(default_factory=dict)
    corpus: CorpusDescription | None = None

    def problem(self, text: str) -> None:
        """Keeps a problem to be told."""
        if len(self.problems) < PROBLEMS_TOLD:
            self.problems.append(text)

    @property
    def failed(self) -> bool:
        """Whether something is left that the same command would try again."""
        return bool(self.responses_failed or self.unanswered)


@dataclass(frozen=True)
class Road:
    """The part of the road that is gone: who extracts, says which claims need evidence, writes queries, collects."""

    extractor: ClaimExtractor
    assessor: Assessor
    queries: QueryWriter | None
    collector: WebCollector


def gather(
    job: Job,
    *,
    retry_failed: bool = False,
    concurrency: int | None = None,
    progress: PassProgress = SILENT_PASS,
    start: Start = start_engine,
) -> Gathered:
    """Fetches what the claims of a job need into its corpus, made if missing; what is there already is not asked for again.

    Args:
        job: from `evaluation.prepare`, with options that name a provider. retry_failed: asks again for pages that a time-out, a
            limit or a broken connection withheld. concurrency: responses at once.
        progress: is told how far it is. start: what loads the language model.

    Raises:
        LocalFactError: what stops all of it. What was fetched is in the corpus; the same command goes on.
    """
    if not job.options.live:
        raise InputError("Fetching evidence needs a provider: --provider duckduckgo, say.")
    embedder = named_embedder(job.options.embedder)
    source = open_source(job.options, embedder, job.settings, retry_failed=retry_failed)
    gathered = Gathered()
    whole = False
    try:
        at_once = concurrency or (CONCURRENCY_WITH_MODEL if job.options.names_model else CONCURRENCY)
        complete(gather_all(job, source, gathered, at_once, progress, start))
        whole = True
    finally:
        finish(source, job, gathered, whole=whole, progress=progress)
    return gathered


async def gather_all(job: Job, source: Source, gathered: Gathered, at_once: int, progress: PassProgress, start: Start) -> None:
    """All responses, so many at once; closes what it opened, in the event loop that it worked in."""
    if source.collector is None:
        raise AssertionError("a source that is live has a collector")
    engine = open_engine(job.options, job.facts, start) if job.options.names_model else None
    try:
        writes = engine is not None and job.settings["queries"] == LLM
        queries = LLMQueries(engine, seed=job.settings["seed"]) if writes and engine is not None else None
        road = Road(extractor(engine, job.settings), assessor(engine, job.settings), queries, source.collector)
        progress.begin(len(job.responses), 0)
        await for_each(job.responses, partial(gather_one, road=road, gathered=gathered, progress=progress), at_once)
    finally:
        await source.collector.aclose()
        if engine is not None:
            await engine.aclose()


async def gather_one(response: Response, *, road: Road, gathered: Gathered, progress: PassProgress) -> None:
    """One response; what it cannot do is counted and stops nobody else."""
    gathered.responses += 1
    ledger = Ledger(watch=partial(observe_usage, progress.count), observe=progress.count)
    try:
        if response.problem is not None:
            raise InputError(response.problem)
        with kept_in(ledger):
            claims = await claims_of(response, road)
            progress.count("claims", len(claims))
            gathered.claims += len(claims)
            queries = await queries_of(road.queries, response, claims)
            await for_each(queries.texts.values(), partial(search_one, road=road, gathered=gathered), len(claims))
    except CONCERN_ALL:
        raise
    except LocalFactError as error:
        gathered.responses_failed += 1
        gathered.problem(f"{response.id}: {error}")
    except Exception as error:  # one bad response must never stop the rest
        gathered.responses_failed += 1
        gathered.problem(f"{response.id}: {type(error).__name__}: {error}")
    gathered.sent += ledger.sent
    progress.row_done()


async def claims_of(response: Response, road: Road) -> list[Claim]:
    """The claims of the response that need evidence; none where it brings its own passages."""
    if response.evidence is not None:
        return []
    extraction = await road.extractor.extract(response)
    return list(road.assessor.unsettled(extraction.claims))


async def search_one(query: str, *, road: Road, gathered: Gathered) -> None:
    """One query and its pages; a search that nobody answers is counted, and asked again by the next run."""
    try:
        await road.collector.collect(query)
    except SearchError as error:
        tell("searches_failed")
        gathered.unanswered += 1
        gathered.problem(f"{query!r}: {error}")


def finish(source: Source, job: Job, gathered: Gathered, *, whole: bool, progress: PassProgress) -> None:
    """Indexes what was gathered, if all of it is there, and lets the corpus go."""
    if source.writer is None:
        return
    gathered.problems += source.notes()
    if whole:
        gathered.without_page = source.writer.store.failures()
    finish_corpus(source.writer, job.settings["passages"], whole=whole, observe=progress.count)
    gathered.corpus = source.writer.description


def summary_of(gathered: Gathered, options: Options) -> dict[str, Any]:
    """What a gathering did, as plain values."""
    description = gathered.corpus
    return {
        "corpus": str(options.corpus),
        "responses": gathered.responses,
        "responses_failed": gathered.responses_failed,
        "claims": gathered.claims,
        "claims_without_answer": gathered.unanswered,
        "searches_now": gathered.sent["searches"],
        "pages_now": gathered.sent["pages"],
        "pages_failed_now": gathered.sent["pages_failed"],
        **(description.model_dump(mode="json", exclude={"files", "unfinished"}) if description is not None else {}),
        "without_page": dict(gathered.without_page),
        "problems": gathered.problems,
    }
