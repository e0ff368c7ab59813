import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.errors import InputError
from localfact.scoring.risk import THETAS, RiskPoint, fewest_claims, risk_curve, smallest_theta, upper_bound

#: Simulated calibrations of a test, and how far a rate over so many may lie above 0.05: three standard errors.
SIMULATIONS = 3000
NOISE = 3 * math.sqrt(0.05 * 0.95 / SIMULATIONS)


def at_most(wrong: int, accepted: int, risk: float) -> float:
    """P(so many wrong or fewer), term by term."""
    return math.fsum(math.comb(accepted, k) * risk**k * (1 - risk) ** (accepted - k) for k in range(wrong + 1))


def curve(wrong: list[int], accepted: list[int], thetas: list[float]) -> list[RiskPoint]:
    """A curve of labelled claims with so many accepted, and so many wrong among them, at each theta, strict to lenient.

    The thetas lie just below the confidences, so that one of 1 can be accepted.
    """
    confidence: list[float] = []
    correct: list[bool] = []
    for theta, more, more_wrong in zip(thetas, np.diff(accepted, prepend=0), np.diff(wrong, prepend=0), strict=True):
        confidence += [theta] * more
        correct += [False] * more_wrong + [True] * (more - more_wrong)
    below = [theta - 1e-9 for theta in thetas]
    return risk_curve(np.array(confidence), np.array(correct, dtype=bool), 2 * len(correct), thetas=below)


def test_the_curve_of_six_claims_is_the_one_counted_by_hand() -> None:
    confidence = np.array([0.5, 0.995, 1.0, 0.9, 0.995, 0.2])
    correct = np.array([False, True, True, False, False, True])
    points = risk_curve(confidence, correct, 8, thetas=(0.9, 0.995, 1.0, 0.0, 0.9))
    assert [(point.theta, point.accepted, point.wrong, point.risk, point.skipped) for point in points] == [
        (1.0, 0, 0, None, 0.0),
        (0.995, 1, 0, 0.0, 1 / 8),
        (0.9, 3, 1, 1 / 3, 3 / 8),
        (0.0, 6, 3, 0.5, 6 / 8),
    ]
    assert points[1].bound == pytest.approx(0.95)
    assert points[1].best_bound == points[1].bound
    assert points[2].best_bound == pytest.approx(1 - 0.05 ** (1 / 3))


def test_a_theta_above_every_confidence_accepts_nothing_and_bounds_nothing() -> None:
    point = risk_curve(np.array([0.3]), np.array([True]), 1)[0]
    assert (point.accepted, point.risk, point.bound, point.skipped) == (0, None, 1.0, 0.0)


@pytest.mark.parametrize(("wrong", "accepted", "bound"), [(0, 59, 0.0495), (0, 58, 0.0503), (1, 10, 0.3942), (5, 100, 0.1023)])
def test_bounds_are_those_of_clopper_and_pearson(wrong: int, accepted: int, bound: float) -> None:
    assert upper_bound(wrong, accepted, 0.05) == pytest.approx(bound, abs=5e-5)


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n - 1), st.just(n))), st.floats(0.001, 0.25))
def test_at_its_bound_so_few_wrong_claims_have_probability_delta(counts: tuple[int, int], delta: float) -> None:
    wrong, accepted = counts
    assert at_most(wrong, accepted, upper_bound(wrong, accepted, delta)) == pytest.approx(delta, rel=1e-6)


def test_the_fewest_claims_are_those_whose_bound_first_falls_to_the_risk() -> None:
    for risk in (0.01, 0.05, 0.1, 0.3):
        fewest = fewest_claims(risk)
        assert upper_bound(0, fewest, 0.05) <= risk < upper_bound(0, fewest - 1, 0.05)
    assert fewest_claims(0.05) == 59


def test_the_smallest_theta_is_the_last_before_the_first_failure() -> None:
    points = curve([0, 1, 20, 20], [100, 200, 300, 2000], [1.0, 0.9, 0.8, 0.7])
    assert [point.bound <= 0.05 for point in points] == [True, True, False, True]
    chosen = smallest_theta(points[::-1], 0.05)
    assert chosen is not None
    assert (chosen.theta, chosen.skipped) == (pytest.approx(0.9), 200 / 4000)


def test_thetas_that_accept_too_few_to_show_anything_do_not_end_the_sequence() -> None:
    chosen = smallest_theta(curve([0, 1, 1, 30], [0, 58, 300, 330], [1.0, 0.99, 0.9, 0.8]), 0.05)
    assert chosen is not None
    assert chosen.theta == pytest.approx(0.9)


def test_there_may_be_no_theta() -> None:
    assert smallest_theta(curve([0, 1], [10, 58], [1.0, 0.9]), 0.05) is None
    assert smallest_theta(curve([1, 1], [59, 3000], [1.0, 0.9]), 0.05) is None
    assert smallest_theta(risk_curve(np.array([]), np.array([], dtype=bool), 0), 0.05) is None


CLAIMS = st.lists(st.tuples(st.sampled_from([0.0, 0.3, 0.5, 0.995, 0.9999, 1.0]), st.booleans()), max_size=80)


@pytest.mark.slow
@given(CLAIMS, st.integers(0, 20), st.floats(0.01, 0.5))
def test_a_chosen_theta_keeps_its_promise_on_the_labelled_claims(
    claims: list[tuple[float, bool]], indefinite: int, max_risk: float
) -> None:
    confidence = np.array([value for value, _ in claims])
    points = risk_curve(confidence, np.array([right for _, right in claims], dtype=bool), len(claims) + indefinite)
    assert [point.theta for point in points] == list(THETAS)
    for point in points:
        accepted = [right for value, right in claims if value > point.theta]
        assert (point.accepted, point.wrong) == (len(accepted), accepted.count(False))
        assert point.best_bound <= point.bound
        assert (point.risk or 0.0) <= point.bound
    chosen = smallest_theta(points, max_risk)
    assert chosen is None or chosen.bound <= max_risk


def rate(simulate: Callable[[np.random.Generator], bool], seed: int) -> float:
    generator = np.random.default_rng(seed)
    return sum(simulate(generator) for _ in range(SIMULATIONS)) / SIMULATIONS


@pytest.mark.slow
def test_where_every_theta_is_just_too_risky_one_is_chosen_no_more_often_than_delta() -> None:
    def simulated(generator: np.random.Generator) -> list[RiskPoint]:
        confidence = 1 - 10 ** -generator.exponential(1.5, 400)
        return risk_curve(confidence, generator.random(400) >= 0.1001, 500)

    def chosen(generator: np.random.Generator) -> bool:
        return smallest_theta(simulated(generator), 0.1) is not None

    def chosen_carelessly(generator: np.random.Generator) -> bool:
        return any(point.bound <= 0.1 for point in simulated(generator))

    assert 0.01 < rate(chosen, 1) <= 0.05 + NOISE
    assert rate(chosen_carelessly, 1) > 0.1  # so the sequence is what keeps the promise, and this test would see it broken


@pytest.mark.slow
@pytest.mark.parametrize(("claims", "max_risk"), [(150, 0.1), (600, 0.1), (600, 0.05)])
def test_where_confidence_tells_right_from_wrong_the_promise_is_broken_no_more_often_than_delta(
    claims: int, max_risk: float
) -> None:
    def risk_of(confidence: np.ndarray) -> np.ndarray:
        return np.minimum(0.6, 0.01 + np.sqrt(1 - confidence))

    population = 1 - 10 ** -np.random.default_rng(0).exponential(2.0, 400_000)
    true_risk = {theta: risk_of(population[population > theta]).mean() for theta in THETAS if (population > theta).any()}
    found = 0

    def broken(generator: np.random.Generator) -> bool:
        nonlocal found
        confidence = 1 - 10 ** -generator.exponential(2.0, claims)
        wrong = generator.random(claims) < risk_of(confidence)
        chosen = smallest_theta(risk_curve(confidence, ~wrong, claims), max_risk)
        found += chosen is not None
        return chosen is not None and bool(true_risk[chosen.theta] > max_risk)

    assert rate(broken, 2) <= 0.05 + NOISE
    assert found > SIMULATIONS / 4


@pytest.mark.parametrize("delta", [0.0, -0.1, 0.3, math.nan])
def test_a_delta_that_cannot_be_is_refused(delta: float) -> None:
    with pytest.raises(InputError, match="delta must be"):
        risk_curve(np.array([0.5]), np.array([True]), 1, delta)


@pytest.mark.parametrize("max_risk", [0.0, -0.1, 0.51, math.nan])
def test_a_risk_that_cannot_be_is_refused(max_risk: float) -> None:
    with pytest.raises(InputError, match="The risk must be"):
        smallest_theta([], max_risk)


@pytest.mark.parametrize(
    ("confidence", "correct", "total"),
    [
        ([0.5], [True, False], 2),
        ([0.5, 0.6], [True, False], 1),
        ([1.5], [True], 1),
        ([math.nan], [True], 1),
        ([-0.1], [True], 1),
    ],
)
def test_data_that_do_not_belong_together_are_refused(confidence: list[float], correct: list[bool], total: int) -> None:
    with pytest.raises(InputError, match=r"do not belong together|outside \[0, 1\]"):
        risk_curve(confidence, correct, total)
