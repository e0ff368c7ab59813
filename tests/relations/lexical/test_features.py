"""What the features say of pairs that a person can judge."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.relations.lexical.features import Features, Match, best_window, compare
from localfact.relations.lexical.statements import IdfTable, ParsedClaim, Premise

IDF = IdfTable(1000, {"the": 900, "was": 800, "in": 850, "a": 880, "it": 700, "is": 800, "has": 500, "of": 900})

BRIDGE = (
    "The Harland Bridge is a road bridge in Norby. It was opened on 4 May 1932 by Queen Ada. "
    "The bridge has six arches of granite. Fishing from it is not allowed."
)


def features(claim: str, premise: str = BRIDGE) -> Features:
    return compare(Match(ParsedClaim(claim, IDF), Premise(premise)))


def test_idf_is_the_smoothed_logarithm():
    assert IDF.weight("the") == pytest.approx(math.log(1001 / 901))
    assert IDF.weight("unseen") == pytest.approx(math.log(1001))


def test_the_subject_is_the_first_run_of_names_and_a_common_opening_word_is_none():
    assert ParsedClaim("In 1932 Queen Ada opened Harland Bridge.", IDF).subject == {"queen", "ada"}
    assert ParsedClaim("In 1932 Queen Ada opened Harland Bridge.", IDF).names == {"harland", "bridg"}
    assert ParsedClaim("The Harland Bridge is a bridge.", IDF).subject >= {"harland", "bridg"}
    assert ParsedClaim("It is a bridge.", IDF).subject == frozenset()


def test_a_sentence_covers_itself_and_nothing_conflicts():
    found = features("The bridge has six arches of granite.")
    assert found.coverage == found.said == found.bigrams == found.said_in_full == pytest.approx(1)
    assert found.largest_gap == 0
    assert all(value == 0 for name, value in found._asdict().items() if "conflict" in name or "missing" in name)


def test_rare_words_weigh_more_than_common_ones():
    assert features("It was granite.").coverage > features("It was marble.").coverage
    assert features("granite was marble").coverage == pytest.approx(
        (IDF.weight("granite") + IDF.weight("was")) / (2 * IDF.weight("granite") + IDF.weight("was")), abs=0.02
    )


def test_the_best_window_is_the_sentence_that_speaks_of_the_claim():
    assert best_window(ParsedClaim("It has six arches.", IDF), Premise(BRIDGE)) == (2,)


def test_two_sentences_are_taken_together_where_each_holds_a_part():
    assert best_window(ParsedClaim("It was opened by Queen Ada and has granite arches.", IDF), Premise(BRIDGE)) == (1, 2)


def test_the_subject_counts_as_covered_where_the_text_goes_on_with_a_pronoun():
    found = features("Harland Bridge was opened in 1932.")
    assert found.subject_missing == 0
    assert found.coverage > 0.9


def test_another_subject_is_seen_as_missing_and_stops_conflicts():
    found = features("Corwen Tower was opened on 4 May 1935 by Queen Ada.", BRIDGE * 2)
    assert found.subject_missing == 1
    assert found.other_subject > 0.5
    assert found.said == 0
    assert found.year_conflict == 0


@pytest.mark.parametrize(
    ("claim", "conflict"),
    [
        ("The Harland Bridge was opened on 4 May 1935.", "year_conflict"),
        ("The Harland Bridge was opened on 9 May 1932.", "number_conflict"),
        ("The Harland Bridge was opened on 4 June 1932.", "month_conflict"),
        ("The Harland Bridge was opened by Queen Ulrica.", "name_conflict"),
        ("The Harland Bridge was closed by Queen Ada.", "opposite"),
        ("The Harland Bridge has six arches of marble.", "slot_conflict"),
    ],
)
def test_a_changed_detail_is_a_conflict_and_the_right_one_is_none(claim: str, conflict: str):
    changes = {
        "1935": "1932",
        "9 May": "4 May",
        "June": "May",
        "Ulrica": "Ada",
        "closed": "opened",
        "marble": "granite",
    }
    right = claim
    for wrong, true in changes.items():
        right = right.replace(wrong, true)
    assert getattr(features(claim), conflict) > 0.4
    assert getattr(features(right), conflict) == 0


def test_a_date_is_another_one_only_of_what_it_is_said_of_and_a_number_of_anything():
    assert features("The Harland Bridge was painted in 1990.").year_conflict == 0
    assert features("Queen Ada opened it with twelve arches.").number_conflict > 0


def test_a_negation_is_no_word_that_is_missing():
    assert features("Queen Ada never opened it.").coverage == features("Queen Ada opened it.").coverage


def test_a_lower_cased_premise_gives_the_same_features():
    claim = "Harland Bridge was opened by Queen Ada in 1932."
    premise = "the harland bridge is a road bridge in norby . it was opened on 4 june 1932 by queen ada ."
    raised = "The Harland Bridge is a road bridge in Norby . It was opened on 4 June 1932 by Queen Ada ."
    assert features(claim, premise) == features(claim, raised)


def test_a_namesake_is_another_subject():
    found = features("Corwen Bridge was opened in 1935.")
    assert found.subject_missing == 0.5
    assert found.year_conflict == 0


def test_what_stands_elsewhere_in_the_premise_is_told_from_what_does_not():
    assert features("Fishing from it was not allowed in 1932.").numbers_elsewhere == 1
    assert features("Fishing from it was not allowed in 1931.").numbers_elsewhere == 0


@pytest.mark.parametrize("pair", [("", BRIDGE), ("It was opened.", ""), ("...", BRIDGE), ("\x00", "\ud800"), ("", "")])
def test_without_words_on_either_side_every_feature_is_zero(pair: tuple[str, str]):
    assert features(*pair) == Features()


@given(st.text(), st.text())
def test_any_pair_has_finite_features_between_0_and_1_but_for_the_lengths(claim: str, premise: str):
    for name, value in features(claim, premise)._asdict().items():
        assert math.isfinite(value)
        assert 0 <= value <= (math.inf if name.endswith("length") else 1 + 1e-9)
