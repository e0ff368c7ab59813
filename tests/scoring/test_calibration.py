import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.scoring.calibration import expected_calibration_error, reliability_bins, squared_errors

FORECASTS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)


def arrays(forecasts: list[tuple[float, bool]]) -> tuple[np.ndarray, np.ndarray]:
    posteriors, outcomes = np.array(forecasts, dtype=np.float64).T
    return posteriors, outcomes


def test_squared_errors_are_those_of_the_brier_score() -> None:
    assert squared_errors(np.array([0.0, 0.3, 1.0]), np.array([0.0, 1.0, 0.0])) == pytest.approx([0.0, 0.49, 1.0])


def test_the_calibration_error_of_twenty_claims_in_ten_bins_is_the_one_computed_by_hand() -> None:
    posteriors = np.repeat(np.arange(10) / 10, 2)
    outcomes = np.array([0, 1] * 10)
    expected = sum(abs(step / 10 - 0.5) for step in range(10)) / 10
    assert expected_calibration_error(posteriors, outcomes.astype(np.float64)) == pytest.approx(expected)


def test_bins_hold_equal_counts_or_one_more() -> None:
    bins = reliability_bins(np.linspace(0, 1, 23), np.zeros(23))
    assert sorted(one.count for one in bins) == [2] * 7 + [3] * 3
    assert [one.lowest for one in bins] == sorted(one.lowest for one in bins)


def test_fewer_claims_than_bins_make_a_bin_each() -> None:
    bins = reliability_bins(np.array([0.8, 0.1]), np.array([1.0, 0.0]))
    assert [(one.lowest, one.highest, one.supported, one.count) for one in bins] == [(0.1, 0.1, 0.0, 1), (0.8, 0.8, 1.0, 1)]


def test_no_claims_make_no_bins() -> None:
    assert reliability_bins(np.array([]), np.array([])) == ()


def test_claims_with_equal_posteriors_are_not_parted_by_their_outcome() -> None:
    posteriors = np.full(4, 0.5)
    for outcomes in ([0, 0, 1, 1], [0, 1, 0, 1], [1, 1, 0, 0]):
        assert expected_calibration_error(posteriors, np.array(outcomes, dtype=np.float64), 2) == pytest.approx(0.0)


@given(FORECASTS, st.randoms(use_true_random=False))
def test_the_calibration_error_is_bounded_and_does_not_depend_on_the_order(
    forecasts: list[tuple[float, bool]], shuffler: random.Random
) -> None:
    error = expected_calibration_error(*arrays(forecasts))
    shuffled = list(forecasts)
    shuffler.shuffle(shuffled)
    assert 0 <= error <= 1 + 1e-12
    assert expected_calibration_error(*arrays(shuffled)) == pytest.approx(error, abs=1e-12)


@given(FORECASTS)
def test_the_bins_hold_every_claim_and_give_the_calibration_error(forecasts: list[tuple[float, bool]]) -> None:
    bins = reliability_bins(*arrays(forecasts))
    assert sum(one.count for one in bins) == len(forecasts)
    error = sum(one.count * abs(one.posterior - one.supported) for one in bins) / len(forecasts)
    assert expected_calibration_error(*arrays(forecasts)) == pytest.approx(error, abs=1e-12)
