"""The statistics agree with scipy and statsmodels, and with what is true of every test."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from localfact.scoring.significance import (
    Alternative,
    clustered_error,
    difference,
    holm,
    permutation_p,
    welch_t_test,
)

SIDES: tuple[Alternative, ...] = ("two-sided", "greater", "less")
DRAWN = np.random.default_rng(5)
FIRST, SECOND = DRAWN.normal(0.6, 0.2, 30), DRAWN.normal(0.5, 0.3, 30)
CLUSTERS = [f"c{number // 3}" for number in range(30)]


@pytest.mark.parametrize("side", SIDES)
def test_the_paired_t_test_is_that_of_scipy(side: Alternative) -> None:
    from scipy import stats

    expected = stats.ttest_rel(FIRST, SECOND, alternative=side)
    found = difference(FIRST, SECOND, side).t_test
    assert found is not None
    assert (found.t, found.degrees_of_freedom, found.p) == pytest.approx((expected.statistic, expected.df, expected.pvalue))


@pytest.mark.parametrize("side", SIDES)
def test_the_unpaired_t_test_is_welchs(side: Alternative) -> None:
    from scipy import stats

    found = welch_t_test(FIRST, SECOND[:20], side)
    expected = stats.ttest_ind(FIRST, SECOND[:20], equal_var=False, alternative=side)
    assert found is not None
    assert (found.t, found.degrees_of_freedom, found.p) == pytest.approx((expected.statistic, expected.df, expected.pvalue))
    assert welch_t_test(np.ones(4), np.ones(4), side) is None


@pytest.mark.slow
def test_the_clustered_error_is_that_of_statsmodels() -> None:
    from scipy import stats
    from statsmodels.api import OLS

    differences = FIRST - SECOND
    groups = np.array([int(name[1:]) for name in CLUSTERS])
    model = OLS(differences, np.ones(30)).fit(cov_type="cluster", cov_kwds={"groups": groups, "use_correction": True})
    assert clustered_error(differences, CLUSTERS) == pytest.approx(float(model.bse[0]))
    assert clustered_error(differences) == pytest.approx(float(stats.sem(differences)))


def test_values_repeated_in_a_cluster_are_no_further_witnesses() -> None:
    once = difference(FIRST, SECOND, "greater")
    thrice = difference(
        np.repeat(FIRST, 3), np.repeat(SECOND, 3), "greater", [str(number) for number in range(30) for _ in range(3)]
    )
    assert (thrice.clusters, thrice.difference) == (30, pytest.approx(once.difference))
    assert thrice.error == pytest.approx(once.error)
    assert thrice.t_test is not None
    assert once.t_test is not None
    assert thrice.t_test.p == pytest.approx(once.t_test.p)
    assert thrice.p_permutation == pytest.approx(once.p_permutation, abs=0.02)
    assert thrice.ci == pytest.approx(once.ci)


@pytest.mark.slow
@pytest.mark.parametrize("p_values", [[0.04], [0.01, 0.04, 0.03], [0.5, 0.0, 1.0, 0.2, 0.2], list(DRAWN.uniform(0, 0.2, 12))])
def test_holm_is_that_of_statsmodels(p_values: list[float]) -> None:
    from statsmodels.stats.multitest import multipletests

    assert holm(p_values) == pytest.approx(list(multipletests(p_values, method="holm")[1]))
    assert holm([None, *p_values]) == [None, *holm(p_values)]


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("count", [2, 4, 9])
def test_the_permutation_test_is_that_of_scipy_where_all_signs_are_tried(count: int, side: Alternative) -> None:
    from scipy import stats

    differences = FIRST[:count] - SECOND[:count]
    expected = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", alternative=side, n_resamples=9_999, vectorized=False
    )
    assert permutation_p(differences, side) == pytest.approx(expected.pvalue)


def test_drawn_signs_come_near_to_all_of_them_and_hang_on_the_seed() -> None:
    differences = DRAWN.normal(0.3, 1, 13)
    assert permutation_p(differences, "greater") == pytest.approx(_exactly(differences), abs=0.02)
    assert permutation_p(differences, "greater", 1) == permutation_p(differences, "greater", 1)


def _exactly(differences: np.ndarray) -> float:
    signs = np.array(np.meshgrid(*[[1.0, -1.0]] * len(differences))).reshape(len(differences), -1).T
    return float(((signs @ differences) >= differences.sum() - 1e-9).mean())


@pytest.mark.parametrize("scale", [1e-3, 0.1, 1.0, 1e3])
def test_ties_of_sums_are_ties_whatever_the_scale(scale: float) -> None:
    assert permutation_p(scale * np.array([1.0, 2.0, -3.0]), "greater") == pytest.approx(5 / 8)


def test_rounding_is_no_evidence() -> None:
    found = difference(np.full(40, 0.3), np.full(40, 0.1 + 0.2), "two-sided")
    assert (found.ties, found.p_permutation, found.p_bootstrap, found.t_test) == (40, 1.0, 1.0, None)


@pytest.mark.slow
def test_many_pairs_take_little_memory() -> None:
    assert permutation_p(np.tile([0.2, -0.1], 5_000), "greater") == pytest.approx(1e-4)


@pytest.mark.slow
def test_without_a_difference_a_tenth_of_the_tests_finds_one_at_a_tenth() -> None:
    generator = np.random.default_rng(7)
    p_values = [permutation_p(generator.normal(0, 1, 10), "two-sided") for _ in range(400)]
    assert 0.06 < np.mean(np.array(p_values) <= 0.1) < 0.14


@pytest.mark.slow
@given(arrays(np.float64, st.integers(2, 20), elements=st.integers(-50, 50).map(float)))
def test_the_two_sides_of_the_t_test_add_up_to_one(differences: np.ndarray) -> None:
    greater, less = (difference(differences, 0 * differences, side).t_test for side in ("greater", "less"))
    if greater is None or less is None:
        assert np.ptp(differences) == 0
    else:
        assert greater.p + less.p == pytest.approx(1)
