"""A claim's prior is what the extractor thought of it, never surer than evidence could turn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.assess.priors import LARGEST_PRIOR, LEAST_PRIOR, TRUTH, prior_of
from localfact.records import PreVerification
from localfact.vocabulary import PreVerificationLabel

S, N, I, LS, LN, U = PreVerificationLabel  # noqa: E741


def opinion(label: PreVerificationLabel, confidence: float = 1.0, **shares: float) -> PreVerification:
    names = {"S": S, "N": N, "I": I, "LS": LS, "LN": LN, "U": U}
    distribution = {names[name]: share for name, share in shares.items()} or None
    return PreVerification(label=label, confidence=confidence, distribution=distribution)


def test_the_prior_is_the_expected_truth_under_the_distribution_without_irrelevant() -> None:
    assert prior_of(opinion(LS, S=0.2, LS=0.4, U=0.1, LN=0.1, N=0.1, I=0.1)) == pytest.approx(
        (0.2 * 1 + 0.4 * 0.75 + 0.1 * 0.5 + 0.1 * 0.25) / 0.9
    )


def test_a_model_that_is_sure_is_taken_at_nineteen_to_one() -> None:
    assert prior_of(opinion(S, S=1.0)) == LARGEST_PRIOR == 0.95
    assert prior_of(opinion(N, N=1.0)) == LEAST_PRIOR == 0.05


def test_without_a_distribution_the_label_counts_by_its_confidence() -> None:
    assert prior_of(opinion(LS, 0.6)) == pytest.approx(0.65)
    assert prior_of(opinion(LN, 0.6)) == pytest.approx(0.35)
    assert prior_of(opinion(S, 0.6)) == pytest.approx(0.8)
    assert prior_of(opinion(U, 0.9)) == 0.5


def test_what_says_nothing_of_the_truth_is_one_half() -> None:
    assert prior_of(None) == prior_of(opinion(I, 1.0)) == prior_of(opinion(I, I=1.0)) == 0.5


@given(st.lists(st.floats(0, 1), min_size=6, max_size=6).filter(lambda shares: sum(shares) > 0.1))
def test_the_prior_is_always_between_its_ends_and_mirrored_labels_mirror_it(shares: list[float]) -> None:
    total = sum(shares)
    told = {label: share / total for label, share in zip((S, N, I, LS, LN, U), shares, strict=True)}
    mirror = {S: N, N: S, LS: LN, LN: LS, U: U, I: I}
    prior = prior_of(PreVerification(label=U, confidence=0.5, distribution=told))
    turned = prior_of(PreVerification(label=U, confidence=0.5, distribution={mirror[label]: p for label, p in told.items()}))
    assert LEAST_PRIOR <= prior <= LARGEST_PRIOR
    assert prior + turned == pytest.approx(1)
    assert set(TRUTH) == set(PreVerificationLabel) - {I}
