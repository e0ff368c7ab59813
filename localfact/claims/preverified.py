"""Pre-verifies claims that come with the input, so that FastFact's gate can decide them like extracted ones.

Nothing is generated: the prompt is that of extraction, the claim is given as the beginning of the answer, and the probabilities
of the six labels are read at the label's place (FastFact, section 4.1).
"""

from dataclasses import KW_ONLY, dataclass

from localfact.claims.given import read_given_claims
from localfact.claims.label_asking import ask_label
from localfact.llm.engine import Chat, Engine
from localfact.prompts import boundary_of, extraction_chat
from localfact.records import Claim, Extraction, Response
from localfact.runtime.tasks import together
from localfact.stages import ClaimExtractor

NOT_PREVERIFIED = (
    "Some given claims could not be pre-verified, as they do not fit the window or the model does not answer as asked."
)


@dataclass(frozen=True)
class PreVerifiedClaims:
    """An extractor that prefers the claims of the input, and pre-verifies those that are not yet.

    Attributes:
        engine: the language model.
        fallback: extracts the claims of responses without any.
        seed: of the boundary's markers.
    """

    engine: Engine
    fallback: ClaimExtractor
    _: KW_ONLY
    seed: int = 0

    async def extract(self, response: Response) -> Extraction:
        """Returns the given claims, each with its pre-verification, else what the fallback extracts.

        A claim whose prompt does not fit the window gets none, and so goes to evidence. Claims of an earlier extraction pass
        are not pre-verified again, even those that it left without.
        """
        extraction = read_given_claims(response)
        if extraction is None:
            return await self.fallback.extract(response)
        if response.extraction is not None:
            return extraction
        chat = extraction_chat(
            response.prompt, response.topic, "", response.text, "", boundary=boundary_of(self.engine, self.seed)
        )
        claims = await together(self._preverify(chat, claim) for claim in extraction.claims)
        missing = sum(claim.preverification is None for claim in claims)
        return extraction.model_copy(
            update={
                "claims": tuple(claims),
                "counts": {**extraction.counts, "preverifications_missing": missing},
                "warnings": (*extraction.warnings, *([NOT_PREVERIFIED] if missing else [])),
            }
        )

    async def _preverify(self, chat: Chat, claim: Claim) -> Claim:
        if claim.preverification is not None:
            return claim
        prefix = f"- {' '.join(claim.text.split())} ###"
        opinion = await ask_label(self.engine, chat, prefix, with_distribution=True)
        return claim.model_copy(update={"preverification": opinion})
