import json
import math
import random
import statistics
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_builders import assessment, run_of, runs

from localfact.records import Assessment
from localfact.scoring import KPolicy, ScoreResult, score, standard_scores
from localfact.scoring.gold_scores import BrierPerResponse, CalibrationError, GoldF1, PrecisionError
from localfact.scoring.scores import F1AtK, Precision

TEN = ("SC", "SSC", "S", "C", "SSSC", "SCCC", "SU", "SSE", "SX", "SSSSS")


def precision(run: list[Assessment], seed: int = 0) -> ScoreResult:
    return score(run, [Precision()], seed)[0]


def test_a_run_is_the_mean_over_its_responses_with_a_deviation_of_n_minus_one() -> None:
    result = precision(run_of("SC", "S", "CCCC"))
    assert (result.value, result.n) == (pytest.approx(0.5), 3)
    assert result.sd == pytest.approx(statistics.stdev([0.5, 1.0, 0.0]))


def test_the_interval_is_that_of_the_percentile_bootstrap() -> None:
    result = precision(run_of(*TEN))
    values = [0.5, 2 / 3, 1, 0, 0.75, 0.25, 0.5, 2 / 3, 0.5, 1]
    deviation = statistics.pstdev(values) / math.sqrt(len(values))
    assert result.ci is not None
    assert result.ci[0] == pytest.approx(result.value - 1.96 * deviation, abs=0.02)
    assert result.ci[1] == pytest.approx(result.value + 1.96 * deviation, abs=0.02)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_interval_in_another_process() -> None:
    program = (
        "from run_builders import run_of\n"
        "from localfact.scoring import score\n"
        "from localfact.scoring.scores import Precision\n"
        f"print(score(run_of(*{TEN!r}), [Precision()], 7)[0].model_dump_json())"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=paths()).stdout
    assert printed.strip() == precision(run_of(*TEN), 7).model_dump_json()
    assert precision(run_of(*TEN), 8).ci != precision(run_of(*TEN), 7).ci


def paths() -> dict[str, str]:
    return {"PYTHONPATH": ":".join(path for path in sys.path if path)}


def test_one_response_has_a_value_and_neither_deviation_nor_interval() -> None:
    result = precision(run_of("SSC"))
    assert (result.value, result.sd, result.ci, result.n) == (pytest.approx(2 / 3), None, None, 1)


def test_no_responses_at_all_have_no_score_and_say_so() -> None:
    for result in score([], standard_scores([])):
        assert (result.value, result.value_with_zeros, result.n) == (None, None, 0)
        assert result.reason == "there are no responses"
    assert [result.name for result in score([], standard_scores([]))][:5] == [
        "Pr",
        "R@K(median)",
        "F1@K(median)",
        "R@K'(gamma=0.1)",
        "F1@K'(gamma=0.1)",
    ]


def test_abstained_and_unscored_responses_are_left_out_and_counted_and_given_as_zero_beside() -> None:
    result = precision(run_of("SC", "S", "", "IV", ""))
    assert (result.value, result.n) == (0.75, 2)
    assert result.left_out == {"abstained": 2, "unscored": 1}
    assert result.value_with_zeros == pytest.approx(1.5 / 5)


def test_failed_responses_are_left_out_of_both_means_and_counted() -> None:
    run = [*run_of("SC", ""), assessment("SSS", index=2, failed=True)]
    result = precision(run)
    assert (result.value, result.value_with_zeros, result.n) == (0.5, 0.25, 1)
    assert result.left_out == {"abstained": 1, "failed": 1}


def test_a_run_in_which_all_abstained_has_no_score_but_a_mean_with_zeros() -> None:
    result = precision(run_of("", ""))
    assert (result.value, result.value_with_zeros, result.ci) == (None, 0.0, None)
    assert result.reason == "no response has this score: 2 abstained"


def test_a_run_in_which_all_failed_has_no_score_of_either_kind() -> None:
    run = [assessment("S", index=at, failed=True) for at in range(2)]
    for result in score(run, standard_scores(run)):
        assert (result.value, result.value_with_zeros, result.n, result.left_out) == (None, None, 0, {"failed": 2})


def test_a_response_whose_claims_all_failed_is_unscored() -> None:
    result = precision(run_of("SC", "FF"))
    assert result.left_out == {"unscored": 1}


def test_as_zero_means_a_precision_of_zero_for_its_error_and_nothing_for_a_brier_score() -> None:
    run = [
        assessment("SC", index=0, gold="ss", posteriors=[0.9, 0.1]),
        assessment("", index=1, annotation=(3, 1)),
        assessment("", index=2),
    ]
    error, brier, f1 = score(run, [PrecisionError(), BrierPerResponse(), GoldF1()])
    assert (error.value, error.value_with_zeros) == (0.5, pytest.approx((0.5 + 0.75) / 2))
    assert (brier.value, brier.value_with_zeros) == (pytest.approx(0.41), None)
    assert (f1.value, f1.value_with_zeros) == (pytest.approx(2 / 3), pytest.approx(1 / 3))


@pytest.mark.slow
def test_a_result_is_plain_json_and_reads_itself_back() -> None:
    run = run_of("SC", "SS", gold="sn", posteriors=[0.9, 0.2])
    for result in score(run, [*standard_scores(run), F1AtK(KPolicy.parse("gold"))]):
        text = result.model_dump_json()
        assert {"name", "policy", "value", "sd", "ci", "n"} <= json.loads(text).keys()
        assert ScoreResult.model_validate_json(text) == result


@pytest.mark.slow
@given(runs(), st.randoms(use_true_random=False))
def test_results_do_not_depend_on_the_order_in_which_responses_come(run: list[Assessment], shuffler: random.Random) -> None:
    shuffled = list(run)
    shuffler.shuffle(shuffled)
    assert score(run, [Precision(), CalibrationError()]) == score(shuffled, [Precision(), CalibrationError()])


@pytest.mark.slow
@given(runs())
def test_every_response_and_every_claim_is_either_in_or_counted_as_left_out(run: list[Assessment]) -> None:
    for result in score(run, standard_scores(run)):
        assert result.n + sum(result.left_out.values()) == len(run)
        assert result.claims_left_out >= 0
        assert (result.value is None) == (result.n == 0) == (result.reason is not None)
        assert (result.ci is None) == (result.n < 2)
        if result.ci is not None and result.value is not None:
            assert result.ci[0] <= result.ci[1]
