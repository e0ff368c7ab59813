"""Selecting windows of a source: the promising ones are read, whole sentences, none too long, the same ones each time."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.citations.long_sources import LongSource, Run, best_runs
from localfact.relations.lexical.statements import ParsedClaim, idf_table

GREEK = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")
#: Of no claim below: 6 words each.
FILLER = [f"Filler sentence {word} tells nothing here." for word in GREEK]
CLAIM = "The harbour bridge of Velmora opened in 1934."
ANSWER = "Velmora's harbour bridge opened in 1934."


def windows_of(text: str, claim: str, *, size: int, most: int) -> list[str]:
    spans = LongSource(text, size).windows(ParsedClaim(claim, idf_table()), most)
    return [text[span.start : span.end] for span in spans]


def read(sentences: list[str], claim: str, *, size: int, most: int) -> list[str]:
    return windows_of(" ".join(sentences), claim, size=size, most=most)


def test_a_source_that_is_short_enough_is_read_as_it_is() -> None:
    assert windows_of("  One two\n three. ", CLAIM, size=3, most=1) == ["  One two\n three. "]
    assert windows_of("", CLAIM, size=1, most=1) == [""]


@pytest.mark.parametrize("place", range(len(FILLER) + 1))
def test_the_sentence_that_shares_the_claims_words_is_read_wherever_it_stands(place: int) -> None:
    (window,) = read([*FILLER[:place], ANSWER, *FILLER[place:]], CLAIM, size=12, most=1)
    assert ANSWER in window


def test_a_window_begins_where_it_holds_most_and_two_sentences_of_an_answer_stay_together() -> None:
    halves = ["Velmora has a harbour bridge.", "It opened to traffic in 1934."]
    for place in range(len(FILLER) + 1):
        (window,) = read([*FILLER[:place], *halves, *FILLER[place:]], CLAIM, size=12, most=1)
        assert " ".join(halves) in window


def test_of_equally_promising_windows_the_one_with_most_text_before_the_answer_is_read() -> None:
    assert read([*FILLER[:3], ANSWER, *FILLER[3:]], CLAIM, size=18, most=1) == [" ".join([*FILLER[1:3], ANSWER])]


def test_a_year_of_the_claim_counts_more_than_a_rare_word_of_it() -> None:
    sentences = ["Velmora again.", *FILLER[:4], "It was 1887.", *FILLER[4:]]
    assert read(sentences, "Velmora, 1887.", size=6, most=1) == ["It was 1887."]


@pytest.mark.parametrize(
    ("claim", "decides"),
    [
        ("In the Velmora flood 300 people died.", "The Velmora flood, of which 140 people died."),
        ("A third of the people died in the Velmora flood.", "Of the Velmora flood a fifth of the people died."),
    ],
)
def test_the_sentence_with_another_value_of_the_claims_kind_is_read(claim: str, decides: str) -> None:
    spread = ["The Velmora flood came late.", "Its people had long slept.", "Few thought that anyone had died."]
    (window,) = read([*spread, *FILLER, decides, *FILLER], claim, size=16, most=1)
    assert decides in window


def test_more_windows_are_the_next_best_of_what_is_left_and_come_in_the_order_of_the_text() -> None:
    second = "A bridge in the harbour is old."
    sentences = [*FILLER[:2], second, *FILLER[2:5], ANSWER, *FILLER[5:]]
    assert read(sentences, CLAIM, size=7, most=1) == [ANSWER]
    assert read(sentences, CLAIM, size=7, most=2) == [second, ANSWER]


def test_without_a_word_in_common_the_beginning_is_read() -> None:
    assert read(FILLER, "Quite unlike.", size=12, most=1) == [" ".join(FILLER[:2])]


def test_all_is_read_one_behind_the_other_where_so_many_windows_hold_it() -> None:
    assert read(FILLER, CLAIM, size=18, most=3) == [" ".join(FILLER[:3]), " ".join(FILLER[3:6]), " ".join(FILLER[6:])]


TEXTS = st.text(st.sampled_from("ab. \n北1"), max_size=80)


@given(TEXTS, TEXTS, st.integers(1, 12), st.integers(1, 4))
def test_windows_fit_are_few_and_are_of_the_source(text: str, claim: str, size: int, most: int) -> None:
    windows = windows_of(text, claim, size=size, most=most)
    assert 1 <= len(windows) <= most
    assert all(len(window.split()) <= size for window in windows)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=20), st.integers(9, 30), st.integers(1, 5))
def test_runs_are_apart_in_order_and_no_longer_than_allowed(counts: list[int], limit: int, most: int) -> None:
    worth = [place * 7 % 5 for place in range(len(counts))]
    runs = best_runs(counts, lambda begin, end: sum(worth[begin:end]), most, limit)
    assert 1 <= len(runs) <= most
    assert all(left.end <= right.begin for left, right in pairwise(runs))
    assert all(run.begin < run.end and sum(counts[run.begin : run.end]) <= limit for run in runs)


def test_a_second_run_may_be_a_rest_beside_the_first() -> None:
    worth = [0, 3, 5, 4, 0, 0, 0, 0, 0]
    runs = best_runs([1] * 9, lambda begin, end: sum(worth[begin:end]), 2, 2)
    assert runs == [Run(0, 2), Run(2, 4)]


def test_a_sentence_longer_than_a_window_is_read_in_parts() -> None:
    text = " ".join(f"word{place}" for place in range(30)) + "."
    assert " ".join(read([text], CLAIM, size=10, most=3)) == text
    assert len(read([text], CLAIM, size=10, most=3)) == 3
