"""Finds the passages of each claim among the pages that its own recorded search found (`scope = query`).

A claim's evidence then depends on that search alone, so that a run on the web, the same run resumed, and an offline run over
the corpus that it filled all agree.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from typing import Protocol

from localfact.corpus.indexing.bm25 import BM25
from localfact.corpus.indexing.index import Index
from localfact.corpus.passages import PassageKind, passages_of
from localfact.corpus.store import PageStore
from localfact.errors import SearchError
from localfact.evidence.corpus_retriever import (
    DEFAULT,
    LEXICAL_ALONE,
    CorpusRetriever,
    Selection,
    affinity,
    apply_selection,
    one_of,
)
from localfact.evidence.queries import Queries, QueryWriter, queries_of
from localfact.models.embedder import Embedder
from localfact.records import Claim, Evidence, Passage, Response
from localfact.runtime.addresses import host_of
from localfact.runtime.tasks import together
from localfact.runtime.usage import count
from localfact.web.pages import Page
from localfact.web.searching.results import Search, SearchResult

OWN_SEARCH = "Evidence: of a claim that was searched for, the {what} that its own search found, ranked by BM25 (scope query)."
NO_SEARCH = "Evidence: for claims that no search is recorded for, the whole corpus was searched."
FEWER = "Evidence: some searches are recorded with fewer results than are wanted here (--results); what there is was used."
UNANSWERED = "Evidence: some searches were not answered, so their claims failed; the same command asks again."
NOTHING_LEFT = "Evidence: some claims have none: nothing was found for them, or all of it was left out."
NEVER_ASKED = (
    "Evidence: some pages that searches named were never asked for, so their snippets stand in; the command that searched "
    "(`localfact corpus fetch`, or the live run), given again, fetches them."
)

SOME_UNRECORDED = (
    "Evidence: of some claims' queries (--queries-per-claim) no search is recorded; what the others found was used. "
    "`localfact corpus fetch` makes them."
)

#: Count -> the note that is given where it is above 0.
NOTES_OF_COUNTS = {
    "pages_never_asked_for": NEVER_ASKED,
    "searches_for_fewer": FEWER,
    "claims_without_passages": NOTHING_LEFT,
    "queries_without_search": SOME_UNRECORDED,
}

#: How many pages' passages are cached, as several claims use the same pages.
PAGES_KEPT = 1_024


class Collector(Protocol):
    """Searches for a query and fetches the pages that it finds into the corpus."""

    async def collect(self, query: str) -> None:
        """Returns when the corpus has what that query finds.

        Raises:
            SearchError: no provider answered this query.
        """
        ...


@dataclass(frozen=True)
class SearchRetriever:
    """Retrieves the k best passages of the pages that each claim's own search found.

    Attributes:
        store: returns the corpus's store as it is now.
        embedder: computes affinity; None leaves that to BM25.
        results: how many results of a search are used.
        queries: writes the queries; None where each claim is its own.
        collector: searches for queries that are not recorded; None where only the corpus is used, and then `whole` retrieves
            passages for claims without a recorded search.
        score_affinity: whether affinities of claims to other claims' passages are needed; embedding takes time.
    """

    store: Callable[[], PageStore]
    embedder: Embedder | None
    selection: Selection = DEFAULT
    _: KW_ONLY
    results: int = 5
    queries: QueryWriter | None = None
    collector: Collector | None = None
    whole: CorpusRetriever | None = None
    score_affinity: bool = True

    async def retrieve(self, response: Response, claims: Sequence[Claim]) -> Evidence:
        """Returns up to k passages a claim, best first, scored by BM25 among the passages that were found.

        A claim whose search failed is among the evidence's failures.

        Raises:
            LocalFactError: one that concerns all claims.
        """
        queries = await queries_of(self.queries, response, claims)
        failures: dict[str, str] = {}
        if self.collector is not None:
            asked = [(claim, query) for claim, own in queries.searches.items() for query in own]
            failures = dict(filter(None, await together(_collect(self.collector, *query) for query in asked)))
        return await asyncio.to_thread(self._retrieve, claims, queries, failures)

    def _retrieve(self, claims: Sequence[Claim], queries: Queries, failures: Mapping[str, str]) -> Evidence:
        store = self.store()
        unanswered = bool(failures)
        asked = {claim: query for claim, query in queries.texts.items() if claim not in failures}
        # With a collector, a search for fewer results is made again.
        or_fewer = self.collector is None
        searches = {
            claim: [store.search(query, self.results, or_fewer=or_fewer) for query in queries.searches[claim]]
            for claim in asked
        }
        recorded = {claim: known for claim, own in searches.items() if (known := [one for one in own if one is not None])}
        unrecorded = {claim: asked[claim] for claim in searches if claim not in recorded}
        missing = sum(len(searches[claim]) - len(known) for claim, known in recorded.items())
        found = {claim: self._rank(store, asked[claim], own) for claim, own in recorded.items()}
        if self.whole is None:
            failures = {**failures, **dict.fromkeys(unrecorded, self._nowhere)}
        elif unrecorded:
            found |= self.whole.find(unrecorded)
        in_order = {claim: found[claim] for claim in asked if claim in found}
        passages, hits = apply_selection(in_order, asked, self.selection)
        counts = self._counts(store, [search for own in recorded.values() for search in own])
        rare = {
            "claims_without_search": len(unrecorded),
            "claims_without_passages": sum(not own for own in hits.values()),
            "queries_without_search": missing,
        }
        counts |= {name: number for name, number in rare.items() if number}
        return Evidence(
            passages=passages,
            hits=hits | dict.fromkeys(failures, ()),
            affinity=self._affinity(claims, passages),
            failures=failures,
            counts=counts,
            notes=(
                *self._notes(counts, searched_whole=bool(unrecorded) and self.whole is not None),
                *([UNANSWERED] if unanswered else []),
                *queries.notes,
            ),
        )

    def _counts(self, store: PageStore, searches: Sequence[Search]) -> dict[str, int]:
        """Different searches, and the pages that they named; where there are any, those that failed or were never fetched."""
        links = {result.link for search in searches for result in search.results if self._admits(result.link)}
        fetches = [store.fetch(link) for link in links] if self.selection.kind != "snippets" else []
        rare = {
            "pages_failed": sum(fetch is not None and fetch.page is None for fetch in fetches),
            "pages_never_asked_for": fetches.count(None),
            "searches_for_fewer": sum(search.count < self.results for search in searches),
        }
        counts = {"searches": len({search.query for search in searches}), "pages": len(links)}
        return counts | {name: number for name, number in rare.items() if number}

    def _notes(self, counts: Mapping[str, int], *, searched_whole: bool) -> list[str]:
        """Sentences about the evidence for the reader of the results."""
        what = "snippets of search results" if self.selection.kind == "snippets" else "pages"
        notes = [OWN_SEARCH.format(what=what)] if counts["searches"] else []
        notes += [NO_SEARCH] if searched_whole else []
        notes += [note for name, note in NOTES_OF_COUNTS.items() if name in counts]
        lexical = [LEXICAL_ALONE] if self.embedder is None and self.score_affinity else []
        return [*notes, *self.selection.notes, *lexical]

    @property
    def _nowhere(self) -> str:
        """Why a claim has no evidence where its search is not recorded and the whole corpus cannot be searched."""
        return (
            f"no search is recorded for this claim, and the corpus has no passages of the kind '{self.selection.kind}' to "
            f"search as a whole: `localfact corpus fetch` searches for it, `localfact corpus merge` with --passages "
            f"{self.selection.kind} adds them"
        )

    def _admits(self, link: str) -> bool:
        return self.selection.admission.admits_host(host_of(link))

    def _rank(self, store: PageStore, query: str, searches: Sequence[Search]) -> list[tuple[Passage, float]]:
        """The admitted passages of the results' pages, by BM25.

        Those that share no word with the query last, in the order of the results.
        """
        found: dict[str, Passage] = {}
        results = [result for search in searches for result in search.results]
        for result in filter(lambda result: self._admits(result.link), results):
            for passage in passages_behind(store, result, self.selection.kind):
                # After redirects the page may have another host than the result.
                if self.selection.admission.admits(passage.host, passage.date):
                    known = found.get(passage.id)
                    found[passage.id] = passage if known is None else one_of(known, passage)
        if not found:
            return []
        passages = list(found.values())
        scores = BM25.of([passage.text for passage in passages]).scores(query).tolist()
        order = range(len(passages))
        ranked = sorted(order, key=lambda at: (-scores[at], passages[at].id if scores[at] > 0 else "", at))
        return [(passages[at], scores[at]) for at in ranked[: self.selection.candidates]]

    def _affinity(self, claims: Sequence[Claim], passages: Sequence[Passage]) -> dict[str, dict[str, float]]:
        if not passages or not self.score_affinity:
            return {}
        index = Index.of({passage.id: passage.text for passage in passages}, self.embedder)
        return affinity(index, self.embedder, claims, [passage.id for passage in passages])


async def _collect(collector: Collector, claim: str, query: str) -> tuple[str, str] | None:
    """Searches for one query of a claim. Returns None, or the claim and the reason if no provider answered."""
    try:
        await collector.collect(query)
    except SearchError as error:
        count("searches_failed")
        return claim, str(error)
    return None


def passages_behind(store: PageStore, result: SearchResult, kind: PassageKind) -> Iterator[Passage]:
    """The passages of the result's page; its snippet where the page could not be fetched or snippets are wanted."""
    fetch = store.fetch(result.link) if kind != "snippets" else None
    page = fetch.page if fetch is not None and fetch.page is not None else None
    if page is None and not result.snippet:
        return
    for passage in cut(page or result.as_page(), kind):
        yield passage.model_copy(
            update={
                "title": passage.title or result.title,
                "date": passage.date or result.date,
                "provider": result.provider,
            }
        )


@lru_cache(maxsize=PAGES_KEPT)
def cut(page: Page, kind: PassageKind) -> tuple[Passage, ...]:
    """The passages of a page, cached."""
    return tuple(passages_of(page, kind))
