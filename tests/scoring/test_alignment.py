"""A run beside an annotation, counted by hand (FastFact, Table 1)."""

import numpy as np
import pytest
from run_builders import assessment

from localfact.scoring.alignment import AlignedResponse, GoldClaim, align, best_matches
from localfact.scoring.recall import f1, recall_at_k_prime
from localfact.vocabulary import GoldLabel, VerdictLabel

S = GoldClaim("s", GoldLabel.SUPPORTED, VerdictLabel.SUPPORTED)
REFUTED = GoldClaim("r", GoldLabel.NOT_SUPPORTED, VerdictLabel.CONTRADICTED)
THIN = GoldClaim("n", GoldLabel.NOT_SUPPORTED, VerdictLabel.NOT_ENOUGH_EVIDENCE)
BESIDE = GoldClaim("i", GoldLabel.IRRELEVANT, VerdictLabel.IRRELEVANT)
NO_CLAIM = GoldClaim("v", GoldLabel.IRRELEVANT, VerdictLabel.UNVERIFIABLE)
COARSE = GoldClaim("ns", GoldLabel.NOT_SUPPORTED)


def response(verdicts: str, claims: list[GoldClaim], matches: list[tuple[int, int]], same: list[bool]) -> AlignedResponse:
    return AlignedResponse(assessment(verdicts), claims, matches, same)


def test_what_the_run_lacks_was_added_and_what_the_annotation_lacks_was_removed() -> None:
    found = align([response("SSCE", [S, THIN, BESIDE], [(0, 0), (2, 1)], [True, False]), response("S", [S], [(0, 0)], [True])])
    assert found.n == 2
    assert found.edits == {"removed": 1.0, "added": 0.5, "revised": 0.5, "unchanged": 1.0}


def test_labels_agree_exactly_or_as_scores_count() -> None:
    found = align([response("SCE", [S, THIN, THIN], [(0, 0), (1, 1), (2, 2)], [True] * 3)])
    assert (found.exact.n, found.exact.share) == (3, pytest.approx(2 / 3))
    assert found.scoring.share == 1.0


def test_unverifiable_is_not_irrelevant_and_a_failed_claim_counts_nowhere() -> None:
    found = align([response("VFV", [BESIDE, S, NO_CLAIM], [(0, 0), (1, 1), (2, 2)], [True] * 3)])
    assert (found.scoring.n, found.scoring.share) == (2, 0.5)
    assert (found.exact.n, found.exact.share) == (2, 0.5)
    assert found.irrelevant is not None
    assert (found.irrelevant.run, found.irrelevant.annotation) == (0.0, 1.0)


def test_an_annotation_in_fewer_labels_is_not_compared_in_five() -> None:
    found = align([response("SC", [S, COARSE], [(0, 0), (1, 1)], [True, True])])
    assert (found.exact.n, found.scoring.n) == (0, 2)
    fine = response("S", [S], [(0, 0)], [True])
    assert align([fine]).exact.n == 1
    assert align([fine, response("C", [COARSE], [(0, 0)], [True])]).exact.n == 0  # the labels it has are the easy ones


def test_differences_are_absolute_for_a_response_and_f1_is_by_the_annotations_k_prime() -> None:
    found = align([response("SSSC", [S, REFUTED], [], []), response("S", [S, S, S, S, BESIDE], [], [])])
    assert found.k_prime is not None
    assert (found.k_prime.run, found.k_prime.annotation, found.k_prime.absolute) == (2.5, 3.0, 2.5)
    assert found.supported is not None
    assert found.supported.absolute == 2.5
    assert found.irrelevant is not None
    assert (found.irrelevant.annotation, found.irrelevant.absolute) == (0.5, 0.5)
    assert found.f1 is not None
    first, second = f1(0.75, recall_at_k_prime(3, 2, 0.1)), f1(1.0, recall_at_k_prime(1, 4, 0.1))
    assert found.f1.run == pytest.approx((first + second) / 2)
    people = f1(0.5, recall_at_k_prime(1, 2, 0.1)), 1.0
    assert found.f1.annotation == pytest.approx(sum(people) / 2)
    assert found.f1.absolute == pytest.approx((abs(first - people[0]) + abs(second - people[1])) / 2)


def test_a_response_without_counting_claims_has_no_f1_but_its_claims_count() -> None:
    found = align([response("", [S], [], [])])
    assert (found.f1, found.f1_n) == (None, 0)
    assert found.edits["added"] == 1.0
    assert align([]).n == 0


def test_matches_are_one_to_one_of_the_greatest_sum_and_none_below_the_least() -> None:
    similar = np.array([[0.9, 0.95], [0.3, 0.9], [0.7, 0.1]])
    assert best_matches(similar, 0.8) == [(0, 0), (1, 1)]
    assert best_matches(similar, 0.92) == [(0, 1)]
    assert best_matches(np.zeros((0, 3)), 0.5) == []
