"""Finds the passages of each claim in a corpus: the retriever for responses that bring no passages of their own."""

import asyncio
from collections.abc import Mapping, Sequence

from localfact.embedding import Embedder
from localfact.evidence.corpus import Corpus
from localfact.evidence.duplicates import merge_near_duplicates
from localfact.evidence.index import Index
from localfact.evidence.passages import PassageKind
from localfact.evidence.queries import Queries, QueryWriter, queries_of
from localfact.records import Claim, Evidence, Hit, Passage, Response

#: How many times k passages are looked at for each claim, so that k are left when near-duplicates are merged.
CANDIDATES_PER_PASSAGE = 3

WHOLE_CORPUS = "Evidence: the whole corpus was searched for every claim (scope corpus)."
LEXICAL_ALONE = "Evidence: no embedder, so passages were matched to claims by BM25 alone."


class CorpusRetriever:
    """Takes the k best passages of the whole corpus for each claim (`scope = corpus`)."""

    def __init__(
        self,
        corpus: Corpus,
        *,
        kind: PassageKind = "pages",
        k: int = 5,
        merge_near_duplicates: bool = True,
        queries: QueryWriter | None = None,
    ) -> None:
        """Takes an opened corpus, and who writes the queries; None where each claim is its own query.

        Raises:
            InputError: the corpus was built without passages of that kind. CorpusError: their index is damaged.
        """
        self._corpus = corpus
        self._index = corpus.index(kind)
        self._k = k
        self._merge = merge_near_duplicates
        self._writer = queries

    async def retrieve(self, response: Response, claims: Sequence[Claim]) -> Evidence:
        """Returns up to k passages a claim, best first, scored as in Index.search, and the affinity of all to all claims.

        Hits and their scores are those of the claim's query; affinity is always that of the claim's own words.

        Raises:
            LocalFactError: the writer of queries failed for all claims alike.
        """
        queries = await queries_of(self._writer, response, claims)
        return await asyncio.to_thread(self._retrieve, claims, queries)

    def _retrieve(self, claims: Sequence[Claim], queries: Queries) -> Evidence:
        count = self._k * CANDIDATES_PER_PASSAGE if self._merge else self._k
        found = search_all(self._index, self._corpus.embedder, queries.texts, count)
        candidates = self._corpus.store.passages(passage for ranked in found.values() for passage, _ in ranked)
        survivor = {passage: passage for passage in candidates}
        if self._merge:
            merged = merge_near_duplicates(list(candidates.values()))
            survivor = dict(merged.survivor)
            candidates = {passage.id: passage for passage in merged.passages}
        hits = {claim: hits_of([(survivor[passage], score) for passage, score in found[claim]], self._k) for claim in found}
        kept = dict.fromkeys(hit.passage_id for own in hits.values() for hit in own)
        remember_parts(self._index, self._corpus.embedder, [candidates[passage] for passage in kept])
        lexical = () if self._corpus.embedder is not None else (LEXICAL_ALONE,)
        return Evidence(
            passages=tuple(candidates[passage] for passage in kept),
            hits=hits,
            affinity=affinity(self._index, self._corpus.embedder, claims, list(kept)),
            notes=(WHOLE_CORPUS, *queries.notes, *lexical),
        )


def search_all(
    index: Index, embedder: Embedder | None, queries: Mapping[str, str], count: int
) -> dict[str, list[tuple[str, float]]]:
    """Claim id -> the best `count` passages of the index for its query, as (id, score); `queries` by claim id too."""
    if embedder is None:
        return {claim: index.search(query, None, count) for claim, query in queries.items()}
    vectors = embedder.encode(list(queries.values()))
    searched = zip(queries.items(), vectors, strict=True)
    return {claim: index.search(query, vector, count) for (claim, query), vector in searched}


def affinity(
    index: Index, embedder: Embedder | None, claims: Sequence[Claim], passages: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Claim id -> passage id -> how well they match, for every claim with every passage (see Index.affinity)."""
    if embedder is None:
        return {claim.id: index.affinity(claim.text, None, passages) for claim in claims}
    vectors = embedder.encode([claim.text for claim in claims])
    return {claim.id: index.affinity(claim.text, vector, passages) for claim, vector in zip(claims, vectors, strict=True)}


def hits_of(found: Sequence[tuple[str, float]], k: int) -> tuple[Hit, ...]:
    """The first k different passages, with their best scores and ranks from 1."""
    scores: dict[str, float] = {}
    for passage, score in found:
        scores.setdefault(passage, score)
    ranked = list(scores.items())[:k]
    return tuple(Hit(passage_id=passage, rank=rank, score=score) for rank, (passage, score) in enumerate(ranked, start=1))


def remember_parts(index: Index, embedder: Embedder | None, passages: Sequence[Passage]) -> None:
    """Gives the embedder the vectors that the index has of these passages, so that nobody embeds them again."""
    for passage in passages:
        vectors = index.vectors_of(passage.id)
        if embedder is not None and vectors is not None:
            embedder.remember(embedder.parts(passage.text), vectors)
