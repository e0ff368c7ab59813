"""Evidence that comes with the response; where a response has none, another retriever is asked."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass

from localfact.corpus.indexing.index import Index
from localfact.corpus.passages import PassageKind, cap, chunks
from localfact.errors import MissingError
from localfact.evidence.corpus_retriever import LEXICAL_ALONE, affinity, hits_of, search_all
from localfact.evidence.duplicates import merge_near_duplicates
from localfact.evidence.queries import Queries, QueryWriter, queries_of
from localfact.models.embedder import Embedder
from localfact.records import Claim, Evidence, Hit, Passage, Response, passage_id
from localfact.stages import Retriever

RANKED = "Evidence: the response's own passages were ranked for its claims."


@dataclass(frozen=True)
class GivenEvidence:
    """Uses the passages that came with a response.

    A claim that came with the response keeps the passages that the input gives it, even if there are none. For extracted
    claims, and where the input does not say which passages belong to which claim, the response's passages are ranked.

    Attributes:
        fallback: asked where a response brings no evidence; None for nobody.
        embedder: ranks passages, with BM25; None for BM25 alone.
        k: how many passages a claim gets where they are ranked.
        kind: into what the passages are cut, as those of a corpus are: a page of any length may come with a response.
        merge_near_duplicates: whether near-duplicate passages are merged.
        queries: writes what they are ranked by; None where each claim is its own query.
    """

    fallback: Retriever | None
    embedder: Embedder | None
    _: KW_ONLY
    k: int = 5
    kind: PassageKind = "pages"
    merge_near_duplicates: bool = False
    queries: QueryWriter | None = None

    async def retrieve(self, response: Response, claims: Sequence[Claim]) -> Evidence:
        """Returns the evidence of the response, or the fallback's.

        Raises:
            MissingError: the response brings none and there is no fallback.
        """
        if response.evidence is not None:
            unlinked = claims_without_links(response, response.evidence, claims) if response.evidence.passages else ()
            queries = await queries_of(self.queries if unlinked else None, response, unlinked)
            return await asyncio.to_thread(self._retrieve, response.evidence, claims, queries)
        if self.fallback is None:
            raise MissingError(
                f"The response '{response.id}' brings no passages, and no corpus was named. Name one with --corpus DIR; "
                "`localfact corpus build PAGES --out DIR` makes one from your own pages."
            )
        return await self.fallback.retrieve(response, claims)

    def _retrieve(self, given: Evidence, claims: Sequence[Claim], queries: Queries) -> Evidence:
        if not given.passages:
            return Evidence(hits={claim.id: () for claim in claims}, notes=given.notes)
        given, linked = cut_evidence(given, self.kind)
        if self.merge_near_duplicates:
            given = merge_evidence(given)
        index = Index.of({passage.id: passage.text for passage in given.passages}, self.embedder)
        found = search_all(index, self.embedder, queries.texts, self.k)
        matching = affinity(index, self.embedder, claims, [passage.id for passage in given.passages])
        hits = {claim.id: given.hits.get(claim.id, ()) for claim in claims}
        hits |= {claim: best_hits(own, matching[claim], self.k) for claim, own in hits.items() if claim in linked}
        hits |= {claim: hits_of(ranked, self.k) for claim, ranked in found.items()}
        all_ranked = all(claim.id in found for claim in claims)
        passages = hit_passages(given, hits) if all_ranked else given.passages
        notes = list(given.notes)
        if found:
            notes += [RANKED, *queries.notes]
        if self.embedder is None:
            notes.append(LEXICAL_ALONE)
        kept = {passage.id for passage in passages}
        near = {claim: {passage: score for passage, score in own.items() if passage in kept} for claim, own in matching.items()}
        return Evidence(passages=passages, hits=hits, affinity=near, notes=tuple(notes))


def cut_evidence(given: Evidence, kind: PassageKind) -> tuple[Evidence, set[str]]:
    """Cuts each passage as a page of a corpus is cut. Also returns the claims with a passage that became several.

    Those claims are linked to all parts of their passages, in order.
    """
    parts = {passage.id: parts_of(passage, kind) for passage in given.passages}
    unique = {part.id: part for several in parts.values() for part in several}
    linked = {
        claim: [(part.id, hit.score) for hit in own for part in parts[hit.passage_id]] for claim, own in given.hits.items()
    }
    hits = {
        claim: tuple(Hit(passage_id=part, rank=rank, score=score) for rank, (part, score) in enumerate(own, start=1))
        for claim, own in linked.items()
    }
    several = {claim for claim, own in given.hits.items() if any(len(parts[hit.passage_id]) > 1 for hit in own)}
    uncut = all(len(own) == 1 and own[0].id == name for name, own in parts.items())
    return (given if uncut else given.model_copy(update={"passages": tuple(unique.values()), "hits": hits})), several


def parts_of(passage: Passage, kind: PassageKind) -> list[Passage]:
    """A given passage unchanged if it is short; else its chunks, or its beginning."""
    texts = chunks(passage.text) if kind == "chunks" else [cap(passage.text)]
    if len(texts) < 2 and texts == [passage.text]:
        return [passage]
    return [passage.model_copy(update={"id": passage_id(text), "text": text}) for text in texts]


def best_hits(own: Sequence[Hit], matching: Mapping[str, float], k: int) -> tuple[Hit, ...]:
    """The k of a claim's hits that match it best."""
    found = {hit.passage_id: matching.get(hit.passage_id, 0.0) for hit in own}
    return hits_of(sorted(found.items(), key=lambda one: -one[1]), k)


def merge_evidence(given: Evidence) -> Evidence:
    """The evidence with near-duplicate passages merged; a claim hits each remaining passage once, at its best rank."""
    merged = merge_near_duplicates(given.passages)
    hits = {
        claim: hits_of([(merged.survivor[hit.passage_id], hit.score) for hit in own], len(own))
        for claim, own in given.hits.items()
    }
    return given.model_copy(update={"passages": merged.passages, "hits": hits})


def claims_without_links(response: Response, given: Evidence, claims: Sequence[Claim]) -> list[Claim]:
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
