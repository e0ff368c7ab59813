import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.claims.rules.lists import names_something, sentence_of
from localfact.claims.rules.markdown import PlainText, plain_text, whole_text
from localfact.records import Span


def line(text: str) -> PlainText:
    return plain_text(whole_text(text), Span(start=0, end=len(text)))


def completed(text: str, subject: str | None = "Ada Morel", *, item: bool = True) -> str:
    return sentence_of(line(text), subject, item=item).text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Born: May 4, 1950", "Ada Morel was born on May 4, 1950"),
        ("Date of birth: 1950", "Ada Morel was born in 1950"),
        ("Died: 1990, Paris", "Ada Morel died in 1990, Paris"),
        ("Known for: her work on osmium", "Ada Morel is known for her work on osmium"),
        ("Directed by: Joe Bell", "Ada Morel was directed by Joe Bell"),
        ("Occupation: chemist and poet", "The occupation of Ada Morel is chemist and poet"),
        ("Songs: Red Sky, The Boat", "The songs of Ada Morel are Red Sky, The Boat"),
        ("1990: Awarded the Osmium Prize", "In 1990, Ada Morel was awarded the Osmium Prize"),
        ("May 1990 - Became a member of the academy", "In May 1990, Ada Morel became a member of the academy"),
        ("Sold by her heirs to the town", "Ada Morel was sold by her heirs to the town"),
        ("Won the Osmium Prize in 1990", "Ada Morel won the Osmium Prize in 1990"),
        ("Named after a river in France", "Ada Morel was named after a river in France"),
    ],
)
def test_what_a_line_leaves_out_is_its_subject(text: str, expected: str) -> None:
    assert completed(text) == expected
    assert completed(text, None) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Morel Tower: Built in 1889 by the town", "Morel Tower was built in 1889 by the town"),
        ("Morel Tower: It holds a bell", "Morel Tower holds a bell"),
        ("Gradient: Determines the strength of the answer", "Gradient determines the strength of the answer"),
        ("Duolingo - a free app that offers lessons", "Duolingo is a free app that offers lessons"),
        ("Reader: A program that reads and writes files", "Reader is a program that reads and writes files"),
        ("Morel Tower: a tower built in 1889", "Morel Tower is a tower built in 1889"),
        ("Early life: She was born in Lyon", "She was born in Lyon"),
        ("Answer: The bridge was built in 1900.", "The bridge was built in 1900."),
        ("Osmium: Osmium is a metal", "Osmium is a metal"),
    ],
)
def test_a_label_is_the_subject_or_goes(text: str, expected: str) -> None:
    assert completed(text, None) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Thermal Management: Prepared for the race in the heat",  # who did?
        "Immutability: Records cannot be altered.",  # without its label it says another thing
        "Storage: Keep it cool",  # advice
        "Morel Tower: The tower that fell was known as Bell",  # a sentence behind the colon
        "Laki: the famine that came after it killed many",
        "Sales: N/A",
        "She had one aim: the prize",
        "Develop a plan for the future",
        "Built in 1889, the tower is high",
        "First, Second, and Third: Lyon",
        "Limited coverage is a risk",
    ],
)
def test_a_line_that_no_rule_is_sure_of_stays(text: str) -> None:
    assert completed(text) == text


def test_one_word_is_a_side_of_a_known_topic() -> None:
    assert completed("Conservation: It is rare in the wild.", "axolotl") == "It is rare in the wild."
    assert completed("Healing: Axolotls can grow new limbs.", "axolotl") == "Axolotls can grow new limbs."


def test_only_an_item_has_its_label_before_a_dash_and_its_verb_first() -> None:
    for text in ("Duolingo - a free app that offers lessons", "Won the Osmium Prize in 1990"):
        assert completed(text, item=False) == text
    assert completed("Born: May 4, 1950", item=False) == "Ada Morel was born on May 4, 1950"


@pytest.mark.parametrize("heading", ["Morel Tower", "Osmium", "Ada Morel (chemist)"])
def test_a_heading_may_name_what_is_spoken_of(heading: str) -> None:
    assert names_something(heading)


@pytest.mark.parametrize(
    "heading", ["Early life", "Key facts", "Awards and honors", "What is osmium?", "osmium", "", "A b c d e f g"]
)
def test_a_heading_may_be_a_side_of_it(heading: str) -> None:
    assert not names_something(heading)


@given(st.text(st.sampled_from(list('AaIt isdBorn:-–.,|1950"()éthe ')), min_size=1, max_size=60), st.booleans())
def test_every_character_keeps_a_place_in_the_line(text: str, item: bool) -> None:
    plain = line(text)
    if not plain.text:
        return
    found = sentence_of(plain, "Ada Morel", item=item)
    assert len(found.text) == len(found.offsets) > 0
    assert list(found.offsets) == sorted(found.offsets)
    assert set(found.offsets) <= set(plain.offsets)
