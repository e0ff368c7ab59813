"""What is measured of picked windows: whether supporting sentences are in them, and how good the verdicts on them are."""

import re

import pytest

from localfact.relations.lexical.statements import ParsedClaim
from localfact.relations.window_selection import LongPremise, idf_table
from scripts.training.measure_windows import (
    ANYWHERE,
    FIRST,
    TILES,
    VECTORS,
    Found,
    Supported,
    best_sentences,
    found_in,
    quality,
    shuffled,
    windows_by,
)

TEXT = "One two three. Glass is made in Velmora. Four five six. Seven eight nine. The glass dates from 1887. Ten eleven twelve."
CLAIM = "Velmora made glass in 1887."


def word_starts(text: str) -> list[int]:
    return [word.start() for word in re.finditer(r"\S+", text)]


def cut(size: int) -> LongPremise:
    return LongPremise(TEXT, word_starts, size, 0)


def windows(way: str, size: int, most: int, *, similar_to: str = "") -> list[str]:
    return windows_by(way, cut(size), ParsedClaim(CLAIM, idf_table()), most, lambda text: float(text == similar_to))


@pytest.mark.parametrize(
    ("shown", "found"),
    [
        (["A. B. C."], Found(1, 1, 1)),
        (["A. C.", "B."], Found(1, 1, 0)),
        (["B. C."], Found(1, 0, 0)),
        (["C."], Found(0, 0, 0)),
        (["C. D."], Found(1, 1, 1)),
    ],
)
def test_supporting_sentences_are_found_in_some_in_all_or_in_one_window(shown: list[str], found: Found) -> None:
    assert found_in(Supported("claim", "A. B. C. D.", (("A.", "B."), ("D.",))), shown) == found


def test_without_a_set_of_sentences_nothing_is_found() -> None:
    assert found_in(Supported("claim", "A.", ()), ["A."]) == Found(0, 0, 0)


def test_ways_differ_in_where_windows_lie() -> None:
    assert windows(FIRST, 6, 1) == ["One two three."]
    assert windows(TILES, 8, 1) == ["The glass dates from 1887. Ten eleven twelve."]
    assert windows(ANYWHERE, 8, 1) == ["Seven eight nine. The glass dates from 1887."]
    assert windows(ANYWHERE, 8, 2) == [
        "One two three. Glass is made in Velmora.",
        "Seven eight nine. The glass dates from 1887.",
    ]


def test_a_window_with_a_sentence_like_the_claim_is_more_promising() -> None:
    assert windows(VECTORS, 5, 1) == windows(ANYWHERE, 5, 1) == ["The glass dates from 1887."]
    assert windows(VECTORS, 5, 1, similar_to="Glass is made in Velmora.") == ["Glass is made in Velmora."]


def test_sentences_from_all_over_stand_in_one_window_that_is_not_overfull() -> None:
    claim = ParsedClaim(CLAIM, idf_table())
    assert best_sentences(cut(10), claim) == "Glass is made in Velmora. … The glass dates from 1887."
    assert best_sentences(cut(9), claim) == "The glass dates from 1887."
    assert best_sentences(cut(6), ParsedClaim("Quite unlike.", idf_table())) == "One two three."


def test_quality_is_the_share_of_right_labels_and_f1_averaged_over_those_that_occur() -> None:
    assert quality(["a", "a", "b", "c"], ["a", "b", "b", "b"]) == {
        "accuracy": pytest.approx(0.5),
        "macro_f1": pytest.approx((2 / 3 + 0.5) / 2),
    }


def test_rows_are_shuffled_the_same_way_from_any_order() -> None:
    rows = [Supported(f"claim {number}", "", ()) for number in range(9)]
    assert shuffled(rows[::-1]) == shuffled([*rows, rows[0]])
    assert sorted(shuffled(rows)) == rows
    assert shuffled(rows) != rows
