"""Which claims of a text are compared with one another."""

import pytest

from localfact.coherence.choosing import PARTNERS, choose_pairs
from localfact.coherence.slots import compare_slots
from localfact.records import Claim, Span


def claims(*texts: str) -> list[Claim]:
    return [Claim(id=f"c{place}", text=text) for place, text in enumerate(texts)]


def test_claims_of_one_slot_are_compared_and_others_are_not() -> None:
    found = choose_pairs(
        claims("The Moss Bridge opened in 1931.", "Salt dissolves in water.", "The Moss Bridge was opened in 1935.")
    )
    assert found.pairs == ((0, 2),)
    assert found.left_out == 0


def test_pairs_grow_with_the_claims_and_not_with_their_square() -> None:
    many = claims(*(f"The Moss Bridge carried {number} trains in {1900 + number}." for number in range(60)))
    found = choose_pairs(many)
    assert len(found.pairs) <= PARTNERS * len(many)
    assert len(found.pairs) + found.left_out == 60 * 59 // 2


def test_what_one_sentence_lists_is_not_compared() -> None:
    text = "The town burned in 1837 and 1857."
    listed = [
        Claim(id="a", text="The town burned in 1837.", spans=(Span(start=0, end=23),)),
        Claim(id="b", text="The town burned in 1857.", spans=(Span(start=28, end=32),)),
    ]
    assert choose_pairs(listed, text).pairs == ()
    assert choose_pairs(listed, text.replace(" and ", ". ... ")).pairs == ((0, 1),)


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("The Moss Bridge opened in 1931.", "The Moss Bridge opened in 1935.", "“1931” against “1935”"),
        ("Ada Holm was born in Oslo.", "Ada Holm was born in Bergen.", None),
        ("The tower is 120 metres high.", "The tower is 90 metres high.", "“120 metres” against “90 metres”"),
    ],
)
def test_two_values_in_one_slot_are_found_with_their_places(one: str, other: str, reason: str | None) -> None:
    found = compare_slots(one, other)
    assert found.may_differ
    assert reason is None or found.reason == reason


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada Holm won the Lind Prize in 1903.", "Ada Holm won the Lind Prize in 1911."),
        ("Its customers include the city of Oslo.", "Its customers include the city of Bergen."),
        ("The Moss Bridge opened in 1931.", "The Lind Bridge opened in 1935."),
        ("Ada Holm was born in 1901.", "Her father was born in 1870."),
        ("Ada Holm's first husband was Ivar Dahl.", "Ada Holm's second husband was Peter Moe."),
    ],
)
def test_what_may_both_be_true_is_no_conflict_of_values(one: str, other: str) -> None:
    assert not compare_slots(one, other).sure
