"""Searches for a claim several times, each query written after what the earlier ones found was seen (SAFE, Wei et al. 2024)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from localfact.errors import PromptTooLongError, RequestError
from localfact.evidence.queries import queries_about
from localfact.llm.engine import Engine
from localfact.prompts import Boundary, next_query_chat
from localfact.records import Claim, Evidence, Hit, Passage, Response
from localfact.runtime.tasks import together
from localfact.stages import Retriever
from localfact.text import normalise

#: The stage that calls are counted under.
STAGE = "query"
#: Of the answer, a query.
MAX_TOKENS = 64

STEPWISE = "Evidence: the language model wrote search queries one after the other, and saw what the earlier ones found."


class _Found(NamedTuple):
    """The searches made for one claim, in order: each query with its passages, and the evidence of each."""

    claim: str
    searches: tuple[tuple[str, tuple[Passage, ...]], ...]
    parts: tuple[Evidence, ...]


class StepwiseRetriever:
    """Asks another retriever up to `steps` times for each claim, and puts together what it finds.

    Args:
        engine: writes the queries. searched: finds the passages of one query, which stands in the place of a claim.
        steps: the most searches for a claim; a query that is the same as an earlier one, or none, ends them.
        seed: of the boundary's markers and of the sampling.
    """

    def __init__(self, engine: Engine, searched: Retriever, *, steps: int, seed: int = 0) -> None:
        self._engine = engine
        self._searched = searched
        self._steps = steps
        self._seed = seed
        self._boundary = Boundary(seed)

    async def retrieve(self, response: Response, claims: Sequence[Claim]) -> Evidence:
        """Returns the passages of all searches, those of earlier ones first, each once a claim.

        A response that brings its own passages is not searched for.

        Raises:
            LocalFactError: as the other retriever's; or one of the engine that concerns all claims.
        """
        if response.evidence is not None:
            return await self._searched.retrieve(response, claims)
        found = await together(self._steps_of(response, claim) for claim in claims)
        passages: dict[str, Passage] = {}
        hits: dict[str, tuple[Hit, ...]] = {}
        for one in found:
            own = {passage.id: passage for _, group in one.searches for passage in group}
            passages |= {name: passage for name, passage in own.items() if name not in passages}
            hits[one.claim] = tuple(Hit(passage_id=name, rank=rank, score=1 / rank) for rank, name in enumerate(own, start=1))
        parts = [part for one in found for part in one.parts]
        counts = _sum_counts([part.counts for part in parts]) | {"steps": sum(len(one.searches) for one in found)}
        empty = sum(not own for own in hits.values())
        counts = {name: count for name, count in counts.items() if not name.startswith("claims_")}
        counts |= {"claims_without_passages": empty} if empty else {}
        return Evidence(
            passages=tuple(passages.values()),
            hits=hits,
            failures={one.claim: why for one in found for part in one.parts for why in part.failures.values()},
            counts=counts,
            notes=tuple(dict.fromkeys((*(note for part in parts for note in part.notes), STEPWISE))),
        )

    async def _steps_of(self, response: Response, claim: Claim) -> _Found:
        searches: list[tuple[str, tuple[Passage, ...]]] = []
        parts: list[Evidence] = []
        for _ in range(self._steps):
            query = await self._next(claim, searches)
            if query is None or normalise(query) in {normalise(earlier) for earlier, _ in searches}:
                if searches:
                    break
                query = claim.text  # a model that writes no query leaves the claim's own words
            part = await self._searched.retrieve(response, [claim.model_copy(update={"text": query})])
            by_id = {passage.id: passage for passage in part.passages}
            searches.append((query, tuple(by_id[hit.passage_id] for hit in part.hits.get(claim.id, ()))))
            parts.append(part)
            if part.failures:
                break
        return _Found(claim.id, tuple(searches), tuple(parts))

    async def _next(self, claim: Claim, searches: Sequence[tuple[str, Sequence[Passage]]]) -> str | None:
        """The next query; None where the model wrote none that can be used."""
        chat = next_query_chat(claim.text, searches, boundary=self._boundary)
        try:
            generation = await self._engine.generate(chat, max_tokens=MAX_TOKENS, seed=self._seed, stage=STAGE)
        except (PromptTooLongError, RequestError):
            return None
        return next(iter(queries_about(claim.text, generation)), None)


def _sum_counts(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    return {name: sum(one.get(name, 0) for one in counts) for name in dict.fromkeys(name for one in counts for name in one)}
