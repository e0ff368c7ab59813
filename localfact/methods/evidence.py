"""Which passages a claim gets: the settings that decide it, and the retriever that finds them.

They come with the response, from a corpus, or from the web (`web.py`), which is added to a corpus.
"""

import asyncio
import secrets
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from localfact.corpus.corpus import Corpus, corpus_identity, read_description, read_recorded_id
from localfact.corpus.emptiness import refuse_empty
from localfact.corpus.files import STORE_FILE
from localfact.corpus.store import PageStore
from localfact.errors import InputError
from localfact.evidence.admission import admission_of
from localfact.evidence.corpus_retriever import CorpusRetriever, Selection
from localfact.evidence.given import GivenEvidence
from localfact.evidence.queries import ClaimQueries, QueryWriter
from localfact.evidence.query_retriever import SearchRetriever
from localfact.evidence.reranker import Reranker, open_reranker, reranker_identity
from localfact.evidence.worthless import WithoutWorthless
from localfact.methods.method import Method
from localfact.methods.options import Options, Scope
from localfact.methods.settings import EvidenceSettings
from localfact.methods.web import OpenWeb, open_web
from localfact.models.cards import load_card
from localfact.models.embedder import NO_EMBEDDER, Embedder
from localfact.pipeline import Observer
from localfact.stages import Retriever

#: How many pages FastFact uses for a claim (section 4.2).
RESULTS_OF_A_SEARCH = 5
#: Length in bytes of the random id of a new corpus.
ID_BYTES = 8


def evidence_settings(method: Method, options: Options) -> EvidenceSettings:
    """The settings that decide which passages a claim gets.

    Raises:
        InputError: contradictory options, an invalid date, more queries than rules make. MissingError: no corpus or reranker.
    """
    queries, count = options.queries or method.queries, options.queries_per_claim or method.queries_per_claim
    if queries == "claim":
        ClaimQueries(count)  # raises for more queries than it makes
    settings = partial(
        EvidenceSettings,
        embedder=None if options.embedder == NO_EMBEDDER else load_card(options.embedder).identity,
        passages="snippets" if options.evidence == "snippet" else method.passages,
        admission=admission_of(options.block_hosts, options.only_hosts, options.before),
        reranker=None if options.reranker is None else reranker_identity(load_card(options.reranker)),
        queries=queries,
        queries_per_claim=count,
        steps=method.search_steps,
        merge_near_duplicates=method.merge_near_duplicates,
    )
    corpus, k = options.corpus, options.k or method.k
    if corpus is None:
        return settings(corpus=None, k=k)
    if scope_of(options, corpus) == "corpus":
        return settings(corpus=corpus_identity(corpus), scope="corpus", k=k)
    k = k_of_search(method, options, corpus)
    results = options.results or (RESULTS_OF_A_SEARCH if method.passages == "chunks" else k)
    known = read_recorded_id(corpus)
    if options.live:
        # A new corpus gets this id, and keeps it while it grows.
        return settings(corpus=known or secrets.token_hex(ID_BYTES), scope="query", k=k, results=results)
    # A claim that was never searched for gets the whole corpus, so all of it decides.
    return settings(corpus=known, content=corpus_identity(corpus), scope="query", k=k, results=results)


def k_of_search(method: Method, options: Options, corpus: Path) -> int:
    """The passages of a claim under scope "query": fewer of Wikipedia than of the web in FactReasoner (section 4.2).

    An offline run takes what the run took that filled the corpus.
    """
    providers = set(options.providers) or PageStore(corpus / STORE_FILE, finished=False).search_providers()
    return options.k or (method.k if providers == {"wikipedia"} else method.k_searched or method.k)


def scope_of(options: Options, corpus: Path) -> Scope:
    """Whether a claim gets the pages of its own search ("query") or all pages ("corpus").

    By default "query" where the corpus has searches recorded, or the web is searched.

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
    if options.scope == "corpus":
        return "corpus"
    searched = bool(read_description(corpus).searches)
    if options.scope == "query" and not searched:
        raise InputError(
            f"--scope query needs searches, and none is recorded in {corpus}: `localfact corpus fetch` makes them. "
            "Leave --scope out to search the whole corpus."
        )
    return "query" if searched else "corpus"


@dataclass(frozen=True)
class Source:
    """Where passages come from: a finished corpus, or the web; neither where all of them come with the responses."""

    corpus: Corpus | None = None
    web: OpenWeb | None = None
    reranker: Reranker | None = None

    def notes(self) -> tuple[str, ...]:
        """Notes about the run as a whole, at its end: for example that a search provider refused."""
        return () if self.web is None else self.web.notes()

    def store(self) -> PageStore:
        """The pages and searches of the corpus as they are now."""
        if self.web is not None:
            return self.web.writer.store
        if self.corpus is None:
            raise AssertionError("searches are looked up in a corpus")
        return self.corpus.store


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
    reranker = open_reranker(options.reranker) if options.reranker is not None else None
    if reranker is not None:
        opened.push_async_callback(asyncio.to_thread, reranker.close)
    if options.live:
        return Source(web=open_web(options, embedder, settings, opened, observe=observe), reranker=reranker)
    if options.corpus is None:
        return Source(reranker=reranker)
    corpus = opened.enter_context(Corpus.open(options.corpus, embedder))
    refuse_empty(options.corpus, corpus.description)
    return Source(corpus=corpus, reranker=reranker)


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
    elif settings.scope == "query":
        searched = SearchRetriever(
            source.store,
            embedder,
            selection,
            results=settings.results,
            queries=queries,
            collector=source.web.collector if source.web is not None else None,
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
