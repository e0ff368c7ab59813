"""Risk and coverage against curves worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.scoring.selective import POINTS, CoverageCurve, coverage_curve

CONFIDENCE, WRONG, RESPONSES = (0.9, 0.8, 0.8, 0.6), (False, True, False, True), (0, 0, 1, 1)


def curve(confidence: object = CONFIDENCE, wrong: object = WRONG, responses: object = RESPONSES) -> CoverageCurve:
    return coverage_curve(np.array(confidence, float), np.array(wrong, bool), np.array(responses, np.int64))


def test_claims_of_one_confidence_are_kept_together() -> None:
    found = [(point.skipped, point.accepted, point.wrong, point.risk) for point in curve().points]
    assert found == [(0.25, 1, 0, 0.0), (0.75, 3, 1, pytest.approx(1 / 3)), (1.0, 4, 2, 0.5)]
    assert (curve().error, curve().claims, curve().responses) == (0.5, 4, 2)


def test_the_area_is_that_of_the_trapezoids_and_level_before_the_first_point() -> None:
    # 0.25 * 0, then 0.5 * (0 + 1/3) / 2, then 0.25 * (1/3 + 1/2) / 2.
    assert curve().area == pytest.approx(1 / 12 + 5 / 48)
    assert curve((0.7, 0.7, 0.7, 0.7)).area == 0.5


def test_the_interval_is_over_whole_responses() -> None:
    # Half of the resamples have one response twice, of area 0.5 * (0 + 1/2) / 2, and the others both.
    assert curve().ci == pytest.approx((0.125, 0.1875))


def test_one_response_has_no_interval_and_one_claim_a_point() -> None:
    alone = curve((0.7,), (True,), (5,))
    assert (alone.area, alone.ci, len(alone.points)) == (1.0, None, 1)


def test_nothing_wrong_has_no_area() -> None:
    assert curve(wrong=(False,) * 4).area == 0.0


@given(st.lists(st.tuples(st.sampled_from([0.5, 0.6, 0.9, 1.0]), st.booleans()), min_size=1, max_size=12), st.randoms())
def test_the_order_of_claims_does_not_matter_and_the_area_is_below_what_is_drawn(rows: list, randomly: object) -> None:
    shuffled = sorted(rows, key=lambda row: randomly.random())
    one, other = (curve(*zip(*order, strict=True), [0] * len(rows)) for order in (rows, shuffled))
    assert one.points == other.points
    assert one.area == pytest.approx(other.area)
    coverage, risk = [point.skipped for point in one.points], [point.risk for point in one.points]
    assert one.area == pytest.approx(coverage[0] * risk[0] + np.trapezoid(risk, coverage))


def test_a_long_curve_has_points_at_quantiles_and_ends_with_all_claims() -> None:
    confidence = np.linspace(0.5, 1, 3 * POINTS)
    points = curve(confidence, confidence < 0.6, np.zeros(3 * POINTS)).points
    assert len(points) == POINTS
    assert (points[0].accepted, points[-1].skipped, points[-1].risk) == (1, 1.0, pytest.approx(0.2, abs=0.001))
