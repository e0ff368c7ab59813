import pytest
from run_builders import assessment, run_of

from localfact.scoring import score
from localfact.scoring.gold_scores import BrierPerClaim, BrierPerResponse, CalibrationError, GoldF1, PrecisionError


def test_f1_is_of_the_supported_class_per_response_and_then_averaged() -> None:
    run = [assessment("SSCU", index=0, gold="snsn"), assessment("SS", index=1, gold="ss")]
    result = score(run, [GoldF1()])[0]
    assert result.value == pytest.approx((2 * 1 / (2 * 1 + 1 + 1) + 1) / 2)
    assert result.name == "F1(gold)"


@pytest.mark.parametrize("verdict", "CXEUIV")
def test_every_verdict_but_supported_predicts_not_supported(verdict: str) -> None:
    result = score([assessment("S" + verdict, gold="ss")], [GoldF1()])[0]
    assert result.value == pytest.approx(2 / 3)


def test_failed_claims_and_claims_that_gold_calls_irrelevant_are_left_out_of_f1_and_counted() -> None:
    result = score([assessment("SFSS", gold="ssi-")], [GoldF1()])[0]
    assert (result.value, result.claims, result.claims_left_out) == (1.0, 1, 3)


def test_f1_is_undefined_where_nothing_is_supported_by_gold_or_verdict() -> None:
    result = score([assessment("CC", gold="nn")], [GoldF1()])[0]
    assert (result.value, result.left_out) == (None, {"nothing supported": 1})


def test_responses_without_a_label_are_left_out_and_counted() -> None:
    run = [assessment("SC", index=0, gold="sn", posteriors=[0.8, 0.4]), assessment("SC", index=1, posteriors=[0.8, 0.4])]
    f1, error, brier = score(run, [GoldF1(), PrecisionError(), BrierPerResponse()])
    assert (f1.n, f1.left_out) == (1, {"no gold label": 1})
    assert (error.n, error.left_out) == (1, {"no annotated precision": 1})
    assert (brier.n, brier.left_out) == (1, {"no posterior with a gold label": 1})


def test_where_half_the_claims_are_labelled_the_labelled_half_is_scored() -> None:
    result = score([assessment("SCSC", gold="s-n-", posteriors=[0.8, 0.1, 0.6, 0.1])], [BrierPerResponse()])[0]
    assert result.value == pytest.approx((0.04 + 0.36) / 2)
    assert (result.claims, result.claims_left_out) == (2, 2)


def test_the_error_of_precision_needs_only_the_counts_of_the_annotation() -> None:
    run = [assessment("SC", index=0, annotation=(9, 1)), assessment("SSSC", index=1, annotation=(1, 1))]
    result = score(run, [PrecisionError()])[0]
    assert (result.value, result.name) == (pytest.approx((0.4 + 0.25) / 2), "MAE(Pr)")


def test_an_annotation_in_which_nothing_counts_has_no_precision() -> None:
    assert score(run_of("SC", gold="ii"), [PrecisionError()])[0].value is None


def test_brier_per_response_and_per_claim_weigh_long_responses_differently() -> None:
    run = [
        assessment("S", index=0, gold="s", posteriors=[0.5]),
        assessment("SSS", index=1, gold="sss", posteriors=[1.0, 1.0, 1.0]),
    ]
    response, claim = score(run, [BrierPerResponse(), BrierPerClaim()])
    assert (response.value, claim.value) == (pytest.approx(0.125), pytest.approx(0.0625))
    assert response.sd is not None
    assert claim.sd is None
    assert claim.ci is not None


def test_claims_without_a_posterior_are_left_out_of_brier_and_counted() -> None:
    result = score([assessment("SSF", gold="sns", posteriors=[0.9, 0.8, None])], [BrierPerClaim()])[0]
    assert result.value == pytest.approx((0.01 + 0.64) / 2)
    assert (result.claims, result.claims_left_out) == (2, 1)


def test_calibration_error_pools_the_claims_of_all_responses_and_shows_its_bins() -> None:
    run = [
        assessment("SSSSS", index=0, gold="sssnn", posteriors=[0.9] * 5),
        assessment("CCCCC", index=1, gold="nnnns", posteriors=[0.2] * 5),
    ]
    result = score(run, [CalibrationError(2)])[0]
    assert result.name == "ECE(2 equal-count bins)"
    assert result.value == pytest.approx((0.3 * 5 + 0.0 * 5) / 10)
    assert [(one.posterior, one.supported, one.count) for one in result.bins] == [
        (pytest.approx(0.2), pytest.approx(0.2), 5),
        (pytest.approx(0.9), pytest.approx(0.6), 5),
    ]


def test_the_interval_of_the_calibration_error_resamples_whole_responses() -> None:
    run = [
        assessment("SS", index=0, gold="ss", posteriors=[0.7, 0.7]),
        assessment("SS", index=1, gold="ss", posteriors=[0.9, 0.9]),
    ]
    result = score(run, [CalibrationError()])[0]
    assert result.value == pytest.approx(0.2)
    assert result.ci == (pytest.approx(0.1), pytest.approx(0.3))
