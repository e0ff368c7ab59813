"""Numbers and dates said less exactly: what agrees still agrees, and its twin does not."""

import random
import re

import pytest

from scripts.training.relation_model.agreements import Agreement, agreements, round_to
from scripts.training.relation_model.examples import CONTRADICTION, ENTAILMENT


def made(sentence: str) -> dict[str, list[Agreement]]:
    found: dict[str, list[Agreement]] = {}
    for seed in range(60):
        for group in agreements(sentence, random.Random(seed)):
            found.setdefault(group[0].kind, []).extend(group)
    return found


def test_a_rounded_number_is_near_the_number_and_its_twin_is_far() -> None:
    found = made("The town had 14,050 inhabitants.")["number rounded"]
    for one in found:
        (number,) = re.findall(r"[\d,]+\d", one.sentence)
        off = abs(int(number.replace(",", "")) - 14_050) / 14_050
        assert off < 0.06 if one.label == ENTAILMENT else off > 0.2
        if re.search("more than|over", one.sentence):
            assert int(number.replace(",", "")) < 14_050
    assert {one.label for one in found} == {ENTAILMENT, CONTRADICTION}


def test_a_date_is_said_by_month_or_year() -> None:
    found = made("The mill opened on May 4, 1991.")["date less exact"]
    right = {one.sentence for one in found if one.label == ENTAILMENT}
    assert right == {f"The mill opened in {said}." for said in ("May 1991", "1991", "early May 1991", "May of 1991")}
    wrong = {one.sentence for one in found if one.label == CONTRADICTION}
    assert not any("in May 1991" in sentence or "in 1991" in sentence for sentence in wrong)


def test_a_year_is_said_by_decade_century_or_bound() -> None:
    found = made("The mill opened in 1991, with one wheel.")["year less exact"]
    right = {one.sentence for one in found if one.label == ENTAILMENT}
    said = {f"The mill opened in the {period}, with one wheel." for period in ("1990s", "late 20th century")}
    assert said <= right
    for one in found:
        if bound := re.search(r"(before|after) (\d{4})", one.sentence):
            holds = int(bound[2]) > 1991 if bound[1] == "before" else int(bound[2]) < 1991
            assert holds is (one.label == ENTAILMENT)


def test_a_length_is_said_in_another_unit() -> None:
    found = made("The wall is 10 km long.")["other unit"]
    assert {one.sentence for one in found if one.label == ENTAILMENT} == {"The wall is about 6.2 miles long."}
    assert "The wall is 10 miles long." in {one.sentence for one in found if one.label == CONTRADICTION}


def test_spellings_change_and_nothing_else() -> None:
    assert {one.sentence for one in made("The colour is dull.")["other spelling"]} == {"The color is dull."}


@pytest.mark.parametrize(
    "sentence",
    [
        "The town had about 14,050 inhabitants.",
        "The town had more than 14,050 inhabitants.",
        "The wall is 6 miles (10 km) long.",
        "The mill was not built in 1991, but later.",
        "It stood there from 1991 to 1998.",
    ],
)
def test_what_is_a_bound_rounded_in_brackets_or_denied_is_left_alone(sentence: str) -> None:
    for group in made(sentence).values():
        assert not any("10" in one.sentence and "(about" in one.sentence for one in group)
        assert not any("about about" in one.sentence or "more than about" in one.sentence for one in group)
    if "not" in sentence or "inhabitants" in sentence:
        assert not made(sentence)


def test_rounding_keeps_so_many_digits() -> None:
    assert [round_to(value, 2) for value in (14_050, 0.0312, 97, 996)] == [14_000, pytest.approx(0.031), 97, 1_000]
