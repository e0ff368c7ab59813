"""Which claims are settled before any evidence."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.assess.gate import THETA, Gate
from localfact.errors import InputError
from localfact.records import Claim, PreVerification
from localfact.vocabulary import DEFINITE_LABELS, PreVerificationLabel, VerdictLabel


def claim(label: PreVerificationLabel | None, confidence: float = 1.0, name: str = "c1") -> Claim:
    opinion = PreVerification(label=label, confidence=confidence) if label is not None else None
    return Claim(id=name, text=f"claim {name}", preverification=opinion)


@pytest.mark.parametrize(
    ("label", "verdict"),
    [
        (PreVerificationLabel.SUPPORTED, VerdictLabel.SUPPORTED),
        (PreVerificationLabel.NON_SUPPORTED, VerdictLabel.CONTRADICTED),
        (PreVerificationLabel.IRRELEVANT, VerdictLabel.IRRELEVANT),
    ],
)
def test_a_definite_label_that_is_sure_enough_settles_a_claim_and_the_verdict_says_so(label, verdict):
    settled = Gate(0.9).verdict(claim(label, 0.9512))
    assert settled is not None
    assert (settled.claim_id, settled.label, settled.passages) == ("c1", verdict, ())
    assert settled.rationale == (
        f"Settled without evidence: the extractor labelled it '{label.value}' with confidence 0.9512 (theta 0.9)."
    )


def test_anything_above_the_threshold_settles_and_the_threshold_itself_does_not():
    gate = Gate()
    assert gate.theta == THETA == 0.995
    assert gate.settles(claim(PreVerificationLabel.SUPPORTED, math.nextafter(0.995, 1)))
    assert not gate.settles(claim(PreVerificationLabel.SUPPORTED, 0.995))
    assert not Gate(1.0).settles(claim(PreVerificationLabel.SUPPORTED, 1.0))
    assert gate.verdict(claim(PreVerificationLabel.SUPPORTED, 0.99)) is None


@pytest.mark.parametrize("label", sorted(set(PreVerificationLabel) - DEFINITE_LABELS))
def test_a_label_that_is_not_definite_settles_nothing_however_sure(label):
    assert not Gate(0.0).settles(claim(label, 1.0))


def test_a_given_claim_without_pre_verification_is_left_open():
    assert not Gate(0.0).settles(claim(None))
    assert Gate(0.0).verdict(claim(None)) is None


def test_the_raw_confidence_decides_not_the_distribution():
    sure = dict.fromkeys(PreVerificationLabel, 0.0) | {PreVerificationLabel.SUPPORTED: 1.0}
    opinion = PreVerification(label=PreVerificationLabel.SUPPORTED, confidence=0.5, distribution=sure, mass=0.5)
    assert not Gate().settles(Claim(id="c1", text="a claim", preverification=opinion))


@pytest.mark.parametrize("theta", [-0.001, 1.001, math.nan, math.inf])
def test_a_theta_that_is_no_probability_is_refused(theta):
    with pytest.raises(InputError, match="from 0 to 1"):
        Gate(theta)


@given(
    st.lists(st.tuples(st.one_of(st.none(), st.sampled_from(PreVerificationLabel)), st.floats(0, 1))),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_a_higher_theta_never_settles_more_and_every_claim_is_either_settled_or_open(given_claims, one, other):
    claims = [claim(label, confidence, f"c{at}") for at, (label, confidence) in enumerate(given_claims)]
    low, high = Gate(min(one, other)), Gate(max(one, other))
    assert set(low.needs_evidence(claims)) <= set(high.needs_evidence(claims))
    for gate in (low, high):
        assert list(gate.needs_evidence(claims)) == [each for each in claims if gate.verdict(each) is None]
