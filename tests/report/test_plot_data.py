"""What enters the figures of runs, worked out by hand from assessments of one line each."""

import numpy as np
import pytest
from run_builders import assessment, run_of

from localfact.records import Assessment
from localfact.report.plot_data import (
    AnnotatedClaims,
    PrecisionByLength,
    claims_with_labels,
    precision_by_length,
    reliability,
    response_scores,
    risk_coverage,
    roc,
    select_scored,
)
from localfact.scoring.tally import Unscored


def labelled() -> list[Assessment]:
    """Five annotated claims in two responses; one without a posterior, one irrelevant, one without a label."""
    return [
        assessment("SCF", index=3, gold="snn", posteriors=(0.9, 0.2, None)),
        assessment("SEESS", index=7, gold="nsni-", posteriors=(0.7, 0.5, 0.5, 0.8, 0.9)),
    ]


def long_response(words: int, verdicts: str) -> Assessment:
    return assessment(verdicts).model_copy(update={"text": "word, " * words})


def test_annotated_claims_are_those_with_a_side_and_a_posterior() -> None:
    found = claims_with_labels(labelled())
    assert isinstance(found, AnnotatedClaims)
    assert found.posteriors.tolist() == [0.9, 0.2, 0.7, 0.5, 0.5]
    assert found.supported.tolist() == [True, False, False, True, False]
    assert found.responses.tolist() == [3, 3, 7, 7, 7]


def test_a_run_without_labels_or_posteriors_says_which_it_lacks() -> None:
    no_labels, no_posteriors = run_of("SC", posteriors=(0.9, 0.1)), [assessment("SC", gold="sn")]
    for numbers in (reliability, risk_coverage, roc):
        assert numbers(no_labels) == Unscored("no annotated claims")
        assert numbers(no_posteriors) == Unscored("no posteriors of annotated claims")
        assert numbers([]) == Unscored("no annotated claims")


def test_reliability_has_a_bin_a_claim_where_claims_are_few() -> None:
    found = reliability(labelled())
    assert not isinstance(found, Unscored)
    assert [(one.posterior, one.supported, one.count) for one in found] == [
        (0.2, 0.0, 1),
        (0.5, 0.5, 1),
        (0.5, 0.5, 1),
        (0.7, 0.0, 1),
        (0.9, 1.0, 1),
    ]


def test_the_surest_claims_are_kept_first_and_one_half_is_taken_for_not_supported() -> None:
    found = risk_coverage(labelled())
    assert not isinstance(found, Unscored)
    # Confidences 0.9 right, 0.8 right, 0.7 wrong, then the two at one half, of which the supported one is wrong.
    assert [(point.accepted, point.wrong) for point in found.points] == [(1, 0), (2, 0), (3, 1), (5, 2)]
    assert (found.error, found.responses) == (0.4, 2)


def test_the_roc_curve_has_the_supported_claims_as_positives() -> None:
    found = roc(labelled())
    assert not isinstance(found, Unscored)
    assert (found.positives, found.negatives, found.rows) == (2, 3, 2)
    # 0.9 beats all three; 0.5 beats 0.2, ties with 0.5, loses to 0.7.
    assert found.area == pytest.approx((3 + 1.5) / 6)
    assert roc([assessment("SS", gold="ss", posteriors=(0.9, 0.4))]) == Unscored("annotated claims of one kind alone")


def test_precision_by_length_counts_words_of_responses_that_have_both() -> None:
    run = [long_response(30, "SC"), long_response(10, "SSSC"), long_response(20, ""), long_response(5, "I"), assessment("S")]
    found = precision_by_length(run)
    assert isinstance(found, PrecisionByLength)
    assert found.words.tolist() == [10, 30]
    assert found.precision.tolist() == [0.75, 0.5]
    assert found.bins == ()
    assert precision_by_length([assessment("S")]) == Unscored("no responses with a text and a precision")


def test_bins_by_length_have_equal_counts_and_an_interval_of_their_mean() -> None:
    short = [long_response(words, "S") for words in (1, 2, 3, 4, 5)]
    long = [long_response(words, verdicts) for words, verdicts in ((10, "C"), (20, "C"), (30, "SC"), (40, "S"), (50, "S"))]
    found = precision_by_length([*long, *short])
    assert isinstance(found, PrecisionByLength)
    first, second = found.bins
    assert (first.words, first.precision, first.ci) == (3.0, 1.0, (1.0, 1.0))
    assert (second.words, second.precision) == (30.0, 0.5)
    assert 0 <= second.ci[0] < 0.5 < second.ci[1] <= 1
    assert precision_by_length([*short, *long]).bins == found.bins


def test_scores_of_several_runs_have_one_k() -> None:
    found = response_scores({"one": run_of("SSCC", "F"), "other": run_of("SC")})
    assert [one.name for one in found] == ["Pr", "F1@K(median=3)", "F1@K'(median=3)"]
    assert {name: values.tolist() for name, values in found[0].values.items()} == {"one": [0.5], "other": [0.5]}
    # Recall 2/3 and 1/3.
    assert found[1].values["one"] == pytest.approx([4 / 7])
    assert found[1].values["other"] == pytest.approx([0.4])


def test_scores_against_an_annotation_are_of_the_runs_that_have_one() -> None:
    annotated = [assessment("SC", index=at, gold="sn", posteriors=(0.9, sure)) for at, sure in enumerate((0.4, 0.1))]
    found = {one.name: one for one in response_scores({"with": annotated, "without": run_of("S")})}
    brier = found["Brier(response)"]
    assert brier.lower_is_better
    assert {name: values.tolist() for name, values in brier.values.items()} == {"with": pytest.approx([0.01, 0.085])}
    assert set(found["F1(gold)"].values) == set(found["MAE(Pr)"].values) == {"with"}
    assert set(found["Pr"].values) == {"with", "without"}
    assert all(np.all(np.diff(values) >= 0) for one in found.values() for values in one.values.values())


def test_a_run_in_which_no_response_has_a_score_has_none_to_draw() -> None:
    assert select_scored(run_of("", "I", "F")) == Unscored("no responses with a score")
    run = run_of("S", "")
    assert select_scored(run) is run
