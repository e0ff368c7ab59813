"""Putting a negation in and taking one out, and the sentences that are passed over."""

import random
from collections import Counter

import pytest

from scripts.training.relation_model.negations import affirmed, infinitive, negated

VOCABULARY = Counter("start stop study use visit invite visited started help respond responded".split())  # noqa: SIM905


def denials(sentence: str) -> set[str]:
    found = (negated(sentence, VOCABULARY, random.Random(seed)) for seed in range(60))
    return {edit.sentence for edit in found if edit}


@pytest.mark.parametrize(
    ("past", "base"), [("started", "start"), ("stopped", "stop"), ("studied", "study"), ("used", "use"), ("wrote", "write")]
)
def test_the_infinitive_of_a_past_form_is_one_that_texts_have(past: str, base: str) -> None:
    assert infinitive(past, VOCABULARY) == base


def test_a_past_form_without_a_known_infinitive_is_left_alone() -> None:
    assert infinitive("zorbled", VOCABULARY) is None
    assert not denials("Anna Moreau zorbled the old mill in the village.")


def test_an_auxiliary_takes_the_negation_behind_it() -> None:
    assert {
        "The mill is not open.",
        "The mill isn't open.",
        "The mill is never open.",
        "The mill is no longer open.",
    } <= denials("The mill is open.")


def test_a_simple_past_is_denied_with_its_infinitive() -> None:
    assert {"She did not visit the mill.", "She failed to visit the mill.", "She never visited the mill."} <= denials(
        "She visited the mill."
    )


@pytest.mark.parametrize(
    "sentence",
    [
        "The mill that was built in 1901 is open.",
        "The mill is not open.",
        "If the mill is open, they come.",
        "Some mills are open.",
    ],
)
def test_a_verb_of_a_part_of_the_sentence_is_never_denied(sentence: str) -> None:
    assert not denials(sentence)


@pytest.mark.parametrize(
    ("negative", "positive"),
    [
        ("The mill is not open.", "The mill is open."),
        ("The owner did not respond to letters.", "The owner responded to letters."),
        ("They cannot visit the mill.", "They can visit the mill."),
    ],
)
def test_the_only_negation_is_taken_out(negative: str, positive: str) -> None:
    edit = affirmed(negative, VOCABULARY)
    assert edit is not None
    assert edit.sentence == positive


@pytest.mark.parametrize(
    "sentence",
    [
        "The mill is not only old.",
        "He knows people who do not visit the mill.",
        "The mill is not open, nor is the barn.",
        "It is open.",
    ],
)
def test_a_negation_of_a_part_stays(sentence: str) -> None:
    assert affirmed(sentence, VOCABULARY) is None
