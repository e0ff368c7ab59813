import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.claims.rules.markdown import plain_text, whole_text
from localfact.records import Span


def plain(text: str) -> str:
    return plain_text(whole_text(text), Span(start=0, end=len(text))).text


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("- **Born**: 1990 - 1995.", "Born: 1990 - 1995."),
        ("1. He is an *actor*.", "He is an actor."),
        ("## The _early_ years", "The early years"),
        ("See `code` and **2*3*4** or 5*3.", "See code and 2*3*4 or 5*3."),
        ("M*A*S*H was **b**old, 2**3 was *not*.", "M*A*S*H was bold, 2**3 was not."),
        ("5 * 3 = 15 and snake_case_name", "5 * 3 = 15 and snake_case_name"),
        ("He called it [sic] a (fine) day", "He called it [sic] a (fine) day"),
        ("two\n  lines", "two lines"),
    ],
)
def test_markup_goes_and_text_stays(marked: str, expected: str) -> None:
    assert plain(marked) == expected


@given(st.text(st.sampled_from(list("ab 1.*_[](),^#-`\n😀")), min_size=1))
def test_every_character_knows_where_it_came_from(text: str) -> None:
    start = len(text) // 3
    result = plain_text(whole_text(text), Span(start=start, end=len(text)))
    assert list(result.offsets) == sorted(set(result.offsets))
    for character, offset in zip(result.text, result.offsets, strict=True):
        assert offset >= start
        assert text[offset] == character or (character == " " and text[offset].isspace())


def test_a_span_leads_back_over_the_markup() -> None:
    text = "Intro. He won **two** medals [1]."
    sentence = plain_text(whole_text(text), Span(start=7, end=len(text)))
    start = sentence.text.index("two")
    span = sentence.span(start, start + len("two medals"))
    assert text[span.start : span.end] == "two** medals"
