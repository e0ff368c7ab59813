"""The method localfact's assessor: the gate, then a graph in which every open claim has its own prior."""

import pytest

from localfact.assess.factreasoner import FactReasoner
from localfact.assess.localfact import LocalFact
from localfact.errors import InputError
from localfact.records import Claim, Distribution, Evidence, Hit, Judgement, Passage, PreVerification, Response, passage_id
from localfact.vocabulary import PreVerificationLabel

S, N, I, LS, LN, U = PreVerificationLabel  # noqa: E741
TEXT = "The page says so."
PASSAGE = Passage(id=passage_id(TEXT), text=TEXT)
ENTAILED = Distribution(entailment=0.8, contradiction=0.1, neutral=0.1)
NEUTRAL = Distribution(entailment=0.1, contradiction=0.1, neutral=0.8)


def claim(name: str, label: PreVerificationLabel | None, confidence: float = 1.0) -> Claim:
    preverification = PreVerification(label=label, confidence=confidence) if label else None
    return Claim(id=name, text=f"Claim {name}.", preverification=preverification)


def evidence(*claims: Claim) -> Evidence:
    hit = Hit(passage_id=PASSAGE.id, rank=1, score=1.0)
    return Evidence(passages=(PASSAGE,), hits={each.id: (hit,) for each in claims})


async def judged(claims: list[Claim], prediction: Distribution) -> Judgement:
    assessor = LocalFact(FactReasoner(2, tables="balanced"))
    found = evidence(*assessor.needs_evidence(claims))
    relations = dict.fromkeys(assessor.pairs(claims, found), prediction)
    return await assessor.assess(Response(id="r", text="A text."), claims, found, relations)


def test_only_what_the_gate_leaves_open_is_searched_and_related() -> None:
    claims = [claim("sure", S), claim("wrong", N), claim("off", I), claim("likely", LS), claim("none", None)]
    assessor = LocalFact(FactReasoner(2, tables="balanced"))
    assert [each.id for each in assessor.needs_evidence(claims)] == ["likely", "none"]
    pairs = assessor.pairs(claims, evidence(*claims))
    assert [pair.hypothesis for pair in pairs] == ["Claim likely.", "Claim none."]


async def test_every_claim_has_one_verdict_in_order_and_settled_ones_keep_their_prior() -> None:
    claims = [claim("likely", LS), claim("sure", S), claim("off", I), claim("wrong", N), claim("none", None)]
    judgement = await judged(claims, NEUTRAL)
    assert [verdict.claim_id for verdict in judgement.verdicts] == [each.id for each in claims]
    assert [verdict.label.value for verdict in judgement.verdicts] == [
        *("supported", "supported", "irrelevant", "contradicted", "undecided")
    ]
    posteriors = [verdict.posterior for verdict in judgement.verdicts]
    assert posteriors == pytest.approx([0.75, 0.95, None, 0.05, 0.5])
    assert judgement.counts["settled"] == 3
    assert judgement.counts["graph_variables"] == 2 + 1


async def test_evidence_and_the_models_own_opinion_meet_in_the_posterior() -> None:
    doubted, undoubted = claim("a", LN), claim("b", LS)
    verdicts = (await judged([doubted, undoubted], ENTAILED)).verdicts
    low, high = (verdict.posterior for verdict in verdicts)
    assert low is not None
    assert high is not None
    assert 0.25 < low < high
    assert high > 0.75
    (only,) = verdicts[1].passages
    assert only.shift == pytest.approx(high - 0.75, abs=0.02)


async def test_without_open_claims_nothing_is_reasoned_about() -> None:
    judgement = await judged([claim("sure", S)], ENTAILED)
    assert [verdict.label.value for verdict in judgement.verdicts] == ["supported"]
    assert judgement.counts == {"settled": 1}


def test_a_theta_out_of_its_range_is_refused() -> None:
    with pytest.raises(InputError, match="theta"):
        LocalFact(FactReasoner(2), theta=1.5)
