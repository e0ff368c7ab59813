import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.errors import InputError
from localfact.records import Assessment
from localfact.scoring.pairing import Identity, pair, pair_runs


def row(given: str | None = None, prompt: str | None = None, text: str = "") -> Identity:
    return Identity(given, prompt, text)


def test_given_ids_pair_rows_of_another_order() -> None:
    first = [row("a", "P", "x"), row("b", "Q", "y")]
    pairing = pair(first, first[::-1])
    assert pairing.pairs == [(0, 1), (1, 0)]
    assert (pairing.found_by, pairing.left) == ({"id": 2}, ({}, {}))


def test_without_ids_a_prompt_that_stands_once_on_each_side_pairs_the_answers_of_two_models() -> None:
    pairing = pair([row(None, "P", "x"), row(None, "Q", "y")], [row(None, "Q", "other"), row("own", "P", "another")])
    assert pairing.pairs == [(0, 1), (1, 0)]
    assert pairing.found_by == {"prompt": 2}


def test_answers_to_a_repeated_prompt_pair_by_their_text_too_and_else_are_ambiguous() -> None:
    first = [row(None, "P", "x"), row(None, "P", "y"), row(None, "P", "z")]
    pairing = pair(first, [row(None, "P", "y"), row(None, "P", "x"), row(None, "P", "another")])
    assert pairing.pairs == [(0, 1), (1, 0)]
    assert pairing.found_by == {"prompt and text": 2}
    assert pairing.left == ({"ambiguous": 1}, {"ambiguous": 1})


def test_one_id_over_two_prompts_is_refused_and_pairs_with_nothing_else() -> None:
    pairing = pair([row("a", "P", "x")], [row("a", "Q", "x")])
    assert (pairing.pairs, pairing.left[0]) == ([], {"another prompt under the same id": 1})


def test_where_one_side_has_no_prompts_equal_texts_are_a_pair_and_an_id_alone_is_not_enough() -> None:
    assert pair([row("a", "P", "x"), row(None, "Q", "y")], [row("a", None, "x"), row(None, None, "y")]).pairs == [
        (0, 0),
        (1, 1),
    ]
    assert pair([row("a", "P", "x")], [row("a", None, "y")]).pairs == []


def test_texts_that_repeat_without_a_prompt_are_ambiguous_and_rows_with_nothing_in_them_are_not() -> None:
    assert pair([row(text="x"), row(text="x")], [row(text="x"), row(text="x")]).left[0] == {"ambiguous": 2}
    assert pair([row(), row()], [row(), row()]).left == ({}, {})


def assessment(index: int, name: str, *, given: bool, prompt: str | None, text: str) -> Assessment:
    return Assessment(index=index, response_id=name, id_given=given, prompt=prompt, text=text, status="unscored")


def test_counted_rows_of_another_order_are_never_paired_by_their_number() -> None:
    first = [assessment(at, f"row-{at + 1}", given=False, prompt=None, text=text) for at, text in enumerate("xyz")]
    second = [assessment(at, f"row-{at + 1}", given=False, prompt=None, text=text) for at, text in enumerate("zxy")]
    pairs, found_by = pair_runs(first, second)
    assert [(one.text, other.text) for one, other in pairs] == [("x", "x"), ("y", "y"), ("z", "z")]
    assert found_by == {"text": 3} or found_by == {"prompt and text": 3}


def test_what_has_no_certain_partner_is_refused_with_its_number() -> None:
    first = [assessment(at, f"row-{at + 1}", given=False, prompt="P", text=text) for at, text in enumerate("xy")]
    second = [assessment(at, f"row-{at + 1}", given=False, prompt="P", text=text) for at, text in enumerate("xz")]
    with pytest.raises(InputError, match=r"of 2 and 2, 1 belong together for certain \(1 ambiguous\)"):
        pair_runs(first, second)


@pytest.mark.parametrize("given", ["a", None])
def test_white_space_and_the_spelling_of_a_letter_make_no_other_prompt(given: str | None) -> None:
    first, second = row(given, "A  caf\u00e9?\n", "x\u00a0y"), row(given, "A cafe\u0301?", "x y")
    assert pair([first], [second]).pairs == [(0, 0)]
    assert pair([row(text="caf\u00e9 ")], [row(text="cafe\u0301")]).pairs == [(0, 0)]
    assert pair([row(given, "A", "x")], [row(given, "a", "x")]).pairs == []


def test_prompts_of_white_space_alone_are_none() -> None:
    assert pair([row(None, " ", "x")], [row(None, "", "y")]).pairs == []


SPELLINGS = (
    str,
    lambda text: f"{text}\n",
    lambda text: text.replace(" ", "  "),
    lambda text: unicodedata.normalize("NFD", text),
)


@given(st.data(), st.integers(1, 8), st.booleans())
def test_rows_in_any_order_with_ids_lost_and_prompts_spelled_otherwise_find_their_partner(
    data: st.DataObject, count: int, repeated: bool
) -> None:
    sides = []
    for _ in range(2):
        order = data.draw(st.permutations(range(count)))
        prompts = [data.draw(st.sampled_from(SPELLINGS))(f"Caf\u00e9 {at // 2 if repeated else at}?") for at in order]
        ids = [data.draw(st.sampled_from((None, f"id {at}"))) for at in order]
        rows = [row(name, prompt, f"text {at}") for name, prompt, at in zip(ids, prompts, order, strict=True)]
        sides.append((order, rows))
    (first, ours), (second, theirs) = sides
    assert {(first[one], second[other]) for one, other in pair(ours, theirs).pairs} == {(at, at) for at in range(count)}
