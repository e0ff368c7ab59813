"""Opens the source of passages that the options name: the response itself, a corpus, or the web, which is added to a corpus."""

import asyncio
import os
import secrets
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from localfact.corpus.corpus import Corpus, corpus_identity, read_description, recorded_id
from localfact.corpus.files import STORE_FILE
from localfact.corpus.indexing.dense_index import PassageEmbedder
from localfact.corpus.passages import PassageKind
from localfact.corpus.reextract import Reextracted, reextract
from localfact.corpus.store import PageStore
from localfact.corpus.writer import CorpusWriter
from localfact.errors import CorpusError, InputError
from localfact.evidence.admission import Admission, admission_of
from localfact.evidence.corpus_retriever import CorpusRetriever, Selection
from localfact.evidence.given import GivenEvidence
from localfact.evidence.queries import ClaimQueries, QueryWriter
from localfact.evidence.query_retriever import SearchRetriever
from localfact.evidence.reranker import Reranker, named_reranker, reranker_identity
from localfact.evidence.web_collector import WebCollector
from localfact.evidence.worthless import WithoutWorthless
from localfact.methods.machines import THIS_MACHINE, Machines
from localfact.methods.method import Method
from localfact.methods.options import Options, Scope
from localfact.methods.settings import EvidenceSettings
from localfact.models.cards import load_card
from localfact.models.embedder import NO_EMBEDDER, Embedder, named_embedder
from localfact.pipeline import Observer
from localfact.runtime.interrupts import interruptible
from localfact.stages import Retriever
from localfact.web.extracting.extractors import Extractors
from localfact.web.fetching.fetch import Fetcher
from localfact.web.searching.providers import open_provider

#: The default corpus for pages from the web, in the current folder.
DEFAULT_CORPUS = Path("index") / "web"
#: Returns, at the end of a run, notes about the run as a whole: for example that a search provider refused.
Notes = Callable[[], tuple[str, ...]]
#: How many pages FastFact uses for a claim (section 4.2).
RESULTS_OF_A_SEARCH = 5
#: Length in bytes of the random id of a new corpus.
ID_BYTES = 8


def with_corpus(options: Options) -> Options:
    """The options with the default corpus, if the web is searched and none was named."""
    if options.live and options.corpus is None:
        return options.model_copy(update={"corpus": DEFAULT_CORPUS})
    return options


def privacy_note(options: Options) -> str:
    """The note about what is sent to whom when the web is searched."""
    fetched = "" if options.evidence == "snippet" else ", and the pages found are fetched from their hosts"
    return (
        f"Claims are sent as search queries to {', then '.join(options.providers)}{fetched}; all is kept in {options.corpus}. "
        "An evaluation with --offline sends nothing."
    )


def check_web(options: Options) -> None:
    """Checks the options about the web before anything is loaded, made or sent.

    Raises:
        InputError: an unknown provider, or an invalid address. MissingError: a provider's key.
    """
    open_provider(options.providers, searxng_url=options.searxng_url)
    Fetcher(allow_hosts=options.allow_hosts, host_delay=options.host_delay)


def evidence_settings(method: Method, options: Options) -> EvidenceSettings:
    """The settings that decide which passages a claim gets.

    Raises:
        InputError: contradictory options, an invalid date, more queries than rules make. MissingError: no corpus or reranker.
    """
    queries, count = options.queries or method.queries, options.queries_per_claim or method.queries_per_claim
    if queries == "claim":
        ClaimQueries(count)
    k = options.k or method.k
    chosen: dict[str, Any] = {
        "embedder": None if options.embedder == NO_EMBEDDER else load_card(options.embedder).identity,
        "corpus": None,
        "passages": "snippets" if options.evidence == "snippet" else method.passages,
        "k": k,
        "queries": queries,
        "merge_near_duplicates": method.merge_near_duplicates,
    }
    admission = admission_of(options.block_hosts, options.only_hosts, options.before)
    if admission != Admission():
        chosen["admission"] = admission
    if count > 1:
        chosen["queries_per_claim"] = count
    if method.search_steps > 1:
        chosen["steps"] = method.search_steps
    if options.reranker is not None:
        chosen["reranker"] = reranker_identity(load_card(options.reranker))
    if options.corpus is None:
        return EvidenceSettings(**chosen)
    if scope_of(options) == "corpus":
        return EvidenceSettings(**chosen | {"corpus": corpus_identity(options.corpus), "scope": "corpus"})
    k = searched_k(method, options, options.corpus)
    chosen["results"] = options.results or (RESULTS_OF_A_SEARCH if method.passages == "chunks" else k)
    chosen |= {"corpus": recorded_id(options.corpus), "scope": "query", "k": k}
    if options.live:
        # A new corpus gets this id, and keeps it while it grows.
        return EvidenceSettings(**chosen | {"corpus": chosen["corpus"] or secrets.token_hex(ID_BYTES)})
    # A claim that was never searched for gets the whole corpus, so all of it decides.
    return EvidenceSettings(**chosen, content=corpus_identity(options.corpus))


def searched_k(method: Method, options: Options, corpus: Path) -> int:
    """The passages of a claim under scope "query": fewer of Wikipedia than of the web in FactReasoner (section 4.2).

    An offline run takes what the run took that filled the corpus.
    """
    providers = set(options.providers) or PageStore(corpus / STORE_FILE, finished=False).search_providers()
    return options.k or (method.k if providers == {"wikipedia"} else method.k_searched or method.k)


def scope_of(options: Options) -> Scope:
    """ "query" where a claim gets the pages of its own search, "corpus" where it gets all pages, as without recorded searches.

    Raises:
        InputError: scope "corpus" for a corpus that is still being added to. MissingError: there is no corpus.
    """
    if options.live:
        if options.scope == "corpus":
            raise InputError(
                "--scope corpus searches a finished corpus: fetch it first (`localfact corpus fetch`), then evaluate without "
                "--provider."
            )
        return "query"
    if options.scope == "corpus" or options.corpus is None:
        return "corpus"
    searched = bool(read_description(options.corpus).searches)
    if options.scope == "query" and not searched:
        raise InputError(
            f"--scope query needs searches, and none is recorded in {options.corpus}: `localfact corpus fetch` makes them. "
            "Leave --scope out to search the whole corpus."
        )
    return "query" if searched else "corpus"


@dataclass(frozen=True)
class Source:
    """The source of passages: a finished corpus, or one that pages from the web are added to.

    It has neither where all passages come with the responses.
    """

    corpus: Corpus | None = None
    writer: CorpusWriter | None = None
    collector: WebCollector | None = None
    reranker: Reranker | None = None
    notes: Notes = tuple


def open_source(
    options: Options,
    embedder: Embedder | None,
    settings: EvidenceSettings,
    opened: AsyncExitStack,
    *,
    observe: Observer,
) -> Source:
    """Opens the corpus for reading or adding; the stack closes it.

    A corpus that was added to is indexed when the stack closes, unless that is due to an error: then it stays unfinished.

    Args:
        observe: gets the number of passages indexed.

    Raises:
        MissingError, CorpusError, InputError: as Corpus.open, CorpusWriter and WebCollector.
    """
    reranker = named_reranker(options.reranker) if options.reranker is not None else None
    if reranker is not None:
        opened.push_async_callback(asyncio.to_thread, reranker.close)
    if not options.live:
        corpus = Corpus.open(options.corpus, embedder) if options.corpus is not None else None
        return Source(corpus=opened.enter_context(corpus) if corpus is not None else None, reranker=reranker)
    return replace(open_web(options, embedder, settings, opened, observe=observe), reranker=reranker)


def open_web(
    options: Options,
    embedder: PassageEmbedder | None,
    settings: EvidenceSettings,
    opened: AsyncExitStack,
    *,
    observe: Observer,
    retry_failed: bool = False,
    machines: Machines = THIS_MACHINE,
) -> Source:
    """Opens the web and the corpus to which its pages are added; the stack closes both.

    Args:
        observe: as for `open_source`. retry_failed: fetches pages again that failed for a transient reason. machines: where
            pages are extracted.

    Raises:
        MissingError, CorpusError, InputError: as CorpusWriter and WebCollector.
    """
    provider = open_provider(options.providers, searxng_url=options.searxng_url)
    writer = open_writer(options, embedder, settings, opened, observe)
    fetched = settings.passages != "snippets"
    collector = WebCollector(
        writer,
        provider,
        Fetcher(allow_hosts=options.allow_hosts, host_delay=options.host_delay) if fetched else None,
        machines.extractors(),
        results=settings.results,
        admission=settings.admission,
        retry_failed=retry_failed,
    )
    opened.push_async_callback(collector.aclose)
    return Source(writer=writer, collector=collector, notes=lambda: provider.notes)


def open_writer(
    options: Options, embedder: PassageEmbedder | None, settings: EvidenceSettings, opened: AsyncExitStack, observe: Observer
) -> CorpusWriter:
    """Opens the corpus to which pages from the web are added; it is indexed when the stack closes without an error.

    Raises:
        InputError, CorpusError, WriteError: as CorpusWriter.
    """
    if options.corpus is None:
        raise AssertionError("whoever searches the web has a corpus to keep it in: with_corpus")
    writer = CorpusWriter(options.corpus, embedder, identity=settings.corpus)
    done: dict[PassageKind, int] = {}

    def indexed(kind: PassageKind, number: int, total: int) -> None:
        observe("passages_indexed", number - done.get(kind, 0))
        done[kind] = number

    def finish(kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is None:
                with interruptible():
                    writer.finish((settings.passages,), progress=indexed)
        finally:
            writer.close()

    opened.push(finish)
    return writer


async def finish_left(options: Options, settings: EvidenceSettings, observe: Observer) -> None:
    """Indexes the corpus of a run that was killed between its last response and the indexing."""
    if options.corpus is None or not read_description(options.corpus).unfinished:
        return
    async with AsyncExitStack() as opened:
        try:
            open_writer(options, named_embedder(options.embedder), settings, opened, observe)
        except CorpusError:
            raise
        except InputError:  # another run adds to it and will finish it
            return


def retriever(
    source: Source,
    embedder: Embedder | None,
    queries: QueryWriter | None,
    settings: EvidenceSettings,
    *,
    score_affinity: bool,
) -> Retriever:
    """The retriever of a source: the response's own passages where it brings some, else its searches or the whole corpus.

    Args:
        score_affinity: whether affinities of claims to other claims' passages are needed.
    """
    k, merge = settings.k, settings.merge_near_duplicates
    selection = Selection(settings.passages, k, merge, settings.admission, source.reranker)
    searched: Retriever | None = None
    if source.corpus is not None and settings.scope == "corpus":
        searched = CorpusRetriever(source.corpus, selection, queries)
    elif source.corpus is not None or source.writer is not None:
        searched = SearchRetriever(
            store_of(source),
            embedder,
            selection,
            results=settings.results,
            queries=queries,
            collector=source.collector,
            whole=whole_corpus(source.corpus, selection),
            score_affinity=score_affinity,
        )
    return WithoutWorthless(
        GivenEvidence(searched, embedder, k=k, kind=settings.passages, merge_near_duplicates=merge, queries=queries)
    )


def whole_corpus(corpus: Corpus | None, selection: Selection) -> CorpusRetriever | None:
    """The retriever for claims without a recorded search; None where the corpus is not indexed."""
    if corpus is None or selection.kind not in corpus.description.segments:
        return None
    return CorpusRetriever(corpus, selection)


def store_of(source: Source) -> Callable[[], PageStore]:
    """A function that returns the current store of the corpus."""
    corpus, writer = source.corpus, source.writer
    if writer is not None:
        return lambda: writer.store
    if corpus is not None:
        return lambda: corpus.store
    raise AssertionError("searches are looked up in a corpus")


async def reextract_all(writer: CorpusWriter, progress: Callable[[int, int], None]) -> Reextracted:
    """Extracts the pages of a corpus again from its archive, with one worker process for each core.

    Raises:
        WriteError: the disk is full, for example.
    """
    workers = len(os.sched_getaffinity(0))
    extractors = Extractors(workers)
    try:
        return await reextract(writer, extractors, workers=workers, progress=progress)
    finally:
        await asyncio.to_thread(extractors.close)
