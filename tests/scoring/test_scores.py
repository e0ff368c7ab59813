import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_builders import assessment, run_of, runs

from localfact.errors import InputError
from localfact.records import Assessment, Citations, EvidenceRecall
from localfact.scoring import KPolicy, Score, ScoreResult, score, standard_scores
from localfact.scoring.beside_scores import F1AtEvidence, citation_scores
from localfact.scoring.recall import KPrime, recall_at_k_prime
from localfact.scoring.scores import Entropy, F1AtK, F1AtKPrime, Precision, RecallAtK, RecallAtKPrime, VerdictCount


def one(assessments: list[Assessment], measure: Score[Any], seed: int = 0) -> ScoreResult:
    (result,) = score(assessments, [measure], seed)
    return result


def entropy(assessments: list[Assessment]) -> ScoreResult:
    return score(assessments, [Precision(), Entropy()])[1]


def k(text: str) -> KPolicy:
    return KPolicy.parse(text)


def test_precision_and_f1_at_k_are_those_of_the_papers_example_of_fourteen_claims() -> None:
    run = run_of("S" * 6 + "C" * 8)
    assert one(run, Precision()).value == pytest.approx(0.43, abs=0.005)
    assert one(run, F1AtK(k("7"))).value == pytest.approx(0.57, abs=0.005)


def test_failed_irrelevant_and_unverifiable_claims_are_in_neither_s_nor_n_and_are_counted() -> None:
    result = one(run_of("SSCXEUIVF"), Precision())
    assert result.value == pytest.approx(2 / 6)
    assert (result.claims, result.claims_left_out) == (6, 3)


def test_counts_per_response_are_supported_contradicted_and_the_three_kinds_of_undecided() -> None:
    run = run_of("SSCXEUIVF", "SCC")
    assert [one(run, VerdictCount(kind)).value for kind in ("S", "C", "U")] == [1.5, 1.5, 1.5]
    assert str(VerdictCount("U")) == "#U"


def test_the_median_k_is_the_mean_of_the_two_middle_values() -> None:
    run = run_of("SC", "SSC", "SSSSSC", "S" * 20)
    assert one(run, RecallAtK()).name == "R@K(median=4.5)"
    assert one(run, RecallAtK()).value == pytest.approx((1 / 4.5 + 2 / 4.5 + 1 + 1) / 4)


def test_k_is_taken_from_the_responses_that_have_a_score() -> None:
    run = [*run_of("SSSC", "SC", "", "IV"), assessment("S" * 30, index=4, failed=True)]
    assert one(run, F1AtK()).name == "F1@K(median=3)"
    assert one(run, F1AtK(k("max"))).name == "F1@K(max=4)"


@pytest.mark.parametrize(("text", "name"), [("22", "F1@K(22)"), ("17.5", "F1@K(17.5)"), (" Gold ", "F1@K(gold)")])
def test_a_score_prints_its_k(text: str, name: str) -> None:
    assert one(run_of("SC", annotation=(1, 1)), F1AtK(k(text))).name == name


def test_before_it_has_seen_data_a_score_prints_its_policy_alone() -> None:
    assert [str(one) for one in (Precision(), RecallAtK(), F1AtK(k("max")), F1AtKPrime(), RecallAtKPrime(0.2))] == [
        "Pr",
        "R@K(median)",
        "F1@K(max)",
        "F1@K'(gamma=0.1)",
        "R@K'(gamma=0.2)",
    ]


def test_scores_with_the_same_parameters_are_equal() -> None:
    assert F1AtK(k("22")) == F1AtK(k("22.0"))
    assert len({F1AtK(k("22")), RecallAtK(k("22")), F1AtK()}) == 3


def test_with_gold_each_response_has_its_own_k() -> None:
    run = [assessment("SSC", index=0, annotation=(4, 0)), assessment("SSSC", index=1, annotation=(2, 5))]
    assert one(run, RecallAtK(k("gold"))).value == pytest.approx((2 / 4 + 1) / 2)


@pytest.mark.parametrize("text", ["", "mean", "-1", "nan", "inf", "22 claims", "median=17"])
def test_a_k_that_is_none_is_refused_with_what_can_be_given(text: str) -> None:
    with pytest.raises(InputError, match="median, max, gold or a number"):
        KPolicy.parse(text)


def test_f1_at_k_is_zero_where_nothing_is_supported() -> None:
    result = one(run_of("CC", "UE"), F1AtK())
    assert (result.value, result.n) == (0.0, 2)


def test_f1_at_k_is_undefined_where_k_is_zero() -> None:
    run = [assessment("SC", index=0, annotation=(0, 2)), assessment("SC", index=1, annotation=(1, 1)), assessment("S", index=2)]
    result = one(run, F1AtK(k("gold")))
    assert (result.value, result.n) == (pytest.approx(2 / 3), 1)
    assert result.left_out == {"K = 0": 1, "no annotation": 1}
    nothing = one(run, F1AtK(KPolicy(None, 0.0)))
    assert (nothing.value, nothing.value_with_zeros, nothing.reason) == (None, None, "no response has this score: 3 K = 0")


@pytest.mark.parametrize(("supported", "recall"), [(10, 1.0), (17, 2 / (1 + math.exp(0.7))), (3, 2 / (1 + math.exp(0.7)))])
def test_recall_by_k_prime_costs_too_many_and_too_few_the_same(supported: int, recall: float) -> None:
    assert recall_at_k_prime(supported, 10, 0.1) == pytest.approx(recall)


def test_recall_by_k_prime_survives_any_distance() -> None:
    assert recall_at_k_prime(0, 1e6, 0.1) == 0.0


def test_k_prime_is_the_number_of_claims_of_the_annotation() -> None:
    result = one([assessment("SSSC", annotation=(4, 2))], F1AtKPrime())
    recall = 2 / (1 + math.exp(0.3))
    assert result.name == "F1@K'(gamma=0.1, K'=annotation)"
    assert result.value == pytest.approx(2 * 0.75 * recall / (0.75 + recall))


def test_without_an_annotation_k_prime_is_the_median_and_says_so() -> None:
    run = run_of("S" * 16 + "C", "S" * 10, "S" * 20)
    result = one(run, F1AtKPrime())
    assert result.name == "F1@K'(median=17)"
    assert result.policy == {"gamma": 0.1, "K'": "median=17", "K'_medians": {"": 17.0}}
    assert one(run, F1AtKPrime(0.2)).name == "F1@K'(gamma=0.2, median=17)"


def test_k_prime_is_the_median_within_a_source() -> None:
    run = [
        assessment("S" * 4, index=0, source="bio"),
        assessment("S" * 8, index=1, source="bio"),
        assessment("S" * 2, index=2, source="qa"),
        assessment("", index=3, source="none of its responses has a claim"),
    ]
    result = one(run, RecallAtKPrime())
    assert result.name == "R@K'(median per source)"
    assert result.policy["K'_medians"] == {"bio": 6.0, "qa": 2.0}
    assert result.value == pytest.approx((2 * recall_at_k_prime(4, 6, 0.1) + 1) / 3)


def test_where_some_responses_are_annotated_the_name_says_both() -> None:
    run = [assessment("SS", index=0, annotation=(2, 0)), assessment("SSSC", index=1)]
    result = one(run, RecallAtKPrime())
    assert result.name == "R@K'(gamma=0.1, K'=annotation, else median=3)"
    assert result.value == 1.0


@pytest.mark.parametrize(("posterior", "value"), [(0.5, 0.1505), (0.0, 0.0), (1.0, 0.0), (1 / math.e, 0.1598)])
def test_entropy_is_that_of_the_specification(posterior: float, value: float) -> None:
    result = entropy(run_of("SC", posteriors=[posterior, posterior]))
    assert result.value == pytest.approx(value, abs=5e-5)
    assert not str(result.value).startswith("-")


def test_entropy_is_over_the_claims_with_a_posterior() -> None:
    result = entropy([assessment("SFC", posteriors=[0.1, None, 1.0])])
    assert result.value == pytest.approx(0.05)
    assert (result.claims, result.claims_left_out, result.value_with_zeros) == (2, 1, None)


def test_entropy_is_never_the_only_score() -> None:
    with pytest.raises(InputError, match="Ask for Pr beside it"):
        score(run_of("S", posteriors=[0.9]), [Entropy()])


def test_a_run_without_posteriors_and_gold_prints_no_score_that_needs_them() -> None:
    names = [result.name for result in score(run_of("SC"), standard_scores(run_of("SC")))]
    assert names == ["Pr", "R@K(median=2)", "F1@K(median=2)", "R@K'(median=2)", "F1@K'(median=2)", "#S", "#C", "#U"]


def test_a_run_with_labelled_claims_prints_all_scores_and_takes_its_k_from_the_caller() -> None:
    run = run_of("SC", gold="sn", posteriors=[0.9, 0.2])
    results = score(run, standard_scores(run, k("22")))
    assert [result.name for result in results] == [
        "Pr",
        "R@K(22)",
        "F1@K(22)",
        "R@K'(gamma=0.1, K'=annotation)",
        "F1@K'(gamma=0.1, K'=annotation)",
        "E(log10)",
        "#S",
        "#C",
        "#U",
        "F1(gold)",
        "MAE(Pr)",
        "Brier(response)",
        "Brier(claim)",
        "ECE(10 equal-count bins)",
    ]


def test_several_runs_may_share_one_k_prime() -> None:
    short, long = run_of("SC"), run_of("SSSC")
    shared = KPrime.fit([*short, *long])
    for run, distance in ((short, 2), (long, 0)):
        found = {result.name: result.value for result in score(run, standard_scores(run, None, shared))}
        assert found["R@K'(median=3)"] == pytest.approx(2 / (1 + math.exp(0.1 * distance)))


def test_what_is_undefined_for_a_response_is_not_0_for_it() -> None:
    judged, without_k = assessment("SC", gold="sn"), assessment("", index=1, annotation=(0, 2))
    for kind in (RecallAtK, F1AtK):
        assert one([judged, without_k], kind(k("gold"))).value_with_zeros == one([judged], kind(k("gold"))).value
        by_median = one([judged, without_k], kind(k("median")))
        assert by_median.value_with_zeros == pytest.approx(by_median.value / 2)


def test_f1_at_e_is_0_for_a_response_without_claims_only_where_there_are_key_facts() -> None:
    found = [
        each.model_copy(update={"recall": score and EvidenceRecall(score=score[0])})
        for each, score in zip(run_of("SC", "", "", ""), [(1.0,), (0.0,), (None,), None], strict=True)
    ]
    result = one(found, F1AtEvidence())
    assert (result.value, result.value_with_zeros) == (pytest.approx(2 / 3), pytest.approx(1 / 3))


def test_a_response_without_claims_has_its_citations() -> None:
    found = run_of("SC", "", "I", "SC")
    cited = [Citations(recall=value, precision=value) for value in (1.0, 0.0, 0.5)]
    checked = [one.model_copy(update={"citations": each}) for one, each in zip(found, [*cited, None], strict=True)]
    for result in score(checked, citation_scores(checked)):
        assert (result.value, result.n, result.left_out) == (0.5, 3, {"not checked": 1})


def test_where_only_the_counts_of_the_annotation_are_known_the_error_of_precision_is_printed_and_no_label_score() -> None:
    run = run_of("SSC", annotation=(1, 1), posteriors=[0.9, 0.8, 0.1])
    names = [str(one) for one in standard_scores(run)]
    assert "MAE(Pr)" in names
    assert not {"F1(gold)", "Brier(response)", "Brier(claim)"} & set(names)


@pytest.mark.slow
@given(runs(), st.randoms(use_true_random=False))
def test_names_do_not_depend_on_the_order_of_the_responses(run: list[Assessment], shuffler: random.Random) -> None:
    shuffled = list(run)
    shuffler.shuffle(shuffled)
    fitted = [one.fit(run) for one in standard_scores(run)]
    assert [str(one) for one in fitted] == [str(one.fit(shuffled)) for one in standard_scores(shuffled)]


@pytest.mark.slow
@given(runs())
def test_every_value_of_a_response_is_within_its_bounds_and_f1_between_its_two_parts(run: list[Assessment]) -> None:
    recalls: list[tuple[RecallAtK | RecallAtKPrime, RecallAtK | RecallAtKPrime]] = [
        (RecallAtK(), F1AtK()),
        (RecallAtK(k("gold")), F1AtK(k("gold"))),
        (RecallAtKPrime(), F1AtKPrime()),
    ]
    for response in run:
        if response.status != "scored":
            continue
        precision = Precision().of(response)
        for recall_score, f1_score in recalls:
            recall = recall_score.fit(run).of(response)
            value = f1_score.fit(run).of(response)
            if isinstance(recall, float) and isinstance(value, float):
                assert 0 <= min(precision, recall) <= value + 1e-12
                assert value <= max(precision, recall) + 1e-12 <= 1 + 1e-12
            else:
                assert recall == value


def printed(shared: Path, assessor: str) -> dict[str, Any]:
    text = (shared / "data" / "flaherty" / f"{assessor}_output.json").read_text(encoding="utf-8")
    results: dict[str, Any] = json.loads(text)["results"]
    return results


@pytest.mark.parametrize("assessor", ["factreasoner", "factscore", "factverify", "veriscore"])
def test_precision_recall_and_f1_are_those_that_the_published_assessors_printed(shared: Path, assessor: str) -> None:
    results = printed(shared, assessor)
    letters = {"S": "S", "NS": "C", "C": "C", "U": "U"}
    run = run_of("".join(letters[label] for label in results["predictions"].values()))
    # Their K is half the number of claims, rounded down: a fault that only a given number can repeat.
    half = k(str(results["num_atoms"] // 2))
    values = [result.value for result in score(run, [Precision(), RecallAtK(half), F1AtK(half)])]
    assert values == pytest.approx([results["factuality_score"], results["recall_k"], results["f1_k"]])


def test_entropy_is_the_printed_sum_of_natural_logarithms_over_the_printed_marginals(shared: Path) -> None:
    results = printed(shared, "factreasoner")
    # They keep a posterior from 1 before they take its logarithm.
    posteriors = [min(row["probabilities"][1], 1 - 1e-6) for row in results["marginals"]]
    value = entropy([assessment("S" * len(posteriors), posteriors=posteriors)]).value
    assert value is not None
    assert value * len(posteriors) * math.log(10) == pytest.approx(results["entropy"], abs=1e-9)
