"""Tokens of two texts are marked by whether the other text has them."""

from scripts.teaching.match_types import HYPOTHESIS as H
from scripts.teaching.match_types import NEW_IN_HYPOTHESIS as NEW
from scripts.teaching.match_types import PREMISE as P
from scripts.teaching.match_types import SHARED_IN_PREMISE as SHARED
from scripts.teaching.match_types import match_types


def test_a_token_is_marked_by_whether_the_other_text_has_it_and_the_tokenizers_own_never() -> None:
    ids = [101, 7, 8, 9, 102, 8, 5, 9, 102]
    types = [P, P, P, P, P, H, H, H, H]
    assert match_types(ids, types, frozenset({101, 102})) == [P, P, SHARED, SHARED, P, H, NEW, H, H]


def test_texts_that_are_equal_and_texts_that_share_nothing() -> None:
    assert match_types([1, 2, 1, 2], [P, P, H, H], frozenset()) == [SHARED, SHARED, H, H]
    assert match_types([1, 2, 3], [P, P, H], frozenset()) == [P, P, NEW]
    assert match_types([], [], frozenset()) == []
