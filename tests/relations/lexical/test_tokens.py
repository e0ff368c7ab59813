"""How a text is taken apart into tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.relations.lexical.tokens import LONGEST_WORD, stem, tokens


def stems(text: str) -> list[str]:
    return [token.stem for token in tokens(text)]


def test_inflected_forms_of_a_word_share_a_stem():
    assert stem("directed") == stem("directing") == stem("directs") == stem("direct")
    assert stem("cities") == stem("city")
    assert stem("planned") == stem("planning") == stem("plan")
    assert stem("bus") == "bus"


def test_a_number_is_compared_by_its_value():
    assert stems("1,250,000 seats") == stems("1250000 seats")
    assert stems("twelve seats") == stems("12 seats")
    assert stems("3.5 km") != stems("35 km")


def test_kinds_of_details_are_told_apart():
    year, number, month, name, word = tokens("1867 42 July Warsaw town")
    assert (year.year, number.number, month.month, name.name) == (True, True, True, True)
    assert not any(word[1:])
    assert not year.number
    assert not number.year


def test_months_are_known_in_lower_case_unless_they_are_words():
    assert tokens("july")[0].month
    assert not tokens("may")[0].month
    assert tokens("May")[0].month


@pytest.mark.parametrize("text", ["was not", "wasn't", "wasn’t", "was never", "without"])
def test_negations_are_seen(text: str):
    assert tokens(text)[-1].negation


def test_a_possessive_is_the_same_word():
    assert stems("Curie's") == stems("Curie’s") == stems("Curie")


def test_text_without_spaces_is_read_in_overlapping_pairs():
    assert stems("東京都") == ["東京", "京都"]
    assert stems("水") == ["水"]
    assert stems("JR東京") == ["jr", "東京"]


def test_an_endless_word_is_cut():
    assert len(stems("x" * 10_000)[0]) <= LONGEST_WORD


@given(st.text())
def test_any_text_can_be_read_and_gives_no_empty_stem(text: str):
    assert all(token.stem for token in tokens(text))
