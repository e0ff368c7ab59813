"""Brier's parts add up, and a debiased calibration error is near 0 where posteriors are right."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.scoring.decomposition import reliability


def test_the_parts_of_a_brier_score_by_hand() -> None:
    # Two bins of five: 0.2 with one of five supported, 0.6 with four of five.
    posteriors = np.array([0.2] * 5 + [0.6] * 5)
    outcomes = np.array([1.0, 0, 0, 0, 0, 1, 1, 1, 1, 0])
    found = reliability(posteriors, outcomes, bins=2)
    assert found.reliability == pytest.approx((0.0 + 0.2**2) / 2)
    assert found.resolution == pytest.approx(0.3**2)
    assert found.uncertainty == pytest.approx(0.25)
    assert found.within == pytest.approx(0.0, abs=1e-12)
    assert found.brier == pytest.approx(0.02 - 0.09 + 0.25)
    assert found.rms == pytest.approx(max(0.0, 0.02 - 0.16 / 4) ** 0.5)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60))
def test_the_parts_add_up_to_the_score(claims: list[tuple[float, bool]]) -> None:
    posteriors, outcomes = (np.array(column, dtype=float) for column in zip(*claims, strict=True))
    found = reliability(posteriors, outcomes)
    assert found.brier == pytest.approx(found.reliability - found.resolution + found.uncertainty + found.within)
    assert min(found.reliability, found.resolution, found.uncertainty) >= 0
    assert found.rms is None or found.rms**2 <= found.reliability + 1e-9


def test_what_chance_adds_is_taken_out_where_posteriors_are_right() -> None:
    chance = np.random.default_rng(5)
    plain, debiased = [], []
    for _ in range(40):
        posteriors = chance.uniform(0, 1, 200)
        found = reliability(posteriors, (chance.uniform(0, 1, 200) < posteriors).astype(float))
        plain.append(found.reliability)
        debiased.append((found.rms or 0.0) ** 2)
    assert np.mean(debiased) < np.mean(plain) / 2


def test_a_bin_of_one_claim_has_no_debiased_error() -> None:
    assert reliability(np.array([0.5]), np.array([1.0])).rms is None
