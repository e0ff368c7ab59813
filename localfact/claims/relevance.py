"""Finds out which claims are relevant to the question, one call a claim (SAFE, Wei et al. 2024, section 3)."""

from dataclasses import KW_ONLY, dataclass

from localfact.errors import PromptTooLongError, RequestError, UnlikelyLabelsError
from localfact.llm.engine import Engine
from localfact.prompts import boundary_of, relevance_chat
from localfact.records import Claim, Extraction, PreVerification, Response
from localfact.runtime.tasks import together
from localfact.stages import ClaimExtractor
from localfact.vocabulary import PreVerificationLabel

#: The stage that calls are counted under.
STAGE = "relevance"
YES, NO = "yes", "no"


@dataclass(frozen=True)
class RelevantClaims:
    """An extractor that marks what another one extracts: an irrelevant claim carries that label, and is not judged later.

    Attributes:
        found: extracts the claims.
        engine: the language model.
        seed: of the boundary's markers.
    """

    found: ClaimExtractor
    engine: Engine
    _: KW_ONLY
    seed: int = 0

    async def extract(self, response: Response) -> Extraction:
        """Returns the claims. Without a question all count as relevant; so does a claim that cannot be asked about."""
        extraction = await self.found.extract(response)
        if not response.prompt:
            return extraction
        claims = await together(self._mark_relevance(claim, response, response.prompt) for claim in extraction.claims)
        irrelevant = sum(claim.preverification is not None for claim in claims)
        counts = {**extraction.counts, "claims_irrelevant": irrelevant}
        return extraction.model_copy(update={"claims": tuple(claims), "counts": counts})

    async def _mark_relevance(self, claim: Claim, response: Response, question: str) -> Claim:
        chat = relevance_chat(question, response.text, claim.text, boundary=boundary_of(self.engine, self.seed))
        try:
            choice = await self.engine.choose(chat, (YES, NO), stage=STAGE)
        except (PromptTooLongError, RequestError, UnlikelyLabelsError):
            return claim
        if choice.best == YES:
            return claim
        opinion = PreVerification(label=PreVerificationLabel.IRRELEVANT, confidence=choice.distribution[NO])
        return claim.model_copy(update={"preverification": opinion})
