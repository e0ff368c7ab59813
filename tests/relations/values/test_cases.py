"""Hard cases of values by kind, written before what reads them; of the first two hundred a third was kept unread meanwhile."""

import json
from collections import Counter
from pathlib import Path

import pytest

from localfact.relations.values.judging import Ruling, judge_values

CASES = [json.loads(line) for line in Path(__file__).with_name("cases.jsonl").read_text(encoding="utf-8").splitlines()]
RULINGS = {
    "entailment": {Ruling.SAME},
    "contradiction": {Ruling.OTHER},
    "neutral": {Ruling.NOTHING},
}


def is_right(case: dict[str, str]) -> bool:
    return judge_values(case["premise"], case["claim"]).ruling in RULINGS[case["relation"]]


@pytest.mark.parametrize(("part", "least"), [("open", 0.95), ("kept", 0.85), ("slots", 0.95)])
def test_of_each_part_most_cases_are_right(part: str, least: float) -> None:
    right = [is_right(case) for case in CASES if case["part"] == part]
    assert sum(right) >= least * len(right)


def test_of_each_kind_most_cases_are_right() -> None:
    right = Counter(case["kind"] for case in CASES if is_right(case))
    for kind, cases in Counter(case["kind"] for case in CASES).items():
        assert right[kind] >= 0.7 * cases, kind


def test_no_true_case_is_taken_for_another_value_but_one_in_fifty() -> None:
    true = [case for case in CASES if case["relation"] == "entailment"]
    denied = [case for case in true if judge_values(case["premise"], case["claim"]).ruling is Ruling.OTHER]
    assert len(denied) <= len(true) / 50, denied


def test_a_time_or_place_in_front_of_a_subject_is_no_part_of_it() -> None:
    dinner = "In June 1902, at a dinner in the Weavers' Hall, Mayor Oskar Brandt gave Helene Rud the keys of Torsk."
    assert judge_values(dinner, "Oskar Brandt gave Helene Rud the keys of Torsk in June 1904.").ruling is Ruling.OTHER
    assert (
        judge_values(dinner, "Mayor Anton Lie gave Helene Rud the keys of Torsk at the Weavers' Hall.").ruling is Ruling.OTHER
    )


@pytest.mark.parametrize(
    ("text", "claim", "ruling"),
    [
        ("Port Averley was founded in 1612.", "The old harbour town of Port Averley was founded in 1642.", Ruling.OTHER),
        ("The Danish painter Lettice Crane was born in 1901.", "Lettice Crane was born in 1911.", Ruling.OTHER),
        ("The opera Carmen was first shown in 1875.", "The film Carmen was first shown in 1915.", Ruling.NOTHING),
        ("The mayor of Lervika died in 1902.", "Lervika died in 1904.", Ruling.NOTHING),
        ("Anders Aas beat Peter Lund.", "The chess master Peter Lund beat Anders Aas.", Ruling.OTHER),
        ("Crane lived in Torsk. Peter Aas built the dam of Vik.", "The engineer Crane built the dam of Vik.", Ruling.OTHER),
        ("Peter Lund and Lettice Crane married in 1902.", "Peter Lund married in 1902.", Ruling.SAME),
        ("Lund and Crane shared the prize in 1945.", "Crane shared the prize in 1947.", Ruling.OTHER),
        ("Peter Lund and the painter Lettice Crane met in 1902.", "Peter Lund met in 1904.", Ruling.OTHER),
    ],
)
def test_what_describes_a_name_and_who_stands_beside_it_make_no_other_subject(text: str, claim: str, ruling: Ruling) -> None:
    assert judge_values(text, claim).ruling is ruling


def test_what_a_page_says_a_name_is_makes_its_other_value_no_weaker() -> None:
    page = "The old Danish harbour town of Port Averley was founded in 1612."
    assert judge_values(page, "Port Averley was founded in 1642.").strength == 1
