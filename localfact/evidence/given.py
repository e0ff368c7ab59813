"""Evidence that comes with the response; where a response has none, another retriever is asked."""

import asyncio
from collections.abc import Mapping, Sequence

from localfact.corpus.indexing.index import Index
from localfact.errors import MissingError
from localfact.evidence.corpus_retriever import LEXICAL_ALONE, affinity, hits_of, search_all
from localfact.evidence.duplicates import merge_near_duplicates
from localfact.evidence.queries import Queries, QueryWriter, queries_of
from localfact.models.embedder import Embedder
from localfact.records import Claim, Evidence, Hit, Passage, Response
from localfact.stages import Retriever

RANKED = "Evidence: the response's own passages were ranked for its claims."


class GivenEvidence:
    """Uses the passages that came with a response.

    A claim that came with the response keeps the passages that the input gives it, even if there are none. For extracted
    claims, and where the input does not say which passages belong to which claim, the response's passages are ranked.

    Args:
        fallback: asked where a response brings no evidence; None for nobody.
        embedder: ranks passages, with BM25; None for BM25 alone.
        k: how many passages a claim gets where they are ranked.
        merge_near_duplicates: whether near-duplicate passages are merged.
        queries: writes what they are ranked by; None where each claim is its own query.
    """

    def __init__(
        self,
        fallback: Retriever | None,
        embedder: Embedder | None,
        *,
        k: int = 5,
        merge_near_duplicates: bool = False,
        queries: QueryWriter | None = None,
    ) -> None:
        self._fallback = fallback
        self._embedder = embedder
        self._k = k
        self._merge = merge_near_duplicates
        self._writer = queries

    async def retrieve(self, response: Response, claims: Sequence[Claim]) -> Evidence:
        """Returns the evidence of the response, or the fallback's.

        Raises:
            MissingError: the response brings none and there is no fallback.
        """
        if response.evidence is not None:
            unlinked = unlinked_claims(response, response.evidence, claims) if response.evidence.passages else ()
            queries = await queries_of(self._writer if unlinked else None, response, unlinked)
            return await asyncio.to_thread(self._retrieve, response.evidence, claims, queries)
        if self._fallback is None:
            raise MissingError(
                f"The response '{response.id}' brings no passages, and no corpus was named. Name one with --corpus DIR; "
                "`localfact corpus build PAGES --out DIR` makes one from your own pages."
            )
        return await self._fallback.retrieve(response, claims)

    def _retrieve(self, given: Evidence, claims: Sequence[Claim], queries: Queries) -> Evidence:
        if not given.passages:
            return Evidence(hits={claim.id: () for claim in claims}, notes=given.notes)
        if self._merge:
            given = merged_evidence(given)
        index = Index.of({passage.id: passage.text for passage in given.passages}, self._embedder)
        found = search_all(index, self._embedder, queries.texts, self._k)
        hits = {claim.id: given.hits.get(claim.id, ()) for claim in claims}
        hits |= {claim: hits_of(ranked, self._k) for claim, ranked in found.items()}
        all_ranked = all(claim.id in found for claim in claims)
        passages = hit_passages(given, hits) if all_ranked else given.passages
        notes = list(given.notes)
        if found:
            notes += [RANKED, *queries.notes]
        if self._embedder is None:
            notes.append(LEXICAL_ALONE)
        ids = [passage.id for passage in passages]
        return Evidence(passages=passages, hits=hits, affinity=affinity(index, self._embedder, claims, ids), notes=tuple(notes))


def merged_evidence(given: Evidence) -> Evidence:
    """The evidence with near-duplicate passages merged; a claim hits each remaining passage once, at its best rank."""
    merged = merge_near_duplicates(given.passages)
    hits = {
        claim: hits_of([(merged.survivor[hit.passage_id], hit.score) for hit in own], len(own))
        for claim, own in given.hits.items()
    }
    return given.model_copy(update={"passages": merged.passages, "hits": hits})


def unlinked_claims(response: Response, given: Evidence, claims: Sequence[Claim]) -> list[Claim]:
    """The claims for which the input names no passages; all claims, where it names passages for none.

    A claim of the input is recognised by its id and its wording, or its wording before it was revised.
    """
    named = given.hits if any(given.hits.values()) else {}
    linked = {claim.id: claim.text for claim in response.claims or () if claim.id in named}
    return [claim for claim in claims if linked.get(claim.id) not in (claim.text, claim.original or claim.text)]


def hit_passages(given: Evidence, hits: Mapping[str, Sequence[Hit]]) -> tuple[Passage, ...]:
    """The passages that are a hit of some claim, in the order given."""
    hit = {hit.passage_id for own in hits.values() for hit in own}
    return tuple(passage for passage in given.passages if passage.id in hit)
