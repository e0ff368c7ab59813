"""A claim's value in another's form: each kind, and what the words around it need."""

import pytest

from localfact.correcting.wording import Change, exchange, fit
from localfact.relations.values.clauses import read_values


@pytest.mark.parametrize(
    ("claim", "said", "corrected"),
    [
        ("The mill opened on 14 June 1879.", "It opened on June 3, 1876.", "The mill opened on 3 June 1876."),
        ("The mill opened on 14 June 1879.", "It opened in 1876.", "The mill opened in 1876."),
        ("The mill opened in 1879.", "It opened on 3 June 1876.", "The mill opened in 1876."),
        ("The mill opened on 1879-06-14.", "It opened on 3 May 1876.", "The mill opened on 1876-05-03."),
        ("The mill opened in Oct. 1879.", "It opened in June 1876.", "The mill opened in Jun. 1876."),
        ("The mill opened on June 14th, 1879.", "It opened on 2 June 1879.", "The mill opened on June 2nd, 1879."),
        ("The market is held on Saturdays.", "It is held on Sundays.", "The market is held on Sundays."),
        ("The town has 31,500 inhabitants.", "It has 23400 inhabitants.", "The town has 23,400 inhabitants."),
        ("The town has 31500 inhabitants.", "It has 23,400 inhabitants.", "The town has 23400 inhabitants."),
        ("She led four journeys.", "Six journeys were led by her.", "She led six journeys."),
        ("She led four journeys.", "She led 12 journeys.", "She led twelve journeys."),
        ("She led 4 journeys.", "She led twelve journeys.", "She led 12 journeys."),
        ("The fountain has three dolphins.", "It has one dolphin.", "The fountain has one dolphin."),
        ("It holds more than 40,000 plants.", "It holds about 28,000 plants.", "It holds about 28,000 plants."),
        ("It holds more than 40,000 plants.", "It holds 28,000 plants.", "It holds 28,000 plants."),
        ("It sold 2.4 million copies.", "It sold 3,100,000 copies.", "It sold 3.1 million copies."),
        ("The tower is 50 metres high.", "The tower is 135 feet high.", "The tower is 41.1 metres high."),
        ("The tower is 50 km away.", "The tower is 32 kilometres away.", "The tower is 32 km away."),
        ("It cost $35 in all.", "It cost $48 in all.", "It cost $48 in all."),
        (
            "It is the largest harbour there.",
            "It is the second largest harbour there.",
            "It is the second largest harbour there.",
        ),
        ("It was the third bridge.", "It was the 2nd bridge.", "It was the second bridge."),
        ("Her father was a fisherman.", "Her father was the engineer of the mill.", "Her father was an engineer."),
        ("Eight boats came home.", "Eleven boats came home.", "Eleven boats came home."),
    ],
)
def test_another_value_is_written_as_the_claim_writes_its_own(claim: str, said: str, corrected: str) -> None:
    (was,), (now,) = read_values(claim), read_values(said)
    assert exchange(claim, was, said, now).apply_to(claim) == corrected


def test_the_article_before_new_words_is_theirs() -> None:
    assert fit("She was an actor.", Change(11, 16, "singer")).apply_to("She was an actor.") == "She was a singer."
    assert fit("A union met.", Change(2, 7, "office")).apply_to("A union met.") == "An office met."
    assert fit("It is a farm.", Change(8, 12, "university")).apply_to("It is a farm.") == "It is a university."


def test_what_begins_a_sentence_has_a_capital() -> None:
    assert fit("Six came.", Change(0, 3, "seven")).apply_to("Six came.") == "Seven came."
