import json
from pathlib import Path

import pytest

from localfact.claims.rules.checkworthy import DropReason, drop_reason, left_unread, structural_reason


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("Is it true that she was born in Lyon?", DropReason.QUESTION),
        ("她出生在哪里？", DropReason.QUESTION),
        ("The main reasons include the following:", DropReason.INTRODUCTION),
        ("Very good.", DropReason.FRAGMENT),
        ("A quiet street near the old harbour", DropReason.FRAGMENT),
        ("The old tower, doi: 10.1000/182, is cited.", DropReason.REFERENCE),
        ("I hope this helps with the essay.", DropReason.TALK),
        ("Here are some facts about the bridge.", DropReason.TALK),
        ("As an AI, it has no memory of that.", DropReason.TALK),
        ("In my view, it was the best of them.", DropReason.TALK),
        ("Ensure that the lid is closed.", DropReason.ADVICE),
        ("Data quality: Keep the records clean.", DropReason.ADVICE),
        ("To save time, use the second door.", DropReason.ADVICE),
        ("Visitors should book a month ahead.", DropReason.ADVICE),
        ("If the lid sticks, you can push it.", DropReason.ADVICE),
        ("It is important to wash the rice.", DropReason.ADVICE),
        ("Perhaps the king never saw it.", DropReason.SPECULATION),
        ("It is unclear when the tower was built.", DropReason.SPECULATION),
        ("The ring may have been a gift.", DropReason.SPECULATION),
        ("Her singing is truly unforgettable for everyone.", DropReason.OPINION),
        ("What a city!", DropReason.OPINION),
    ],
)
def test_a_sentence_that_states_nothing_checkable_is_dropped_by_reason(sentence: str, reason: DropReason) -> None:
    assert drop_reason(sentence) is reason


@pytest.mark.parametrize(
    "sentence",
    [
        "Ada Morel was born in Lyon in 1950.",
        'He said "I apologize, I cannot help you" to the court in 1999.',
        'Her best-known poem is "Should You Ask Me?"',
        "The film Perhaps You Know Me opened in 1960.",
        "World War I began in 1914.",
        "My Fair Lady is a musical from 1956.",
        "Use of force was banned in 1928.",
        "Visit Norway was founded in 1999.",
        "The beautiful palace in Lyon was built in 1750.",
        "The court ruled that the state should pay the costs.",
    ],
)
def test_a_checkable_sentence_is_kept_whatever_words_it_quotes(sentence: str) -> None:
    assert drop_reason(sentence) is None


def test_naming_the_topic_does_not_make_an_opinion_checkable() -> None:
    assert drop_reason("All agree that Ada Morel was truly brilliant.", topic="Ada Morel") is DropReason.OPINION
    assert drop_reason("All agree that Ada Morel was truly brilliant.", topic="Bo Day") is None


def test_a_topic_that_is_an_imperative_gives_no_advice() -> None:
    assert drop_reason("Focus at first played covers in Bonn.", topic="Focus") is None
    assert drop_reason("Focus at first on the breath.") is DropReason.ADVICE


def test_words_of_english_do_not_judge_another_language() -> None:
    assert drop_reason("Use der Vater, you und ich.", english=False) is None


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("## Early life", DropReason.HEADING),
        ("**Early life**:", DropReason.HEADING),
        ("- **Early life:**", DropReason.HEADING),
        ("| a | b |", DropReason.TABLE),
        ("---", DropReason.NO_WORDS),
        ("**Ada** was born in Lyon.", None),
    ],
)
def test_markdown_structure_is_no_prose(sentence: str, reason: DropReason | None) -> None:
    assert structural_reason(sentence) is reason


def test_most_checkworthy_sentences_of_factcheck_gpt_are_kept(shared: Path) -> None:
    """96 % of the sentences worth checking are kept, 41 % of the others dropped; the rules were written with these in view."""
    lines = (shared / "data/factcheck_gpt/subtask1_sentence_checkworthiness.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    kept = {True: [0, 0], False: [0, 0]}
    for row in rows:
        counts = kept[row["checkworthy"] == "yes"]
        counts[0] += drop_reason(row["sentence"]) is None
        counts[1] += 1
    assert kept[True][0] / kept[True][1] > 0.94
    assert kept[False][0] / kept[False][1] < 0.65


@pytest.mark.parametrize(
    "sentence",
    [
        "Fame came late.",
        "The move was highly controversial.",
        "Reactions to the show were mixed.",
        "It was not easy.",
        "It was a success.",
    ],
)
def test_what_could_be_said_of_anybody_is_no_claim(sentence: str) -> None:
    assert drop_reason(sentence) is DropReason.OPINION


@pytest.mark.parametrize(
    "sentence",
    [
        "Fame came to Morel in 1990.",
        "The work was published by a friend.",
        "The choice of Paris was controversial.",
        "Volcanoes emit lava.",
    ],
)
def test_a_plain_statement_is_a_claim(sentence: str) -> None:
    assert drop_reason(sentence) is None


def test_a_text_of_which_nothing_was_read_did_not_abstain() -> None:
    assert left_unread({"table row": 3, "opinion": 1}) == (
        "Nothing of a response could be read as a claim (table row: 3): it is unscored, it did not abstain.",
    )
    assert left_unread({"opinion": 1, "question": 2}) == left_unread({"abstention": 1, "fragment": 1}) == ()
