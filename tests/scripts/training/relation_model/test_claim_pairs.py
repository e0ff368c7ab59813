"""Short claims beside the text that they come from: which label with the sentence in question, and which without it."""

from collections import Counter

import pytest

from localfact.text import words
from scripts.training.relation_model.claim_pairs import CLAIMS_OF_A_TEXT, claim_pairs
from scripts.training.relation_model.examples import CONTRADICTION, ENTAILMENT, NEUTRAL, Example
from scripts.training.relation_model.sentence_edits import Names

WEAVER = (
    "Ada Moreau was a Dutch weaver, and she opened a workshop in Utrecht in 1921. Her carpets were shown in Paris. "
    "Two sisters helped with the dyes. The town museum holds eleven of the early pieces. "
    "Nobody knows where the looms went. A street by the canal has her name."
)
NAMES = Names((), ())


def source(text: str) -> Example:
    return Example("stance", "snippet", text, "Something is said.", ENTAILMENT, ("weaver",))


@pytest.fixture(scope="module")
def groups() -> list[list[Example]]:
    vocabulary = Counter(words(WEAVER))
    return [group for seed in range(30) for group in claim_pairs([source(WEAVER)], "rules", NAMES, vocabulary, seed)]


def test_a_claim_is_shorter_than_its_sentence_and_has_the_name_for_the_pronoun(groups: list[list[Example]]) -> None:
    entailed = {pair.hypothesis for group in groups for pair in group if pair.label == ENTAILMENT}
    assert "Ada Moreau was a Dutch weaver." in entailed
    assert any(claim.startswith("Ada Moreau opened a workshop") for claim in entailed)


def test_what_is_decided_has_its_sentence_in_the_text_and_what_is_not_has_the_text_without_it(
    groups: list[list[Example]],
) -> None:
    assert {pair.label for group in groups for pair in group} == {ENTAILMENT, CONTRADICTION, NEUTRAL}
    for group in groups:
        focus = group[0].focus
        for pair in group:
            assert pair.topics == ("weaver",)
            assert (focus in pair.premise) is (pair.label != NEUTRAL)


def test_every_undecided_statement_is_decided_by_the_whole_text(groups: list[list[Example]]) -> None:
    for group in groups:
        decided = {pair.hypothesis for pair in group if pair.label != NEUTRAL}
        assert {pair.hypothesis for pair in group if pair.label == NEUTRAL} <= decided


def test_a_claim_that_another_sentence_says_too_has_no_neutral_pair() -> None:
    again = WEAVER + " A Dutch weaver of this name is in the list of members."
    found = [group for seed in range(30) for group in claim_pairs([source(again)], "rules", NAMES, Counter(), seed)]
    weaver = [group for group in found if group[0].hypothesis == "Ada Moreau was a Dutch weaver."]
    assert weaver
    labels = {pair.label for group in weaver for pair in group if pair.hypothesis == group[0].hypothesis}
    assert labels == {ENTAILMENT}


def test_a_claim_that_two_sentences_make_is_left_out() -> None:
    twice = WEAVER + " Ada Moreau was a Dutch weaver."
    found = [group for seed in range(30) for group in claim_pairs([source(twice)], "rules", NAMES, Counter(), seed)]
    assert found
    assert not [group for group in found if group[0].hypothesis == "Ada Moreau was a Dutch weaver."]


def test_claims_are_put_in_other_words_often_and_not_always() -> None:
    text = WEAVER.replace("opened", "founded")
    found = [group[0] for seed in range(30) for group in claim_pairs([source(text)], "rules", NAMES, Counter(), seed)]
    claims = {pair.hypothesis for pair in found if "workshop" in pair.hypothesis}
    assert "Ada Moreau founded a workshop in Utrecht in 1921." in claims
    assert "Ada Moreau established a workshop in Utrecht in 1921." in claims


def test_few_claims_are_taken_of_one_text_and_the_same_ones_for_the_same_seed() -> None:
    one, again = (list(claim_pairs([source(WEAVER)], "rules", NAMES, Counter(), 3)) for _ in range(2))
    assert one == again
    assert 0 < len(one) <= CLAIMS_OF_A_TEXT
