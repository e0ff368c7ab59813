"""Withholds verdicts that what was found cannot carry: what nobody could read, and what a page says of somebody else.

Ours: the methods of the papers decide as published.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from localfact.assess.around import AroundAssessor
from localfact.assess.flags import behind_it, is_foreign
from localfact.assess.unclear import has_unclear_subject, is_about_another
from localfact.records import Claim, Evidence, Judgement, Passage, Response, Verdict
from localfact.stages import Relations
from localfact.vocabulary import VerdictLabel

#: Why a claim has no verdict.
UNMEASURED = "The claim is in a language that the relation model does not know, so nothing was measured."
ABOUT_ANOTHER = "What was found is about somebody whom the response does not name, and the claim does not say whom it is about."


@dataclass(frozen=True)
class Withholding(AroundAssessor):
    """Wraps an assessor and withholds verdicts that rest on evidence which cannot support them.

    Attributes:
        languages: those that the relation model knows, as two-letter codes; None where that is not stated, as of a large
            language model. Claims in another are unverifiable.
    """

    languages: Collection[str] | None = None

    async def assess(self, response: Response, claims: Sequence[Claim], evidence: Evidence, relations: Relations) -> Judgement:
        """The wrapped assessor's judgement; failed claims stay failed. Detecting a language loads a model: in a thread."""
        judgement = await self.assessor.assess(response, claims, evidence, relations)
        return await asyncio.to_thread(self._withhold, response, claims, evidence, judgement)

    def _withhold(self, response: Response, claims: Sequence[Claim], evidence: Evidence, judgement: Judgement) -> Judgement:
        unmeasured = is_foreign(" ".join(claim.text for claim in claims), self.languages)
        passages = {passage.id: passage for passage in evidence.passages}
        unclear = {claim.id for claim in claims if has_unclear_subject(claim)}

        def withhold(verdict: Verdict) -> Verdict:
            if verdict.label is VerdictLabel.FAILED:
                return verdict
            if unmeasured:
                return _replace(verdict, VerdictLabel.UNVERIFIABLE, UNMEASURED)
            if verdict.claim_id in unclear and _speaks_of_another(verdict, passages, response):
                return _replace(verdict, VerdictLabel.NOT_ENOUGH_EVIDENCE, ABOUT_ANOTHER)
            return verdict

        return judgement.model_copy(update={"verdicts": tuple(map(withhold, judgement.verdicts))})


def _speaks_of_another(verdict: Verdict, passages: Mapping[str, Passage], response: Response) -> bool:
    behind = [passages[counted.passage_id] for counted in behind_it(verdict)]
    return bool(behind) and all(is_about_another(one, response) for one in behind)


def _replace(verdict: Verdict, label: VerdictLabel, rationale: str) -> Verdict:
    return verdict.model_copy(update={"label": label, "posterior": None, "rationale": rationale})
