"""Searches for a claim several times, each query written after what the earlier ones found was seen (SAFE, Wei et al. 2024)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple

from localfact.errors import PromptTooLongError, RequestError
from localfact.evidence.queries import queries_about
from localfact.llm.engine import Engine
from localfact.prompts import boundary_of, next_query_chat
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


@dataclass(frozen=True)
class StepwiseRetriever:
    """Asks another retriever up to `steps` times for each claim, and puts together what it finds.

    Attributes:
        engine: writes the queries.
        searched: finds the passages of one query, which stands in the place of a claim.
        steps: the most searches for a claim; a query that is the same as an earlier one, or none, ends them.
        seed: of the boundary's markers and of the sampling.
    """

    engine: Engine
    searched: Retriever
    _: KW_ONLY
    steps: int
    seed: int = 0

    async def retrieve(self, response: Response, claims: Sequence[Claim]) -> Evidence:
        """Returns the passages of all searches, those of earlier ones first, each once a claim.

        A response that brings its own passages is not searched for.

        Raises:
            LocalFactError: as the other retriever's; or one of the engine that concerns all claims.
        """
        if response.evidence is not None:
            return await self.searched.retrieve(response, claims)
        found = await together(self._steps_of(response, claim) for claim in claims)
        passages: dict[str, Passage] = {}
        hits: dict[str, tuple[Hit, ...]] = {}
        for one in found:
            own = {passage.id: passage for _, group in one.searches for passage in group}
            passages |= {name: passage for name, passage in own.items() if name not in passages}
            hits[one.claim] = tuple(Hit(passage_id=name, rank=rank, score=1 / rank) for rank, name in enumerate(own, start=1))
        parts = [part for one in found for part in one.parts]
        sums: Counter[str] = Counter()
        for part in parts:
            sums.update(part.counts)
        counts = {name: count for name, count in sums.items() if not name.startswith("claims_")}
        counts["steps"] = sum(len(one.searches) for one in found)
        empty = sum(not own for own in hits.values())
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
        for _ in range(self.steps):
            query = await self._next(claim, searches)
            if query is None or normalise(query) in {normalise(earlier) for earlier, _ in searches}:
                if searches:
                    break
                query = claim.text  # a model that writes no query leaves the claim's own words
            part = await self.searched.retrieve(response, [claim.model_copy(update={"text": query})])
            by_id = {passage.id: passage for passage in part.passages}
            searches.append((query, tuple(by_id[hit.passage_id] for hit in part.hits.get(claim.id, ()))))
            parts.append(part)
            if part.failures:
                break
        return _Found(claim.id, tuple(searches), tuple(parts))

    async def _next(self, claim: Claim, searches: Sequence[tuple[str, Sequence[Passage]]]) -> str | None:
        """The next query; None where the model wrote none that can be used."""
        chat = next_query_chat(claim.text, searches, boundary=boundary_of(self.engine, self.seed))
        try:
            generation = await self.engine.generate(chat, max_tokens=MAX_TOKENS, seed=self.seed, stage=STAGE)
        except (PromptTooLongError, RequestError):
            return None
        return next(iter(queries_about(claim.text, generation)), None)
