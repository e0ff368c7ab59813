import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from run_builders import assessment, run_of
from scipy.stats import ttest_rel

from localfact.errors import InputError
from localfact.scoring import compare
from localfact.scoring.gold_scores import PrecisionError
from localfact.scoring.scores import F1AtK, Precision
from localfact.scoring.significance import paired_t_test

BETTER = ("SSSC", "SS", "SSC", "SSSSC", "SC", "SSS")
WORSE = ("SCCC", "SC", "SCC", "SSCCC", "SC", "SSC")


def test_the_t_test_is_the_paired_one_sided_test_of_scipy() -> None:
    comparison = compare(run_of(*BETTER), run_of(*WORSE), Precision())
    first = [0.75, 1, 2 / 3, 0.8, 0.5, 1]
    second = [0.25, 0.5, 1 / 3, 0.4, 0.5, 2 / 3]
    expected = ttest_rel(first, second, alternative="greater")
    assert comparison.t_test is not None
    assert (comparison.t_test.t, comparison.t_test.p) == (pytest.approx(expected.statistic), pytest.approx(expected.pvalue))
    assert comparison.t_test.degrees_of_freedom == 5
    assert comparison.alternative == "greater"


def test_the_comparison_gives_means_difference_effect_and_interval() -> None:
    comparison = compare(run_of(*BETTER), run_of(*WORSE), Precision())
    differences = np.array([0.5, 0.5, 1 / 3, 0.4, 0.0, 1 / 3])
    assert comparison.n == 6
    assert comparison.difference == pytest.approx(differences.mean())
    assert comparison.difference == pytest.approx((comparison.first or 0) - (comparison.second or 0))
    assert comparison.effect == pytest.approx(differences.mean() / differences.std(ddof=1))
    assert comparison.ci is not None
    assert comparison.ci[0] < differences.mean() < comparison.ci[1]
    assert comparison.p_bootstrap == pytest.approx(1 / 2001)


def test_the_better_side_of_an_error_is_the_lower_one() -> None:
    better, worse = run_of("SSC", "SS", "SC", annotation=(1, 0)), run_of("SCC", "SC", "CC", annotation=(1, 0))
    comparison = compare(better, worse, PrecisionError())
    assert comparison.alternative == "less"
    assert comparison.t_test is not None
    assert comparison.t_test.p < 0.05
    swapped = compare(worse, better, PrecisionError())
    assert swapped.t_test is not None
    assert swapped.t_test.p == pytest.approx(1 - comparison.t_test.p)
    assert swapped.p_bootstrap == 1.0


def test_the_side_can_be_chosen() -> None:
    comparison = compare(run_of(*BETTER), run_of(*WORSE), Precision(), alternative="less")
    assert comparison.t_test is not None
    assert comparison.t_test.p > 0.99


def test_both_runs_are_measured_by_the_same_k() -> None:
    comparison = compare(run_of("SS", "SSSS"), run_of("SSSSSS", "SSSSSSSS"), F1AtK())
    assert comparison.score == "F1@K(median=5)"


def test_responses_are_matched_by_id_and_the_order_does_not_matter() -> None:
    first, second = run_of(*BETTER), run_of(*WORSE)
    assert compare(first, second, Precision()) == compare(first[::-1], second[::-1], Precision())


def test_a_response_without_the_score_in_one_run_is_left_out_and_counted() -> None:
    comparison = compare(run_of("SC", "", "S"), run_of("S", "SC", "IV"), Precision())
    assert (comparison.n, comparison.left_out) == (1, {"abstained": 1, "unscored": 1})
    assert (comparison.difference, comparison.ci, comparison.t_test, comparison.p_bootstrap) == (-0.5, None, None, None)


def test_without_a_common_response_that_has_the_score_there_is_nothing_to_test() -> None:
    comparison = compare(run_of(""), run_of("S"), Precision())
    assert (comparison.n, comparison.first, comparison.difference) == (0, None, None)


def test_differences_that_are_equal_but_for_rounding_have_no_t() -> None:
    comparison = compare(run_of("SSSSSSSCCC", "SSSSCCCCCC"), run_of("SSSSSCCCCC", "SSCCCCCCCC"), Precision())
    assert (comparison.difference, comparison.t_test) == (pytest.approx(0.2), None)


def test_equal_differences_have_no_t_and_say_so_by_none() -> None:
    comparison = compare(run_of("SC", "SC"), run_of("SC", "SC"), Precision())
    assert (comparison.difference, comparison.effect, comparison.t_test, comparison.p_bootstrap) == (0.0, None, None, 1.0)


@pytest.mark.parametrize("other", [run_of("S"), run_of("S", "S", "S"), [assessment("S", index=at) for at in (0, 5)]])
def test_runs_over_other_responses_are_refused(other: list) -> None:
    with pytest.raises(InputError, match="not over the same responses"):
        compare(run_of("S", "S"), other, Precision())


def test_a_run_with_a_response_twice_is_refused() -> None:
    twice = [assessment("S"), assessment("C")]
    with pytest.raises(InputError, match="not over the same responses"):
        compare(twice, twice, Precision())


@given(arrays(np.float64, st.integers(2, 20), elements=st.integers(-50, 50).map(float)))
def test_the_two_sides_of_the_t_test_add_up_to_one(differences: np.ndarray) -> None:
    greater, less = paired_t_test(differences, "greater"), paired_t_test(differences, "less")
    if greater is None or less is None:
        assert np.ptp(differences) == 0
    else:
        assert greater.p + less.p == pytest.approx(1)
