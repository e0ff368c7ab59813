from collections.abc import Sequence

import numpy as np
import pytest
from run_builders import assessment, run_of
from scipy.stats import ttest_rel

from localfact.errors import InputError
from localfact.records import Assessment
from localfact.scoring.aggregate import ResponseScore
from localfact.scoring.comparison import Comparison, better, compare, compare_claims, shared_claims
from localfact.scoring.gold_scores import PrecisionError
from localfact.scoring.scores import F1AtK, Precision
from localfact.scoring.significance import PairedDifference

BETTER = ("SSSC", "SS", "SSC", "SSSSC", "SC", "SSS")
WORSE = ("SCCC", "SC", "SCC", "SSCCC", "SC", "SSC")


def one_sided(
    first: Sequence[Assessment], second: Sequence[Assessment], score: ResponseScore
) -> tuple[Comparison, PairedDifference]:
    """As the papers test: that the first run is better."""
    comparison = compare(first, second, score, alternative=better(score))
    assert comparison.found is not None
    return comparison, comparison.found


def test_the_t_test_is_the_paired_one_sided_test_of_scipy() -> None:
    comparison, found = one_sided(run_of(*BETTER), run_of(*WORSE), Precision())
    first = [0.75, 1, 2 / 3, 0.8, 0.5, 1]
    second = [0.25, 0.5, 1 / 3, 0.4, 0.5, 2 / 3]
    expected = ttest_rel(first, second, alternative="greater")
    assert found.t_test is not None
    assert (found.t_test.t, found.t_test.p) == (pytest.approx(expected.statistic), pytest.approx(expected.pvalue))
    assert found.t_test.degrees_of_freedom == 5
    assert comparison.alternative == "greater"


def test_the_comparison_gives_means_difference_effect_and_interval() -> None:
    comparison, found = one_sided(run_of(*BETTER), run_of(*WORSE), Precision())
    differences = np.array([0.5, 0.5, 1 / 3, 0.4, 0.0, 1 / 3])
    assert comparison.n == found.clusters == 6
    assert (found.wins, found.ties, found.losses) == (5, 1, 0)
    assert found.difference == pytest.approx(differences.mean())
    assert found.difference == pytest.approx(found.first - found.second)
    assert found.effect == pytest.approx(differences.mean() / differences.std(ddof=1))
    assert found.ci is not None
    assert found.ci[0] < differences.mean() < found.ci[1]
    assert found.p_bootstrap == pytest.approx(1 / 2001)
    assert found.p_permutation == pytest.approx(2 / 64)  # the tie's sign changes nothing


def test_the_better_side_of_an_error_is_the_lower_one() -> None:
    good, bad = run_of("SSC", "SS", "SC", annotation=(1, 0)), run_of("SCC", "SC", "CC", annotation=(1, 0))
    comparison, found = one_sided(good, bad, PrecisionError())
    _, swapped = one_sided(bad, good, PrecisionError())
    assert comparison.alternative == "less"
    assert found.t_test is not None
    assert swapped.t_test is not None
    assert found.t_test.p < 0.05
    assert swapped.t_test.p == pytest.approx(1 - found.t_test.p)
    assert swapped.p_bootstrap == 1.0
    assert (found.wins, swapped.losses) == (3, 3)


def test_both_sides_are_tested_where_none_is_named() -> None:
    _, one = one_sided(run_of(*BETTER), run_of(*WORSE), Precision())
    both = compare(run_of(*BETTER), run_of(*WORSE), Precision()).found
    assert one.t_test is not None
    assert both is not None
    assert both.t_test is not None
    assert both.t_test.p == pytest.approx(2 * one.t_test.p)
    assert both.p_permutation == pytest.approx(2 * (one.p_permutation or 0))


def test_both_runs_are_measured_by_the_same_k() -> None:
    comparison = compare(run_of("SS", "SSSS"), run_of("SSSSSS", "SSSSSSSS"), F1AtK())
    assert comparison.score == "F1@K(median=5)"


def test_responses_are_matched_by_id_and_the_order_does_not_matter() -> None:
    first, second = run_of(*BETTER), run_of(*WORSE)
    assert compare(first, second, Precision()) == compare(first[::-1], second[::-1], Precision())


def test_a_response_without_the_score_in_one_run_is_left_out_and_counted() -> None:
    comparison, found = one_sided(run_of("SC", "", "S"), run_of("S", "SC", "IV"), Precision())
    assert (comparison.n, comparison.left_out) == (1, {"abstained": 1, "unscored": 1})
    assert (found.difference, found.ci, found.t_test, found.unpaired) == (-0.5, None, None, None)
    assert (found.p_permutation, found.p_bootstrap) == (None, None)


def test_without_a_common_response_that_has_the_score_there_is_nothing_to_test() -> None:
    comparison = compare(run_of(""), run_of("S"), Precision())
    assert (comparison.n, comparison.found) == (0, None)


def test_differences_that_are_equal_but_for_rounding_have_no_t() -> None:
    _, found = one_sided(run_of("SSSSSSSCCC", "SSSSCCCCCC"), run_of("SSSSSCCCCC", "SSCCCCCCCC"), Precision())
    assert (found.difference, found.t_test) == (pytest.approx(0.2), None)


def test_equal_differences_have_no_t_and_say_so_by_none() -> None:
    _, found = one_sided(run_of("SC", "SC"), run_of("SC", "SC"), Precision())
    assert (found.difference, found.effect, found.t_test, found.p_bootstrap) == (0.0, None, None, 1.0)
    assert found.p_permutation == 1.0


@pytest.mark.parametrize("other", [run_of("S"), run_of("S", "S", "S"), [assessment("S", index=at) for at in (0, 5)]])
def test_runs_over_other_responses_are_refused(other: list) -> None:
    with pytest.raises(InputError, match="not over the same responses"):
        compare(run_of("S", "S"), other, Precision())


def test_a_run_with_a_response_twice_is_refused() -> None:
    twice = [assessment("S"), assessment("C")]
    with pytest.raises(InputError, match="not over the same responses"):
        compare(twice, twice, Precision())


def test_responses_to_one_prompt_are_one_cluster() -> None:
    def prompted(run: list[Assessment]) -> list[Assessment]:
        return [one.model_copy(update={"prompt": f"prompt {at % 3}"}) for at, one in enumerate(run)]

    _, apart = one_sided(run_of(*BETTER), run_of(*WORSE), Precision())
    _, found = one_sided(prompted(run_of(*BETTER)), prompted(run_of(*WORSE)), Precision())
    assert (apart.clusters, found.clusters) == (6, 3)
    assert found.difference == pytest.approx(apart.difference)
    assert found.t_test is not None
    assert found.t_test.degrees_of_freedom == 2
    assert found.p_permutation == pytest.approx(1 / 8)


def test_claims_are_compared_by_id_and_text_and_those_of_a_response_are_one_cluster() -> None:
    first, second = run_of("SSC", gold="sns"), run_of("SCC", gold="sns")
    first += [assessment("SC", index=1, gold="s-")]
    second += [assessment("CF", index=1, gold="s-")]
    comparison = compare_claims(first, second)
    assert (comparison.n, comparison.left_out) == (4, {"no label": 1})
    found = comparison.found
    assert found is not None
    assert (found.first, found.second, found.clusters) == (0.5, 0.5, 2)
    assert (found.wins, found.ties, found.losses) == (1, 2, 1)


def test_a_claim_that_another_run_words_otherwise_is_not_the_same_claim() -> None:
    first, second = run_of("SS"), run_of("SC")
    claims = (second[0].claims[0], second[0].claims[1].model_copy(update={"text": "another"}))
    second = [second[0].model_copy(update={"claims": claims})]
    assert [shared.claim.id for shared in shared_claims([first, second])] == ["c0"]
