"""Fetches evidence ahead of an evaluation: extracts claims, searches, and adds pages to a corpus; nothing is judged.

A later evaluation of the same responses by the same method finds all it needs there, also on a machine without a network.
"""

from collections import Counter
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from localfact.api.evaluate import Job, usual_concurrency
from localfact.corpus.corpus import CorpusDescription
from localfact.errors import InputError, SearchError
from localfact.evidence.queries import QueryWriter, queries_of
from localfact.evidence.web_collector import WebCollector
from localfact.llm.cores.sharing import Start, start_engine
from localfact.methods.engine import open_engine
from localfact.methods.extraction import open_extractor
from localfact.methods.machines import THIS_MACHINE, Machines
from localfact.methods.options import Options
from localfact.methods.web import open_web
from localfact.methods.wiring import query_writer
from localfact.pipeline import observe_usage
from localfact.records import Failure, Response
from localfact.runs.failures import or_failure
from localfact.runs.progress import SILENT, Progress
from localfact.runtime.interrupts import interruptible
from localfact.runtime.tasks import complete, for_each
from localfact.runtime.usage import Ledger, count, usage_counted_in
from localfact.stages import Assessor, ClaimExtractor

#: The most problems that are listed.
PROBLEMS_SHOWN = 20


@dataclass
class FetchResult:
    """The result of fetching.

    Attributes:
        sent: counts of this call: "searches", "pages", "pages_failed".
        unanswered: claims whose search no provider answered.
        problems: of responses and searches, the first PROBLEMS_SHOWN.
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
        """Adds a problem to the list."""
        if len(self.problems) < PROBLEMS_SHOWN:
            self.problems.append(text)

    @property
    def failed(self) -> bool:
        """Whether the same command would try something again."""
        return bool(self.responses_failed or self.unanswered)


def fetch(
    job: Job,
    *,
    retry_failed: bool = False,
    concurrency: int | None = None,
    progress: Progress = SILENT,
    start: Start = start_engine,
    machines: Machines = THIS_MACHINE,
) -> FetchResult:
    """Fetches the evidence for the claims of a job into its corpus, made if missing; nothing is fetched twice.

    Args:
        job: from `evaluate.prepare`, with options that name a provider.
        retry_failed: fetches pages again that failed by a time-out, a limit or a broken connection.
        concurrency: responses at once.
        progress: gets reports on how far it is.
        start: loads the language model.
        machines: where pages are extracted and passages embedded; what fetches is this process alone.

    Raises:
        LocalFactError: one that stops all of it. What was fetched is in the corpus; the same command resumes.
    """
    if not job.chosen.options.live:
        raise InputError("Fetching evidence needs a provider: --provider duckduckgo, say.")
    return complete(fetch_all(job, retry_failed, concurrency or usual_concurrency(job.chosen), progress, start, machines))


async def fetch_all(
    job: Job, retry_failed: bool, at_once: int, progress: Progress, start: Start, machines: Machines
) -> FetchResult:
    """The coroutine behind `fetch`."""
    chosen, fetched = job.chosen, FetchResult()
    options, settings = chosen.options, chosen.settings
    embedder = machines.embedder(options.embedder)
    async with AsyncExitStack() as opened:
        web = open_web(
            options,
            embedder,
            settings.evidence,
            opened,
            observe=progress.count,
            retry_failed=retry_failed,
            machines=machines,
        )
        engine = None
        if options.names_model:
            with interruptible():
                engine = open_engine(options, opened, chosen.facts, start)
        fetching = Fetching(
            extractor=open_extractor(settings.extraction, engine, settings.seed),
            assessor=chosen.method.assessor(settings, engine),
            queries=query_writer(settings, engine),
            collector=web.collector,
            progress=progress,
            fetched=fetched,
        )
        progress.begin(len(job.responses), 0)
        await for_each(job.responses, fetching.fetch, at_once)
        fetched.problems += web.notes()
        fetched.without_page = web.writer.store.failures()
    fetched.corpus = web.writer.description
    return fetched


@dataclass(frozen=True)
class Fetching:
    """Fetches for one response after the other.

    Attributes:
        extractor: finds the claims.
        assessor: says which of them need evidence.
        queries: writes what is searched for.
        collector: searches, and fetches pages into the corpus. progress, fetched: get what was done.
    """

    extractor: ClaimExtractor
    assessor: Assessor
    queries: QueryWriter | None
    collector: WebCollector
    progress: Progress
    fetched: FetchResult

    async def fetch(self, response: Response) -> None:
        """Fetches for one response; its failures are counted and stop no other."""
        self.fetched.responses += 1
        ledger = Ledger(watch=partial(observe_usage, self.progress.count), observe=self.progress.count)
        with usage_counted_in(ledger):
            result = await or_failure(self._search_claims(response))
        if isinstance(result, Failure):
            self.fetched.responses_failed += 1
            self.fetched.problem(f"{response.id}: {result.reason}")
        self.fetched.sent += ledger.sent
        self.progress.row_done()

    async def _search_claims(self, response: Response) -> None:
        """Searches for the claims of a response that need evidence; for none where it brings its own passages.

        Raises:
            LocalFactError: its claims or their queries could not be made.
        """
        if response.problem is not None:
            raise InputError(response.problem)
        if response.evidence is not None:
            return
        extraction = await self.extractor.extract(response)
        claims = list(self.assessor.needs_evidence(extraction.claims))
        self.progress.count("claims", len(claims))
        self.fetched.claims += len(claims)
        queries = await queries_of(self.queries, response, claims)
        wanted = [query for own in queries.searches.values() for query in own]
        await for_each(wanted, self._search, len(wanted))

    async def _search(self, query: str) -> None:
        """Searches for one query and fetches its pages; an unanswered search is counted, and made again by the next call."""
        try:
            await self.collector.collect(query)
        except SearchError as error:
            count("searches_failed")
            self.fetched.unanswered += 1
            self.fetched.problem(f"{query!r}: {error}")


def summary_of(fetched: FetchResult, options: Options) -> dict[str, Any]:
    """The result of fetching, as plain values."""
    description = fetched.corpus
    return {
        "corpus": str(options.corpus),
        "responses": fetched.responses,
        "responses_failed": fetched.responses_failed,
        "claims": fetched.claims,
        "claims_without_answer": fetched.unanswered,
        "searches_now": fetched.sent["searches"],
        "pages_now": fetched.sent["pages"],
        "pages_failed_now": fetched.sent["pages_failed"],
        **(description.model_dump(mode="json", exclude={"files", "unfinished"}) if description is not None else {}),
        "without_page": dict(fetched.without_page),
        "problems": fetched.problems,
    }
