"""Verdicts that what was found cannot carry: of a pronoun by a page about somebody else, of a language that nobody reads."""

import asyncio
from collections.abc import Sequence

from localfact.assess.flags import Flags
from localfact.assess.withholding import Withholding
from localfact.records import Claim, CountedPassage, Evidence, Judgement, Pair, Passage, Response, Verdict
from localfact.stages import Relations
from localfact.vocabulary import Flag, RelationLabel, VerdictLabel

GERMAN = "Der Turm steht in Paris, und er ist 324 Meter hoch."
FOX = (
    Passage(id="f", title="Bea Fox", text="Bea Fox was born in Lyon."),
    Passage(id="g", title="Bea Fox", text="Fox lived in Lyon."),
)
OF_MOREL = Response(id="r", text="Ada Morel met her. She was born in Lyon.", topic="Ada Morel")


class Supporting:
    """An assessor that supports every claim by all passages, or fails at it."""

    def __init__(self, label: VerdictLabel = VerdictLabel.SUPPORTED) -> None:
        self.label = label

    def needs_evidence(self, claims: Sequence[Claim]) -> Sequence[Claim]:
        return claims[:1]

    def pairs(self, claims: Sequence[Claim], evidence: Evidence) -> Sequence[Pair]:
        return [Pair(one.text, claim.text) for claim in claims for one in evidence.passages]

    async def assess(self, response: Response, claims: Sequence[Claim], evidence: Evidence, relations: Relations) -> Judgement:
        entailed = tuple(
            CountedPassage(passage_id=one.id, relation=RelationLabel.ENTAILMENT, probability=0.9) for one in evidence.passages
        )
        verdicts = (Verdict(claim_id=claim.id, label=self.label, posterior=0.9, passages=entailed) for claim in claims)
        return Judgement(verdicts=tuple(verdicts))


def judge(claim: str, response: Response, label: VerdictLabel = VerdictLabel.SUPPORTED) -> Verdict:
    """The verdict, with the flags that it then gets."""
    claims, evidence = [Claim(id="a", text=claim)], Evidence(passages=FOX)

    async def judged() -> Judgement:
        found = await Withholding(Supporting(label), ("en",)).assess(response, claims, evidence, {})
        return await Flags(("en",), ("en",)).flag(response, {"a": claims[0]}, found, evidence)

    return asyncio.run(judged()).verdicts[0]


def test_what_is_said_of_a_pronoun_is_not_supported_by_a_page_about_somebody_else() -> None:
    of_fox = Response(id="r", text="Ada Morel met Bea Fox. She was born in Lyon.", topic="Ada Morel")
    for claim, response, label, flagged in (
        ("In 1990, she was born in Lyon.", OF_MOREL, VerdictLabel.NOT_ENOUGH_EVIDENCE, True),
        ("She was born in Lyon.", of_fox, VerdictLabel.SUPPORTED, True),
        ("Ada Morel was born in Lyon.", OF_MOREL, VerdictLabel.SUPPORTED, False),
        ("It is said that Lyon is old.", OF_MOREL, VerdictLabel.SUPPORTED, False),
    ):
        found = judge(claim, response)
        assert (found.label, Flag.UNCLEAR_SUBJECT in found.flags) == (label, flagged), claim
        assert (found.posterior is None) == (label is VerdictLabel.NOT_ENOUGH_EVIDENCE)


def test_a_claim_in_a_language_that_the_relation_model_does_not_know_is_not_measured() -> None:
    found = judge(GERMAN, Response(id="r", text=GERMAN))
    assert (found.label, found.posterior) == (VerdictLabel.UNVERIFIABLE, None)


def test_a_failed_claim_stays_failed_and_what_is_asked_stays_as_it_was() -> None:
    assert judge(GERMAN, OF_MOREL, VerdictLabel.FAILED).label is VerdictLabel.FAILED
    claims, withholding = [Claim(id=name, text=name) for name in "ab"], Withholding(Supporting())
    assert withholding.needs_evidence(claims) == claims[:1]
    assert len(withholding.pairs(claims, Evidence(passages=FOX))) == 4
