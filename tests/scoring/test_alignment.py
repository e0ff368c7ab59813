import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_builders import assessment, run_of, runs
from scipy.stats import pearsonr, rankdata, spearmanr

from localfact.records import Assessment
from localfact.scoring import align
from localfact.scoring.alignment import average_ranks, correlation, label_agreement
from localfact.scoring.recall import f1, recall_at_k_prime


def test_precision_counts_and_f1_are_set_beside_those_of_the_annotation() -> None:
    run = [assessment("SSSC", index=0, annotation=(4, 4)), assessment("SC", index=1, annotation=(3, 1))]
    alignment = align(run)
    precision, claims = alignment.measured["precision"], alignment.measured["claims"]
    assert alignment.n == 2
    assert (precision.run, precision.annotation) == (0.625, 0.625)
    assert (precision.difference, precision.absolute_error) == (0.0, 0.25)
    assert (claims.run, claims.annotation, claims.difference, claims.absolute_error) == (3, 6, -3, 3)
    assert alignment.measured["supported"].absolute_error == pytest.approx(1.5)
    assert alignment.measured["not_supported"].absolute_error == pytest.approx(1.5)


def test_both_sides_of_f1_at_k_prime_are_by_the_k_prime_of_the_annotation() -> None:
    both = align([assessment("SSSC", annotation=(4, 4))], gamma=0.2).measured["f1_at_k_prime"]
    assert both.run == pytest.approx(f1(0.75, recall_at_k_prime(3, 8, 0.2)))
    assert both.annotation == pytest.approx(f1(0.5, recall_at_k_prime(4, 8, 0.2)))


def test_responses_without_score_or_annotation_are_left_out_and_counted() -> None:
    run = [
        assessment("SC", index=0, annotation=(1, 1)),
        assessment("SC", index=1),
        assessment("", index=2, annotation=(1, 1)),
        assessment("SC", index=3, annotation=(0, 0)),
        assessment("SC", index=4, annotation=(1, 1), failed=True),
    ]
    alignment = align(run)
    assert alignment.n == 1
    assert alignment.left_out == {"no annotated precision": 2, "abstained": 1, "failed": 1}
    assert (alignment.pearson, alignment.spearman, alignment.labels) == (None, None, None)


def test_a_run_without_annotation_is_aligned_with_nothing() -> None:
    assert align(run_of("SC")).measured == {}
    assert align([]).n == 0


def test_correlations_over_responses_are_those_of_scipy() -> None:
    verdicts = ("SSSC", "SC", "SCC", "SSC", "SC")
    annotations = ((3, 1), (2, 3), (1, 5), (9, 1), (1, 1))
    run = [assessment(verdicts[at], index=at, annotation=annotations[at]) for at in range(5)]
    ours = [0.75, 0.5, 1 / 3, 2 / 3, 0.5]
    theirs = [0.75, 0.4, 1 / 6, 0.9, 0.5]
    alignment = align(run)
    assert alignment.pearson == pytest.approx(pearsonr(ours, theirs).statistic)
    assert alignment.spearman == pytest.approx(spearmanr(ours, theirs).statistic)


def test_a_constant_side_has_no_correlation() -> None:
    assert correlation(np.array([1.0, 1.0]), np.array([0.0, 1.0])) is None


@given(st.lists(st.integers(0, 5).map(float), min_size=1, max_size=30))
def test_ranks_are_those_of_scipy(values: list[float]) -> None:
    assert average_ranks(np.array(values)) == pytest.approx(rankdata(values))


def test_labels_are_compared_claim_by_claim_and_failed_ones_counted() -> None:
    labels = label_agreement([assessment("SSCUVF", gold="snsnis"), assessment("SI", gold="-n")])
    assert labels is not None
    assert (labels.claims, labels.failed) == (6, 1)
    assert labels.agreement == pytest.approx(3 / 6)
    assert (labels.precision, labels.recall, labels.f1) == (0.5, 0.5, 0.5)
    assert labels.confusion == {
        "supported": {"supported": 1, "contradicted": 1, "failed": 1},
        "not_supported": {"supported": 1, "undecided": 1, "irrelevant": 1},
        "irrelevant": {"unverifiable": 1},
    }


def test_a_supported_verdict_on_an_irrelevant_claim_is_a_disagreement_but_no_false_alarm() -> None:
    labels = label_agreement([assessment("SS", gold="si")])
    assert labels is not None
    assert (labels.agreement, labels.precision) == (0.5, 1.0)


def test_rates_without_a_denominator_are_none() -> None:
    labels = label_agreement([assessment("F", gold="s")])
    assert labels is not None
    assert (labels.claims, labels.agreement, labels.precision, labels.recall, labels.f1) == (0, None, None, None, None)


@given(runs())
def test_the_confusion_holds_every_labelled_claim(run: list[Assessment]) -> None:
    labels = label_agreement(run)
    labelled = sum(claim.gold is not None for response in run for claim in response.claims)
    if labels is None:
        assert labelled == 0
    else:
        assert labels.claims + labels.failed == labelled
        assert sum(count for row in labels.confusion.values() for count in row.values()) == labelled
