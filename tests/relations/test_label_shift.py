"""Relations of passages that were found for other claims are weighed by what is known beforehand: their own label shares."""

import pytest

from localfact.records import Claim, Distribution, Evidence, Failure, Hit, Pair, Passage, RelationProbabilities
from localfact.relations.calibration import FOUND_SHARES, OTHER_SHARES, RelationMap
from localfact.relations.label_shift import LabelShift, label_shift_of

OLD, RED = Claim(id="c0", text="It is old."), Claim(id="c1", text="It is red.")
ABOUT_AGE, ABOUT_COLOUR = Passage(id="age", text="It was built in 1811."), Passage(id="colour", text="Its walls are of brick.")
EVIDENCE = Evidence(
    passages=(ABOUT_AGE, ABOUT_COLOUR),
    hits={"c0": (Hit(passage_id="age", rank=1, score=1.0),), "c1": (Hit(passage_id="colour", rank=1, score=1.0),)},
)
SHIFT = LabelShift(shares=(0.5, 0.25, 0.25), other_shares=(0.1, 0.05, 0.85))


def calibrated(entailment: float, contradiction: float, neutral: float) -> Distribution:
    raw = RelationProbabilities(entailment=0.2, contradiction=0.1, neutral=0.7)
    return Distribution(entailment=entailment, contradiction=contradiction, neutral=neutral, raw=raw)


def recalibrated(pair: Pair, said: Distribution | Failure) -> Distribution | Failure:
    return SHIFT.recalibrate({pair: said}, (OLD, RED), EVIDENCE)[pair]


def test_a_passage_of_another_claim_is_weighed_by_the_shares_of_such_passages() -> None:
    # 0.5 / 0.5 * 0.1 = 0.1, 0.25 / 0.25 * 0.05 = 0.05, 0.25 / 0.25 * 0.85 = 0.85: what is known beforehand, and no more.
    said = recalibrated(Pair(ABOUT_COLOUR.text, OLD.text), calibrated(0.5, 0.25, 0.25))
    assert isinstance(said, Distribution)
    assert (said.entailment, said.contradiction, said.neutral) == pytest.approx((0.1, 0.05, 0.85))
    assert said.raw == RelationProbabilities(entailment=0.2, contradiction=0.1, neutral=0.7)
    # 0.8 * 0.2 = 0.16, 0.1 * 0.2 = 0.02, 0.1 * 3.4 = 0.34, of 0.52 in all.
    said = recalibrated(Pair(ABOUT_COLOUR.text, OLD.text), calibrated(0.8, 0.1, 0.1))
    assert isinstance(said, Distribution)
    assert (said.entailment, said.contradiction, said.neutral) == pytest.approx((16 / 52, 2 / 52, 34 / 52))


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        (Pair(ABOUT_AGE.text, OLD.text), calibrated(0.8, 0.1, 0.1)),
        (Pair(ABOUT_AGE.text, ABOUT_COLOUR.text), calibrated(0.8, 0.1, 0.1)),
        (Pair(ABOUT_AGE.text, RED.text), Failure(reason="-")),
        (Pair(ABOUT_AGE.text, RED.text), Distribution(entailment=0.8, contradiction=0.1, neutral=0.1)),
    ],
    ids=["the claim's own", "two passages", "failed", "not calibrated"],
)
def test_what_is_the_claims_own_or_no_calibrated_pair_stays_as_it_is(pair: Pair, said: Distribution | Failure) -> None:
    assert recalibrated(pair, said) == said


def test_a_passage_that_was_found_twice_is_the_claims_own_whatever_its_id() -> None:
    twice = EVIDENCE.model_copy(update={"passages": (*EVIDENCE.passages, Passage(id="again", text=ABOUT_AGE.text))})
    said = {Pair(ABOUT_AGE.text, OLD.text): calibrated(0.8, 0.1, 0.1)}
    assert SHIFT.recalibrate(said, (OLD,), twice) == said


def test_a_map_says_whether_the_two_kinds_are_told_apart() -> None:
    assert label_shift_of(None) is None
    assert label_shift_of("reference@1") == LabelShift(FOUND_SHARES, OTHER_SHARES)
    assert label_shift_of(RelationMap(shares=FOUND_SHARES)) is None
    told = RelationMap(shares=SHIFT.shares, other_shares=SHIFT.other_shares)
    assert label_shift_of(told) == SHIFT
    assert RelationMap.model_validate_json(told.model_dump_json()) == told
    assert "other_shares" not in RelationMap().model_dump()
