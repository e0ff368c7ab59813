"""Finds the passages of each claim in a whole corpus (`scope = corpus`); ranks and merges passages for all retrievers."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from localfact.corpus.corpus import Corpus, index_damage
from localfact.corpus.indexing.index import Index
from localfact.corpus.passages import PassageKind
from localfact.evidence.admission import EVERYTHING, Admission
from localfact.evidence.duplicates import merge_near_duplicates
from localfact.evidence.queries import Queries, QueryWriter, queries_of
from localfact.evidence.reranker import Reranker
from localfact.models.embedder import Embedder, Vectors
from localfact.records import Claim, Evidence, Hit, Passage, Response

#: How many candidates are taken for each of the k passages, so that k are left after near-duplicates are merged, and so that a
#: reranker has a choice.
CANDIDATES_PER_PASSAGE = 3

WHOLE_CORPUS = "Evidence: the whole corpus was searched for every claim (scope corpus)."
LEXICAL_ALONE = "Evidence: no embedder, so passages were matched to claims by BM25 alone."
RERANKED = "Evidence: a reranker put the passages of each claim in order (--reranker)."

#: Claim id -> passages found for it with their scores, best first.
Found: TypeAlias = Mapping[str, Sequence[tuple[Passage, float]]]


@dataclass(frozen=True)
class Selection:
    """How a claim's passages are chosen from those that were found.

    Attributes:
        kind: of passages.
        k: how many a claim gets.
        admission: which pages may be used.
        merge_near_duplicates: whether near-duplicate passages are merged.
        reranker: orders the candidates; None keeps the order in which they were found.
    """

    kind: PassageKind = "pages"
    k: int = 5
    merge_near_duplicates: bool = True
    admission: Admission = EVERYTHING
    reranker: Reranker | None = None

    @property
    def candidates(self) -> int:
        """How many candidates are taken for a claim."""
        return self.k * CANDIDATES_PER_PASSAGE if self.merge_near_duplicates or self.reranker is not None else self.k

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the selection for the reader of the results."""
        return (*self.admission.notes, *([RERANKED] if self.reranker is not None else []))


#: FactReasoner's choice.
DEFAULT = Selection()


class CorpusRetriever:
    """Retrieves the k best passages of the whole corpus for each claim (`scope = corpus`).

    Args:
        corpus: opened.
        selection: how passages are chosen.
        queries: writes the search queries; None where each claim is its own query.

    Raises:
        InputError: the corpus was built without passages of that kind. CorpusError: their index is damaged.
    """

    def __init__(self, corpus: Corpus, selection: Selection = DEFAULT, queries: QueryWriter | None = None) -> None:
        self._corpus = corpus
        self._index = corpus.index(selection.kind)
        self.selection = selection
        self._writer = queries

    async def retrieve(self, response: Response, claims: Sequence[Claim]) -> Evidence:
        """Returns up to k passages a claim, best first, scored as in Index.search, and every claim's affinity to every passage.

        Hits and their scores are those of the claim's query; affinity is always computed from the claim's own words.

        Raises:
            LocalFactError: the queries could not be written, for a reason that concerns all claims. CorpusError: the index is
                damaged.
        """
        queries = await queries_of(self._writer, response, claims)
        with index_damage(self._corpus.folder, self.selection.kind):
            return await asyncio.to_thread(self._retrieve, claims, queries)

    def find(self, queries: Mapping[str, str]) -> dict[str, list[tuple[Passage, float]]]:
        """The best admitted passages of the whole corpus for each query, with their scores; `queries` by claim id."""
        vectors = query_vectors(self._corpus.embedder, list(queries.values()))
        asked = zip(queries.items(), vectors, strict=True)
        return {claim: self._find_admitted(query, vector, self.selection.candidates) for (claim, query), vector in asked}

    def _find_admitted(self, query: str, vector: Vectors | None, count: int) -> list[tuple[Passage, float]]:
        """The best `count` admitted passages; more candidates are taken until there are that many."""
        looked_at = count
        while True:
            ranked = self._index.search(query, vector, looked_at)
            admitted = self._corpus.store.passages((passage for passage, _ in ranked), self.selection.admission.admits)
            found = [(admitted[passage], score) for passage, score in ranked if passage in admitted]
            if len(found) >= count or len(ranked) < looked_at:
                return found[:count]
            looked_at *= 2

    def _retrieve(self, claims: Sequence[Claim], queries: Queries) -> Evidence:
        passages, hits = apply_selection(self.find(queries.texts), queries.texts, self.selection)
        embedder = self._corpus.embedder
        remember_parts(self._index, embedder, passages)
        lexical = () if embedder is not None else (LEXICAL_ALONE,)
        return Evidence(
            passages=passages,
            hits=hits,
            affinity=affinity(self._index, embedder, claims, [passage.id for passage in passages]),
            notes=(WHOLE_CORPUS, *queries.notes, *self.selection.notes, *lexical),
        )


def apply_selection(
    found: Found, queries: Mapping[str, str], selection: Selection
) -> tuple[tuple[Passage, ...], dict[str, tuple[Hit, ...]]]:
    """Applies the selection: the passages, re-ranked and merged where that is wanted, and the k hits of each claim.

    Near-duplicates are merged over all claims of the response, as its graph holds all passages.
    """
    if selection.reranker is not None:
        found = {claim: rerank(selection.reranker, queries[claim], own) for claim, own in found.items()}
    candidates: dict[str, Passage] = {}
    for passage in (passage for own in found.values() for passage, _ in own):
        known = candidates.get(passage.id)
        candidates[passage.id] = passage if known is None else one_of(known, passage)
    survivor = {passage: passage for passage in candidates}
    if selection.merge_near_duplicates:
        merged = merge_near_duplicates(list(candidates.values()))
        survivor = dict(merged.survivor)
        candidates = {passage.id: passage for passage in merged.passages}
    hits = {
        claim: hits_of([(survivor[passage.id], score) for passage, score in own], selection.k) for claim, own in found.items()
    }
    kept = dict.fromkeys(hit.passage_id for own in hits.values() for hit in own)
    return tuple(candidates[passage] for passage in kept), hits


def one_of(passage: Passage, again: Passage) -> Passage:
    """Joins two passages with the same text: all links of both; other fields of the one whose first link sorts first."""
    first = min(passage, again, key=lambda one: (one.links, one.title, one.date or "", one.provider))
    return first.model_copy(update={"links": tuple(sorted({*passage.links, *again.links}))})


def rerank(reranker: Reranker, query: str, found: Sequence[tuple[Passage, float]]) -> list[tuple[Passage, float]]:
    """The same passages in the order of the reranker's scores, ties by id."""
    scores = reranker.scores(query, [passage.text for passage, _ in found])
    again = [(passage, score) for (passage, _), score in zip(found, scores, strict=True)]
    return sorted(again, key=lambda item: (-item[1], item[0].id))


def query_vectors(embedder: Embedder | None, texts: Sequence[str]) -> Sequence[Vectors | None]:
    """The vector of each text as a query; None for each without an embedder."""
    return [None] * len(texts) if embedder is None else list(embedder.encode(texts, role="query"))


def search_all(
    index: Index, embedder: Embedder | None, queries: Mapping[str, str], count: int
) -> dict[str, list[tuple[str, float]]]:
    """Claim id -> the best `count` passages of the index for its query, as (id, score); `queries` by claim id too."""
    vectors = query_vectors(embedder, list(queries.values()))
    asked = zip(queries.items(), vectors, strict=True)
    return {claim: index.search(query, vector, count) for (claim, query), vector in asked}


def affinity(
    index: Index, embedder: Embedder | None, claims: Sequence[Claim], passages: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Claim id -> passage id -> how well they match, for every claim with every passage (see Index.affinity)."""
    vectors = query_vectors(embedder, [claim.text for claim in claims])
    return {claim.id: index.affinity(claim.text, vector, passages) for claim, vector in zip(claims, vectors, strict=True)}


def hits_of(found: Sequence[tuple[str, float]], k: int) -> tuple[Hit, ...]:
    """The first k different passages, with their best scores and ranks from 1."""
    scores: dict[str, float] = {}
    for passage, score in found:
        scores.setdefault(passage, score)
    ranked = list(scores.items())[:k]
    return tuple(Hit(passage_id=passage, rank=rank, score=score) for rank, (passage, score) in enumerate(ranked, start=1))


def remember_parts(index: Index, embedder: Embedder | None, passages: Sequence[Passage]) -> None:
    """Hands the embedder the vectors that the index has of these passages, so that they are not computed again."""
    for passage in passages:
        vectors = index.vectors_of(passage.id)
        if embedder is not None and vectors is not None:
            embedder.remember(embedder.parts(passage.text), vectors)
