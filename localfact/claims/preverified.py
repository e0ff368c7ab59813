"""Pre-verifies claims that come with the input, so that FastFact's gate can decide them like extracted ones.

Nothing is generated: the prompt is that of extraction, the claim is given as the beginning of the answer, and the probabilities
of the six labels are read at the label's place (FastFact, section 4.1).
"""

from collections.abc import Sequence

from localfact.claims.chunked import ASKED_LABELS, PREVERIFY, WRITTEN, confidence_of, with_distribution
from localfact.claims.given import given
from localfact.errors import PromptTooLongError, RequestError, UnlikelyLabelsError
from localfact.llm.engine import Chat, Engine
from localfact.prompts import Boundary, extraction_chat
from localfact.records import Claim, Extraction, PreVerification, Response
from localfact.runtime.tasks import together
from localfact.stages import ClaimExtractor


class PreVerifiedClaims:
    """An extractor that prefers the claims of the input, and pre-verifies those that are not yet.

    Args:
        engine: the language model. fallback: extracts the claims of responses without any. seed: of the boundary's markers.
    """

    def __init__(self, engine: Engine, fallback: ClaimExtractor, *, seed: int = 0) -> None:
        self._engine = engine
        self._fallback = fallback
        self._boundary = Boundary(seed)

    async def extract(self, response: Response) -> Extraction:
        """Returns the given claims, each with its pre-verification, else what the fallback extracts.

        A claim whose prompt does not fit the window gets none, and so goes to evidence. Claims of an earlier extraction pass
        are not pre-verified again, even those that it left without.
        """
        extraction = given(response)
        if extraction is None:
            return await self._fallback.extract(response)
        if response.extraction is not None:
            return extraction
        chat = extraction_chat(response.prompt, response.topic, "", response.text, "", boundary=self._boundary)
        claims = await together(self._preverify(chat, claim) for claim in extraction.claims)
        missing = sum(claim.preverification is None for claim in claims)
        return extraction.model_copy(
            update={
                "claims": tuple(claims),
                "counts": {**extraction.counts, "preverifications_missing": missing},
                "warnings": (*extraction.warnings, *self._warnings(missing)),
            }
        )

    async def _preverify(self, chat: Chat, claim: Claim) -> Claim:
        if claim.preverification is not None:
            return claim
        prefix = f"- {' '.join(claim.text.split())} ###"
        try:
            choice = await self._engine.choose(chat, ASKED_LABELS, prefix=prefix, whole=True, stage=PREVERIFY)
        except (PromptTooLongError, RequestError, UnlikelyLabelsError):
            return claim
        opinion = PreVerification(label=WRITTEN[choice.best], confidence=confidence_of(choice))
        return claim.model_copy(update={"preverification": with_distribution(opinion, choice)})

    @staticmethod
    def _warnings(missing: int) -> Sequence[str]:
        if not missing:
            return ()
        return (
            "Some given claims could not be pre-verified, as they do not fit the window or the model does not answer as asked.",
        )
