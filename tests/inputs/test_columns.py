"""Which columns nobody reads is told, and those that are read in some row are not among them."""

from localfact.api.data import read_data
from localfact.inputs.answers import PROMPT_KEYS

ROW = {"response": "The mill opened in 1911.", "topic": "the mill", "usage": {"calls": 1}}


def test_columns_that_no_row_reads_are_named_and_the_first_ten_of_many() -> None:
    found = read_data([{**ROW, "mood": "good", "claims": ["It opened in 1911."]}, {**ROW, "label": "x", "empty": ""}])
    assert found.warnings == ("Columns that were not read: mood, label.",)
    assert read_data([ROW, "Only a text."]).warnings == ()
    many = read_data([{**ROW, **{f"c{number:02}": number for number in range(14)}}], limit=1).warnings
    assert many[0].endswith("c08, c09 and 4 more.")


def test_of_two_columns_with_one_meaning_the_one_that_is_passed_over_is_named() -> None:
    found = read_data([{**ROW, PROMPT_KEYS[0]: "When?", PROMPT_KEYS[1]: "Where?"}])
    assert found.responses[0].prompt == "When?"
    assert found.warnings == (f"Columns that were not read: {PROMPT_KEYS[1]}.",)
