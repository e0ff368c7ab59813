"""Selecting windows of a premise: the promising ones are read, whole sentences, none too long, the same ones each time."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.errors import InputError
from localfact.records import Pair
from localfact.relations.lexical.statements import ParsedClaim, idf_table
from localfact.relations.window_selection import LongPremise, Run, TokenStarts, WindowSelection, best_runs

GREEK = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")
#: Of no claim below: 6 words each.
FILLER = [f"Filler sentence {word} tells nothing here." for word in GREEK]
CLAIM = "The harbour bridge of Velmora opened in 1934."
ANSWER = "Velmora's harbour bridge opened in 1934."


def word_starts(text: str) -> list[int]:
    return [word.start() for word in re.finditer(r"\S+", text)]


def premise_windows(text: str, claim: str, starts: TokenStarts, *, size: int, most: int | None) -> list[str]:
    return LongPremise(text, starts, size).windows(ParsedClaim(claim, idf_table()), most)


def read(sentences: list[str], claim: str, *, size: int, most: int | None) -> list[str]:
    return premise_windows(" ".join(sentences), claim, word_starts, size=size, most=most)


def test_a_premise_that_is_short_enough_is_read_as_it_is() -> None:
    assert premise_windows("  One two\n three. ", CLAIM, word_starts, size=3, most=1) == ["  One two\n three. "]
    assert premise_windows("", CLAIM, word_starts, size=1, most=1) == [""]


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
    expected = [" ".join(FILLER[:3]), " ".join(FILLER[3:6]), " ".join(FILLER[6:])]
    assert read(FILLER, CLAIM, size=18, most=3) == expected
    assert read(FILLER, CLAIM, size=18, most=None) == expected


def test_the_space_that_some_tokenizers_count_to_a_word_moves_no_window() -> None:
    def spaced(text: str) -> list[int]:
        return [max(0, start - 1) for start in word_starts(text)]

    text = " ".join([*FILLER[:3], ANSWER, *FILLER[3:]])
    for most in (1, 2, None):
        expected = premise_windows(text, CLAIM, word_starts, size=13, most=most)
        assert premise_windows(text, CLAIM, spaced, size=13, most=most) == expected


TEXTS = st.text(st.sampled_from("ab. \n北1"), max_size=80)


@given(TEXTS, TEXTS, st.integers(1, 12), st.integers(1, 4))
def test_windows_fit_are_few_and_are_of_the_premise(text: str, claim: str, size: int, most: int) -> None:
    windows = premise_windows(text, claim, word_starts, size=size, most=most)
    assert 1 <= len(windows) <= most
    assert all(len(word_starts(window)) <= size for window in windows)
    assert all(window in text for window in windows)


@given(TEXTS, st.integers(1, 12))
def test_without_a_limit_every_word_is_read(text: str, size: int) -> None:
    windows = premise_windows(text, "b", word_starts, size=size, most=None)
    assert "".join("".join(windows).split()) == "".join(text.split())


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


def selection(*, room: int = 40, size: int | None = 12, most: int | None = 1) -> WindowSelection:
    return WindowSelection(word_starts, room, size=size, most=most)


def test_a_pair_is_read_with_the_windows_picked_for_its_claim() -> None:
    text = " ".join([*FILLER[:5], ANSWER, *FILLER[5:]])
    assert [pair.hypothesis for pair in selection().windows(Pair(text, CLAIM))] == [CLAIM]
    assert ANSWER in selection().windows(Pair(text, CLAIM))[0].premise
    assert selection().windows(Pair(ANSWER, CLAIM)) == [Pair(ANSWER, CLAIM)]
    assert selection().fits(Pair(text, CLAIM))
    for most in (2, None):
        assert selection(most=most).fits(Pair(ANSWER, CLAIM))
        assert not selection(most=most).fits(Pair(text, CLAIM))


def test_windows_are_picked_for_each_piece_of_a_passage() -> None:
    other = "A lighthouse keeper lived on Skarn island."
    text = " ".join([ANSWER, *FILLER, other])
    passage = f"{CLAIM} Much has changed since then. Skarn island had a lighthouse keeper once. Much has changed since then."
    pairs = selection(size=14).windows(Pair(text, passage))
    assert " ".join(pair.hypothesis for pair in pairs) == passage
    assert len(pairs) == 2
    assert ANSWER in pairs[0].premise
    assert other in pairs[1].premise


def test_a_window_leaves_the_room_that_a_claim_needs() -> None:
    text = " ".join(FILLER)
    for pair in selection(room=20, size=18, most=None).windows(Pair(text, "Nine words are in this claim about a harbour.")):
        assert len(pair.premise.split()) + len(pair.hypothesis.split()) <= 20


def test_without_a_size_a_window_has_what_the_claim_leaves() -> None:
    text = " ".join([*FILLER, ANSWER])
    (pair,) = selection(room=32, size=None).windows(Pair(text, CLAIM))
    assert 32 - 6 < len(pair.premise.split()) + len(CLAIM.split()) <= 32
    assert ANSWER in pair.premise


@given(TEXTS, TEXTS, st.integers(2, 20), st.integers(1, 12), st.integers(1, 3))
def test_pairs_fit_the_room_and_every_piece_of_the_hypothesis_is_read(
    premise: str, hypothesis: str, room: int, size: int, most: int
) -> None:
    pairs = selection(room=room, size=size, most=most).windows(Pair(premise, hypothesis))
    assert all(len(word_starts(pair.premise)) + len(word_starts(pair.hypothesis)) <= room for pair in pairs)
    assert all(pair.hypothesis in hypothesis for pair in pairs)
    assert set("".join(pair.hypothesis for pair in pairs)) >= set("".join(hypothesis.split()))


def test_no_room_at_all_is_an_error() -> None:
    with pytest.raises(InputError, match="too few"):
        selection(room=1).windows(Pair("One.", "Two."))


def test_a_sentence_longer_than_a_window_is_read_in_parts() -> None:
    cut = LongPremise(" ".join(f"word{place}" for place in range(30)) + ".", word_starts, 10)
    assert cut.counts == [10, 10, 10]
    assert " ".join(cut.text_of(Run(place, place + 1)) for place in range(3)) == cut.text
