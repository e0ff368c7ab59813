"""Negations, denials, questions and marks of notes as word overlap reads them: what the shared words then say."""

import asyncio

import pytest

from localfact.records import Distribution, Pair
from localfact.relations.lexical.model import LexicalRelationModel
from localfact.vocabulary import RelationLabel

OPENED = "The Harland Bridge opened in 1931."
MARRIED = "Anna Lund married Erik Berg."


def relate(claim: str, premise: str) -> Distribution:
    [said] = asyncio.run(LexicalRelationModel().relate([Pair(premise, claim)]))
    assert isinstance(said, Distribution)
    return said


@pytest.mark.parametrize(
    ("claim", "premise"),
    [
        (OPENED, "The Harland Bridge did not open in 1931."),
        (OPENED, "The Harland Bridge didn't officially open in 1931."),
        (OPENED, "The Harland Bridge did not open in 1931 but in 1935."),
        (OPENED, "It is a myth that the Harland Bridge opened in 1931."),
        (OPENED, "That the Harland Bridge opened in 1931 is a common misconception."),
        (OPENED, "The claim that the Harland Bridge opened in 1931 is false."),
        (OPENED, "The city denied that the Harland Bridge opened in 1931."),
        (MARRIED, "Anna Lund never married Erik Berg."),
        ("The Harland Bridge is not a road bridge.", "The Harland Bridge is a road bridge in Norby."),
        ("Anna Lund never married.", "Anna Lund married Erik Berg in 1931."),
        ("Anna Lund never married.", "She married the engraver Even Tangen in 1912. Anna Lund lived in Norby."),
    ],
)
def test_a_text_that_denies_what_the_other_says_contradicts_it(claim: str, premise: str):
    assert relate(claim, premise).label is RelationLabel.CONTRADICTION


@pytest.mark.parametrize(
    ("claim", "premise"),
    [
        (OPENED, "The Harland Bridge did not open until 1931."),
        (OPENED, "The Harland Bridge not only opened in 1931 but also closed that year."),
        (OPENED, "No. 5 of the list is the Harland Bridge, which opened in 1931."),
        ("The mill stands on a pier of the harbour.", "The mill stands on pier No. 4 of the harbour."),
        ("Pluto is a dwarf planet.", "No, Pluto is a dwarf planet."),
        (OPENED, "The Harland Bridge opened in 1931. The mayor did not attend."),
        ("The Harland Bridge is red.", "The Harland Bridge is not blue but red."),
        ("The Harland Bridge has a toll.", "The Harland Bridge has a toll, but no toll for bicycles."),
        (OPENED, "The Harland Bridge opened in 1931. That it sank is a myth."),
        ("The Harland Bridge was not opened by the king.", "The Harland Bridge was not opened by the king."),
        ("The city denied that the bridge sank.", "The city denied that the bridge sank in 1931."),
        ("The Harland Bridge did not open until 1931.", OPENED),
        ("The Harland Bridge did not open in 1931.", "It is a myth that the Harland Bridge opened in 1931."),
    ],
)
def test_a_negation_of_something_else_or_in_both_texts_turns_nothing(claim: str, premise: str):
    assert relate(claim, premise).label is RelationLabel.ENTAILMENT


def test_a_negated_claim_is_not_contradicted_for_being_negated():
    assert relate("The Harland Bridge is not in Norby.", "The Harland Tower has a clock.").label is RelationLabel.NEUTRAL


@pytest.mark.parametrize("premise", ["Did the Harland Bridge open in 1931?", "“Did the Harland Bridge open in 1931?”"])
def test_a_question_says_nothing(premise: str):
    assert relate(OPENED, premise).neutral == 1
    answered = relate(OPENED, f"{premise} The Harland Bridge opened in 1931.")
    assert answered == relate(OPENED, "The Harland Bridge opened in 1931.")
    asked = premise.replace("1931", "1935")
    assert relate(OPENED, f"{asked} Norby lies in the north.") == relate(OPENED, "Norby lies in the north.")


@pytest.mark.parametrize("mark", ["[12]", "[2][13]", "[2, 4]", "[note 4]", "[citation needed]", "[^12]"])
@pytest.mark.parametrize(("arches", "label"), [("twelve", RelationLabel.ENTAILMENT), ("six", RelationLabel.CONTRADICTION)])
def test_the_mark_of_a_note_is_no_number(mark: str, arches: str, label: RelationLabel):
    claim = "The Harland Bridge has twelve arches."
    marked = relate(claim, f"The Harland Bridge has {arches} arches.{mark} It is of stone.")
    assert marked == relate(claim, f"The Harland Bridge has {arches} arches. It is of stone.")
    assert marked.label is label


@pytest.mark.parametrize(
    ("claim", "premise"),
    [
        ("Carl Olsen died in 2010.", "Carl Olsen was born in 1950."),
        ("Lund sold the mill in 1990.", "Lund bought the mill in 1950."),
    ],
)
def test_another_event_at_another_time_contradicts_nothing(claim: str, premise: str):
    assert relate(claim, premise).label is RelationLabel.NEUTRAL
