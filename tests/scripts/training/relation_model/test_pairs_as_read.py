"""Pairs are learned as they are read at use; and claims meet passages that a search would find."""

import re
from pathlib import Path

import pytest

from scripts.training.relation_model.card import BEGIN, END, data_table, put_figures
from scripts.training.relation_model.examples import CONTRADICTION, ENTAILMENT, NEUTRAL, Example
from scripts.training.relation_model.reading import LONGEST_HYPOTHESIS, as_read, showing
from scripts.training.relation_model.retrieved_pairs import MOST_SHARED, PASSAGES, retrieved_pairs

ANSWER = "The lighthouse of Norham was built in 1846 by Ada Brown."
FILLER = [
    f"In year {number} the harbour master wrote about boats, nets and the weather of that season." for number in range(60)
]
LONG = " ".join([*FILLER[:40], ANSWER, *FILLER[40:]])
CLAIM = "Ada Brown built the Norham lighthouse."


def starts(text: str) -> list[int]:
    return [word.start() for word in re.finditer(r"\S+", text)]


def example(label: str, focus: str = "", premise: str = LONG, hypothesis: str = CLAIM) -> Example:
    return Example("set", "kind", premise, hypothesis, label, ("topic",), focus)


def test_the_window_of_a_long_premise_shows_what_the_label_rests_on() -> None:
    for label in (ENTAILMENT, CONTRADICTION):
        (read,) = as_read([example(label, ANSWER)], starts)
        assert ANSWER in read.premise
        assert len(starts(read.premise)) <= 128
        assert read._replace(premise=LONG) == example(label, ANSWER)


def test_a_short_premise_stays_as_it_is() -> None:
    assert list(as_read([example(NEUTRAL, premise=ANSWER)], starts)) == [example(NEUTRAL, premise=ANSWER)]


def test_a_label_that_no_window_shows_and_a_hypothesis_that_is_no_claim_are_left_out() -> None:
    assert list(as_read([example(ENTAILMENT, " ".join(FILLER))], starts)) == []
    assert list(as_read([example(NEUTRAL, hypothesis="word " * (LONGEST_HYPOTHESIS + 1))], starts)) == []
    assert showing("one two three", ["one", "two three", "four"]) is None
    assert showing("one two three four", ["one", "two three four"]) == "two three four"


def test_a_claim_meets_the_nearest_passages_of_other_topics_alone() -> None:
    towns = ["Norham", "Berwick", "Alnwick", "Kelso", "Wooler"]
    text = "The old lighthouse keeper of {} told visitors about storms, ships and lamps. " * 4
    examples = [
        Example("set", "kind", text.format(*[town] * 4), f"The lighthouse of {town} was painted red.", ENTAILMENT, (town,))
        for town in towns
    ]
    pairs = list(retrieved_pairs(examples))
    assert len(pairs) == len(towns) * PASSAGES
    for pair in pairs:
        town = next(town for town in towns if town in pair.hypothesis)
        assert town not in pair.premise
        assert pair.label == NEUTRAL
        assert set(pair.topics) == {town, next(other for other in towns if other in pair.premise)}


def test_a_passage_that_holds_nearly_all_of_a_claim_is_no_neutral_one() -> None:
    claim, other = "The lighthouse was painted red in spring.", "Boats lay in the harbour until the ice had gone."
    examples = [
        Example("set", "kind", f"{claim} {' '.join(FILLER[:3])}", other, ENTAILMENT, ("one",)),
        Example("set", "kind", f"{other} {' '.join(FILLER[3:6])}", claim, ENTAILMENT, ("two",)),
    ]
    assert MOST_SHARED < 1
    assert list(retrieved_pairs(examples)) == []


def test_the_card_counts_labels_and_takes_the_figures_of_the_last_evaluation(tmp_path: Path) -> None:
    learned = [example(ENTAILMENT)._replace(set="snli"), example(NEUTRAL)._replace(set="rules")]
    table = data_table([*learned, *learned])
    assert "| snli | 1 | 0 | 0 | CC BY-SA 4.0 |" in table
    assert "| rules | 0 | 0 | 1 | as their sources |" in table
    card = tmp_path / "README.md"
    card.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    put_figures(card, "new\n")
    assert card.read_text() == f"before\n{BEGIN}\nnew\n{END}\nafter\n"
    card.write_text("no place")
    with pytest.raises(ValueError, match="no place for figures"):
        put_figures(card, "new")
