"""Claims of one text in one graph: they carry evidence over to one another, and forbid one another where they contradict."""

import pytest
from by_hand import RESPONSE, claim, contradicts, entails, evidence, predictions

from localfact.assess.factreasoner import FactReasoner
from localfact.records import Pair
from localfact.vocabulary import VerdictLabel

CLAIMS = [claim("a1"), claim("a2")]


async def posteriors(among, told, hits, factors="hard"):
    assessor = FactReasoner(2, tables="balanced", rules="own", factors=factors, claim_relations=True)
    found = evidence(hits)
    relations = {
        **predictions(assessor, CLAIMS, found, told),
        **{Pair(*(claim(end).text for end in ends)): one for ends, one in among.items()},
    }
    return await assessor.assess(RESPONSE, CLAIMS, found, relations)


@pytest.mark.parametrize("factors", ["hard", "soft"])
async def test_an_equivalent_claim_takes_over_the_evidence_of_the_other(factors: str) -> None:
    alike = {("a1", "a2"): entails(0.9), ("a2", "a1"): entails(0.9)}
    judged = await posteriors(alike, {("c", "a1"): entails(0.98)}, {"a1": "c", "a2": ""}, factors)
    assert [verdict.label for verdict in judged.verdicts] == [VerdictLabel.SUPPORTED] * 2
    assert "1 other claim of the text" in (judged.verdicts[1].rationale or "")
    assert judged.verdicts[1].passages == ()
    assert judged.counts["claim_relations"] == 1


async def test_of_two_claims_that_contradict_one_another_evidence_for_one_is_evidence_against_the_other() -> None:
    against = {("a1", "a2"): contradicts(0.95), ("a2", "a1"): contradicts(0.95)}
    judged = await posteriors(against, {("c", "a1"): entails(0.98)}, {"a1": "c", "a2": ""})
    assert [verdict.label for verdict in judged.verdicts] == [VerdictLabel.SUPPORTED, VerdictLabel.CONTRADICTED]
    assert judged.verdicts[0].posterior == pytest.approx(0.95, abs=0.03)


async def test_claims_alone_decide_nothing_without_evidence() -> None:
    against = {("a1", "a2"): contradicts(0.95), ("a2", "a1"): contradicts(0.95)}
    judged = await posteriors(against, {}, {"a1": "", "a2": ""})
    assert [verdict.label for verdict in judged.verdicts] == [VerdictLabel.NOT_ENOUGH_EVIDENCE] * 2
