"""Strategies of a few lines, for tests of what stands around the stages."""

import asyncio
from collections.abc import Sequence

from localfact.pipeline import Pipeline
from localfact.records import (
    Claim,
    Distribution,
    Evidence,
    Extraction,
    Failure,
    Hit,
    Judgement,
    Pair,
    Passage,
    Response,
    Verdict,
    passage_id,
)
from localfact.stages import Relations
from localfact.vocabulary import VerdictLabel

PASSAGE = Passage(id=passage_id("All is well."), text="All is well.")


class LineExtractor:
    """One claim a line; the text "boom" is a bug of the extractor."""

    async def extract(self, response: Response) -> Extraction:
        await asyncio.sleep(0)
        if response.text == "boom":
            raise ZeroDivisionError("a bug")
        lines = [line for line in response.text.splitlines() if line]
        return Extraction(claims=tuple(Claim(id=f"c{number}", text=line) for number, line in enumerate(lines, start=1)))


class OnePassage:
    """The same passage for every claim."""

    async def retrieve(self, response: Response, claims: Sequence[Claim]) -> Evidence:
        return Evidence(
            passages=(PASSAGE,), hits={claim.id: (Hit(passage_id=PASSAGE.id, rank=1, score=1.0),) for claim in claims}
        )


class WordRelations:
    """Entails claims with the word "true", fails on "broken", is neutral to the rest; counts how many pairs it was asked."""

    identity = "words"

    def __init__(self) -> None:
        self.asked = 0

    async def relate(self, pairs: Sequence[Pair]) -> Sequence[Distribution | Failure]:
        self.asked += len(pairs)
        return [self.one(pair) for pair in pairs]

    def one(self, pair: Pair) -> Distribution | Failure:
        if "broken" in pair.hypothesis:
            return Failure(reason="cannot read it")
        entailment = 0.9 if "true" in pair.hypothesis else 0.1
        return Distribution(entailment=entailment, contradiction=0.0, neutral=1 - entailment)


class EntailedIsSupported:
    """Supported where the passage entails, undecided elsewhere."""

    def needs_evidence(self, claims: Sequence[Claim]) -> Sequence[Claim]:
        return claims

    def pairs(self, claims: Sequence[Claim], evidence: Evidence) -> Sequence[Pair]:
        return [Pair(passage.text, claim.text) for claim in claims for passage in evidence.passages]

    async def assess(self, response: Response, claims: Sequence[Claim], evidence: Evidence, relations: Relations) -> Judgement:
        return Judgement(verdicts=tuple(self.one(claim, evidence, relations) for claim in claims))

    def one(self, claim: Claim, evidence: Evidence, relations: Relations) -> Verdict:
        prediction = relations[Pair(evidence.passages[0].text, claim.text)]
        if isinstance(prediction, Failure):
            return Verdict(claim_id=claim.id, label=VerdictLabel.FAILED, rationale=prediction.reason)
        label = VerdictLabel.SUPPORTED if prediction.entailment > 0.5 else VerdictLabel.UNDECIDED
        return Verdict(claim_id=claim.id, label=label, posterior=prediction.entailment)


def small_pipeline() -> Pipeline:
    return Pipeline(LineExtractor(), OnePassage(), WordRelations(), EntailedIsSupported())


def responses(*texts: str) -> list[Response]:
    return [Response(id=f"r{number}", text=text) for number, text in enumerate(texts, start=1)]
