"""Where passages come from, as a user's options say: the response itself, a corpus, or the web, which is added to a corpus."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localfact.corpus.corpus import Corpus, read_description
from localfact.corpus.passages import PassageKind
from localfact.corpus.reextract import Reextracted, reextract
from localfact.corpus.store import Store
from localfact.corpus.writer import CorpusWriter
from localfact.errors import CorpusError, InputError
from localfact.evidence.admission import Admission
from localfact.evidence.corpus_retriever import CorpusRetriever, Selection
from localfact.evidence.given import GivenEvidence
from localfact.evidence.queries import QueryWriter
from localfact.evidence.query_retriever import SearchRetriever
from localfact.evidence.reranker import Reranker, named_reranker
from localfact.evidence.web_collector import WebCollector
from localfact.methods.extraction import Settings
from localfact.methods.options import Options
from localfact.models.embedder import Embedder, named_embedder
from localfact.pipeline import Finish, Observer, nothing_to_finish
from localfact.stages import Retriever
from localfact.web.extracting.extractors import Extractors
from localfact.web.fetching.fetch import Fetcher
from localfact.web.searching.providers import open_provider
from localfact.web.searching.search import SearchProvider

#: Where what the web gives is kept when no corpus is named, in the folder that the command is run in.
DEFAULT_CORPUS = Path("index") / "web"


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


def open_collector(
    options: Options, writer: CorpusWriter, provider: SearchProvider, kind: PassageKind, **chosen: Any
) -> WebCollector:
    """What brings searches and pages into the corpus, `chosen` as WebCollector has it; nothing is asked yet.

    Raises:
        InputError: an admitted host that is none.
    """
    fetcher = None if kind == "snippets" else Fetcher(allow_hosts=options.allow_hosts, host_delay=options.host_delay)
    workers = len(os.sched_getaffinity(0))
    return WebCollector(writer, provider, fetcher, Extractors(workers), **chosen)


def finish_corpus(writer: CorpusWriter, kind: PassageKind, *, whole: bool, observe: Observer) -> None:
    """Lets the corpus go; indexed, if all that was to be added is there."""
    done: dict[PassageKind, int] = {}

    def indexed(kind: PassageKind, number: int, total: int) -> None:
        observe("passages_indexed", number - done.get(kind, 0))
        done[kind] = number

    try:
        if whole:
            writer.finish((kind,), progress=indexed)
    finally:
        writer.close()


def open_writer(options: Options, embedder: Embedder | None, identity: str) -> CorpusWriter:
    """The corpus that what the web gives is added to.

    Raises:
        InputError, CorpusError, WriteError: as CorpusWriter.
    """
    if options.corpus is None:
        raise AssertionError("whoever searches the web has a corpus to keep it in: with_corpus")
    return CorpusWriter(options.corpus, embedder, identity=identity)


def finish_left(options: Options, settings: Settings, observe: Observer) -> None:
    """Finishes the corpus of a run that was killed after its last response and before the corpus was indexed."""
    if options.corpus is not None and read_description(options.corpus).unfinished:
        try:
            writer = open_writer(options, named_embedder(options.embedder), settings["corpus"])
        except CorpusError:
            raise
        except InputError:  # another run is adding to it, and will finish it
            return
        finish_corpus(writer, settings["passages"], whole=True, observe=observe)


@dataclass(frozen=True)
class Source:
    """Where passages come from: a finished corpus, or one that the web is searched for; neither where responses bring them.

    Attributes:
        notes, finish: what `Pipeline` has of the same names.
    """

    corpus: Corpus | None = None
    writer: CorpusWriter | None = None
    collector: WebCollector | None = None
    reranker: Reranker | None = None
    notes: Callable[[], tuple[str, ...]] = tuple
    finish: Finish = nothing_to_finish


def open_source(options: Options, embedder: Embedder | None, settings: Settings, *, retry_failed: bool = False) -> Source:
    """Opens the corpus to read, or to add to.

    Raises:
        MissingError, CorpusError, InputError: as Corpus.open, open_writer and open_collector.
    """
    reranker = named_reranker(options.reranker) if options.reranker is not None else None
    if not options.live:
        corpus = Corpus.open(options.corpus, embedder) if options.corpus is not None else None
        return Source(corpus=corpus, reranker=reranker)
    provider = open_provider(options.providers, searxng_url=options.searxng_url)
    writer = open_writer(options, embedder, settings["corpus"])
    kind, results = settings["passages"], settings["results"]
    try:
        collector = open_collector(
            options, writer, provider, kind, results=results, admission=admission(settings), retry_failed=retry_failed
        )
    except BaseException:
        writer.close()
        raise

    def finish(whole: bool, observe: Observer) -> None:
        finish_corpus(writer, kind, whole=whole, observe=observe)

    return Source(writer=writer, collector=collector, reranker=reranker, notes=lambda: provider.notes, finish=finish)


def retriever(source: Source, embedder: Embedder | None, queries: QueryWriter | None, settings: Settings) -> Retriever:
    """The response's own passages where it brings some; else each claim's own search, or the whole corpus."""
    k, merge = settings["k"], settings["merge_near_duplicates"]
    selection = Selection(settings["passages"], k, merge, admission(settings), source.reranker)
    searched: Retriever | None = None
    if source.corpus is not None and settings["scope"] == "corpus":
        searched = CorpusRetriever(source.corpus, selection, queries)
    elif source.corpus is not None or source.writer is not None:
        searched = search_retriever(source, embedder, queries, selection, settings)
    return GivenEvidence(searched, embedder, k=k, merge_near_duplicates=merge, queries=queries)


def search_retriever(
    source: Source, embedder: Embedder | None, queries: QueryWriter | None, selection: Selection, settings: Settings
) -> SearchRetriever:
    """The retriever of each claim's own search, recorded or made now."""
    corpus = source.corpus
    whole = CorpusRetriever(corpus, selection) if corpus is not None and selection.kind in corpus.description.segments else None
    return SearchRetriever(
        store_of(source),
        embedder,
        selection,
        results=settings["results"],
        queries=queries,
        collector=source.collector,
        whole=whole,
        score_affinity=settings.get("gate") is not None,
    )


def store_of(source: Source) -> Callable[[], Store]:
    """Gives the store of the corpus as it is at each call."""
    corpus, writer = source.corpus, source.writer
    if writer is not None:
        return lambda: writer.store
    if corpus is not None:
        return lambda: corpus.store
    raise AssertionError("searches are looked up in a corpus")


def admission(settings: Settings) -> Admission:
    """Which pages may be evidence."""
    return Admission.model_validate(settings.get("admission", {}))


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
