"""Where passages come from, as a user's options say: the response itself, a corpus, or the web, which is added to a corpus."""

import asyncio
import os
import secrets
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from localfact.corpus.corpus import Corpus, corpus_identity, read_description, recorded_id
from localfact.corpus.passages import PassageKind
from localfact.corpus.reextract import Reextracted, reextract
from localfact.corpus.store import Store
from localfact.corpus.writer import CorpusWriter
from localfact.errors import CorpusError, InputError
from localfact.evidence.admission import Admission, admission_of
from localfact.evidence.corpus_retriever import CorpusRetriever, Selection
from localfact.evidence.given import GivenEvidence
from localfact.evidence.queries import QueryWriter
from localfact.evidence.query_retriever import SearchRetriever
from localfact.evidence.reranker import Reranker, named_reranker, reranker_identity
from localfact.evidence.web_collector import WebCollector
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

#: Where what the web gives is kept when no corpus is named, in the folder that the command is run in.
DEFAULT_CORPUS = Path("index") / "web"
#: Says, when all is done, what a reader must know of it as a whole: a search provider that refused, say.
Notes = Callable[[], tuple[str, ...]]
#: How many pages FastFact takes for a claim (section 4.2).
RESULTS_OF_A_SEARCH = 5
#: Length of the random id of a corpus that is not there yet.
ID_BYTES = 8


def with_corpus(options: Options) -> Options:
    """The options with a corpus to keep what the web gives, if the web is searched and none was named."""
    if options.live and options.corpus is None:
        return options.model_copy(update={"corpus": DEFAULT_CORPUS})
    return options


def privacy_note(options: Options) -> str:
    """What whoever searches the web must know."""
    fetched = "" if options.evidence == "snippet" else ", and the pages found are fetched from their hosts"
    return (
        f"Claims are sent as search queries to {', then '.join(options.providers)}{fetched}; all is kept in {options.corpus}. "
        "An evaluation with --offline sends nothing."
    )


def check_web(options: Options) -> None:
    """Says what is wrong with the options about the web before anything is loaded, made or sent.

    Raises:
        InputError: an unknown provider, an address that is none. MissingError: a provider's key.
    """
    open_provider(options.providers, searxng_url=options.searxng_url)
    Fetcher(allow_hosts=options.allow_hosts, host_delay=options.host_delay)


def evidence_settings(method: Method, options: Options) -> EvidenceSettings:
    """What decides which passages a claim gets.

    Raises:
        InputError: options that do not go together, or a date that is none. MissingError: no corpus, no such reranker.
    """
    k = options.k or method.k
    chosen: dict[str, Any] = {
        "embedder": None if options.embedder == NO_EMBEDDER else load_card(options.embedder).identity,
        "corpus": None,
        "passages": "snippets" if options.evidence == "snippet" else method.passages,
        "k": k,
        "queries": options.queries,
        "merge_near_duplicates": method.merge_near_duplicates,
    }
    admission = admission_of(options.block_hosts, options.only_hosts, options.before)
    if admission != Admission():
        chosen["admission"] = admission
    if options.reranker is not None:
        chosen["reranker"] = reranker_identity(load_card(options.reranker))
    if options.corpus is None:
        return EvidenceSettings(**chosen)
    if scope_of(options) == "corpus":
        return EvidenceSettings(**chosen | {"corpus": corpus_identity(options.corpus), "scope": "corpus"})
    chosen["results"] = options.results or (RESULTS_OF_A_SEARCH if method.passages == "chunks" else k)
    chosen |= {"corpus": recorded_id(options.corpus), "scope": "query"}
    if options.live:
        # A corpus that is not there yet gets this id, and keeps it while it grows.
        return EvidenceSettings(**chosen | {"corpus": chosen["corpus"] or secrets.token_hex(ID_BYTES)})
    # A claim that was never searched for gets the whole corpus, so all of it decides.
    return EvidenceSettings(**chosen, content=corpus_identity(options.corpus))


def scope_of(options: Options) -> Scope:
    """Whether a claim gets the pages of its own search, or those of the whole corpus: the latter where no search is recorded.

    Raises:
        InputError: the whole of a corpus that is still being added to. MissingError: there is no corpus.
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
    """Where passages come from: a finished corpus, or one that the web is searched for; neither where responses bring them."""

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
    retry_failed: bool = False,
) -> Source:
    """Opens the corpus to read, or to add to; the stack closes it.

    A corpus that was added to is indexed when the stack closes, unless an error closes it: then it stays unfinished.

    Args:
        observe: is told how many passages were indexed. retry_failed: asks again for pages that something withheld.

    Raises:
        MissingError, CorpusError, InputError: as Corpus.open, CorpusWriter and WebCollector.
    """
    reranker = named_reranker(options.reranker) if options.reranker is not None else None
    if reranker is not None:
        opened.push_async_callback(asyncio.to_thread, reranker.close)
    if not options.live:
        corpus = Corpus.open(options.corpus, embedder) if options.corpus is not None else None
        return Source(corpus=opened.enter_context(corpus) if corpus is not None else None, reranker=reranker)
    provider = open_provider(options.providers, searxng_url=options.searxng_url)
    writer = open_writer(options, embedder, settings, opened, observe)
    fetched = settings.passages != "snippets"
    collector = WebCollector(
        writer,
        provider,
        Fetcher(allow_hosts=options.allow_hosts, host_delay=options.host_delay) if fetched else None,
        Extractors(len(os.sched_getaffinity(0))),
        results=settings.results,
        admission=settings.admission,
        retry_failed=retry_failed,
    )
    opened.push_async_callback(collector.aclose)
    return Source(writer=writer, collector=collector, reranker=reranker, notes=lambda: provider.notes)


def open_writer(
    options: Options, embedder: Embedder | None, settings: EvidenceSettings, opened: AsyncExitStack, observe: Observer
) -> CorpusWriter:
    """The corpus that what the web gives is added to; indexed when the stack closes, if all that was to be added is there.

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
    """Finishes the corpus of a run that was killed after its last response and before the corpus was indexed."""
    if options.corpus is None or not read_description(options.corpus).unfinished:
        return
    async with AsyncExitStack() as opened:
        try:
            open_writer(options, named_embedder(options.embedder), settings, opened, observe)
        except CorpusError:
            raise
        except InputError:  # another run is adding to it, and will finish it
            return


def retriever(
    source: Source,
    embedder: Embedder | None,
    queries: QueryWriter | None,
    settings: EvidenceSettings,
    *,
    score_affinity: bool,
) -> Retriever:
    """The response's own passages where it brings some; else each claim's own search, or the whole corpus.

    Args:
        score_affinity: whether anybody asks how well claims match other claims' passages.
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
    return GivenEvidence(searched, embedder, k=k, merge_near_duplicates=merge, queries=queries)


def whole_corpus(corpus: Corpus | None, selection: Selection) -> CorpusRetriever | None:
    """The retriever for claims that were never searched for, where the corpus is indexed."""
    if corpus is None or selection.kind not in corpus.description.segments:
        return None
    return CorpusRetriever(corpus, selection)


def store_of(source: Source) -> Callable[[], Store]:
    """Gives the store of the corpus as it is at each call."""
    corpus, writer = source.corpus, source.writer
    if writer is not None:
        return lambda: writer.store
    if corpus is not None:
        return lambda: corpus.store
    raise AssertionError("searches are looked up in a corpus")


async def reextract_all(writer: CorpusWriter, progress: Callable[[int, int], None]) -> Reextracted:
    """Makes the pages of a corpus anew from its archive, with a worker process a core.

    Raises:
        WriteError: the disk is full, say.
    """
    workers = len(os.sched_getaffinity(0))
    extractors = Extractors(workers)
    try:
        return await reextract(writer, extractors, workers=workers, progress=progress)
    finally:
        await asyncio.to_thread(extractors.close)
