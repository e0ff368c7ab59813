"""Single edits: what is changed, what is passed over, and how a sentence is shortened or said of another."""

import random

import pytest

from scripts.training.relation_model.neutral_pairs import speaks_of_else
from scripts.training.relation_model.passages import has_word, is_clean, passages, plain_sentences
from scripts.training.relation_model.rewordings import detail_at_end, nearly_verbatim, shortened
from scripts.training.relation_model.roles import RELATIONS, made, swapped
from scripts.training.relation_model.sentence_edits import Names, contradicting_edits

NOBODY = Names((), ())


def edits(sentence: str, premise: str = "", names: Names = NOBODY) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for seed in range(40):
        for edit in contradicting_edits(sentence, premise or sentence, names, random.Random(seed)):
            found.setdefault(edit.kind, set()).add(edit.sentence)
    return found


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("year changed", "The mill was built in 1901."),
        ("number changed", "The mill employed 250 workers."),
        ("month changed", "The mill burnt down in March 1901."),
        ("weekday changed", "The mill closed on Monday."),
        ("ordinal changed", "It was the second mill in the valley."),
        ("written number changed", "The miller had three sons."),
        ("nationality changed", "The miller was a Danish engineer."),
        ("place changed", "The mill stood in Oslo."),
        ("opposite", "Output increased in the valley."),
        ("sister word", "The miller wrote a novel about it."),
        ("quantity word", "Most farmers went to the mill."),
    ],
)
def test_each_rule_changes_its_detail_and_nothing_else_gets_its_name(kind: str, sentence: str) -> None:
    found = edits(sentence)
    assert kind in found
    assert sentence not in found[kind]


@pytest.mark.parametrize(
    "sentence",
    [
        "The mill was not built in 1901.",
        "If the mill was built in 1901, it is old.",
        "The mill employed more than 250 workers.",
        "The mill stood there from 1901 to 1910.",
        "The mill may have stood in Oslo.",
    ],
)
def test_a_change_that_could_leave_both_true_is_not_made(sentence: str) -> None:
    assert not edits(sentence)


def test_what_is_put_in_is_nowhere_in_the_premise() -> None:
    premise = "Output increased. It never decreased."
    assert "opposite" not in edits("Output increased in the valley.", premise)


def test_years_are_confused_only_with_another_year_of_the_premise() -> None:
    premise = "The mill was built in 1901. It burnt down in 1950."
    assert edits("The mill was built in 1901.", premise)["years confused"] == {"The mill was built in 1950."}


def test_numbers_and_places_are_confused_with_others_of_their_sort_in_the_premise() -> None:
    premise = "The mill in Oslo had 40 workers and the mine in Madrid had 75 miners. Some 30 % of the miners were ill."
    found = edits("The mill in Oslo had 40 workers.", premise)
    assert found["numbers confused"] == {"The mill in Oslo had 75 workers."}
    assert found["places confused"] == {"The mill in Madrid had 40 workers."}


def test_a_person_gives_way_to_a_namesake_or_to_somebody_of_another_text() -> None:
    names = Names.seen_in(["The barn was painted by Walter Novak."])
    found = edits("The mill was designed by Helen Moreau.", names=names)["person changed"]
    assert "The mill was designed by Walter Novak." in found
    assert all("Helen Moreau" not in sentence for sentence in found)


def test_an_article_follows_the_word_that_is_put_in() -> None:
    assert all(
        " a A" not in sentence and " a I" not in sentence
        for sentence in edits("He was a Danish engineer.")["nationality changed"]
    )


@pytest.mark.parametrize(
    ("sentence", "short"),
    [
        ("In 1901, the mill was rebuilt by a company.", "The mill was rebuilt by a company."),
        ("The mill, which had two wheels, was rebuilt by a company.", "The mill was rebuilt by a company."),
        ("The company rebuilt the old mill in 1901.", "The company rebuilt the old mill."),
    ],
)
def test_a_sentence_is_shortened_by_a_part_it_can_do_without(sentence: str, short: str) -> None:
    edit = shortened(sentence, random.Random(0))
    assert edit is not None
    assert edit.sentence == short


@pytest.mark.parametrize("sentence", ["The miller was born in 1901.", "The old mill was not rebuilt by anybody in 1901."])
def test_an_end_that_the_sentence_needs_stays(sentence: str) -> None:
    assert detail_at_end(sentence) is None


def test_a_date_is_written_in_the_other_order() -> None:
    forms = {nearly_verbatim("The mill opened on May 4, 1991.", random.Random(seed)).sentence for seed in range(30)}
    assert "The mill opened on 4 May 1991." in forms


def test_names_change_places_in_a_relation_that_holds_one_way_only() -> None:
    edit = swapped("Helen Moreau taught Walter Novak in a small school.")
    assert edit is not None
    assert edit.sentence == "Walter Novak taught Helen Moreau in a small school."
    assert swapped("Helen Moreau married Walter Novak in a small church.") is None


def test_a_made_sentence_comes_with_one_hypothesis_of_each_label_it_can_have() -> None:
    labels = {tuple(label for _, _, _, label in made(random.Random(seed))) for seed in range(60)}
    assert labels == {("entailment", "contradiction", "neutral"), ("entailment", "neutral")}


def test_no_relation_says_the_same_and_the_contrary_in_the_same_words() -> None:
    for relation in RELATIONS:
        assert set(relation.contrary).isdisjoint({*relation.said, *relation.same})


def test_sentences_end_at_full_stops_but_not_after_initials_and_titles() -> None:
    assert plain_sentences("Dr. Novak met J. Moreau here. They talked.\nA heading") == [
        "Dr. Novak met J. Moreau here.",
        "They talked.",
        "A heading",
    ]


def test_passages_have_one_to_eight_sentences_with_the_clean_one_at_its_place() -> None:
    text = " ".join(f"The old mill number {place} was rebuilt by a company." for place in range(20)) + " What now?"
    found = list(passages(text, ("mill",), random.Random(0)))
    assert len(found) == 20
    assert {len(passage.sentences) for passage in found} <= set(range(1, 9))
    assert all(is_clean(passage.focus) and passage.focus not in passage.rest for passage in found)


def test_a_word_is_found_whole_and_in_any_case() -> None:
    assert has_word("The Mill burnt.", "mill")
    assert not has_word("The miller left.", "mill")


def test_a_sentence_speaks_of_something_else_only_where_most_of_it_is_new() -> None:
    assert speaks_of_else("The orchard was sold to a widow in Denver.", "The mill burnt down in 1901.")
    assert not speaks_of_else("The mill burnt down in 1901.", "The old mill burnt down.")
