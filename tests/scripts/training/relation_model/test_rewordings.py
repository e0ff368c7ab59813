"""A sentence in other words that it entails."""

import random

from scripts.training.relation_model.rewordings import reworded
from scripts.training.relation_model.synonyms import BROADER, ROUGHLY, SYNONYMS


def forms(sentence: str) -> set[str]:
    return {reworded(sentence, random.Random(seed)) for seed in range(40)}


def test_words_are_exchanged_for_others_that_say_the_same() -> None:
    assert "The mill was constructed by a rich lawyer." in forms("The mill was built by a wealthy attorney.")


def test_a_sentence_without_such_words_stays() -> None:
    assert forms("The keeper had two cats.") == {"The keeper had two cats."}


def test_a_number_keeps_its_word_for_roughly_and_other_uses_of_the_word_stay() -> None:
    assert "They talked about roughly 40 mills." in forms("They talked about around 40 mills.")
    assert forms("They talked about mills.") == {"They talked about mills."}


def test_a_broader_word_is_put_in_where_the_sentence_entails_it() -> None:
    assert "Her brother met a writer." in forms("Her brother met a novelist.")
    for sentence in ("She is not a novelist.", "Every novelist was there.", "She was the first novelist there."):
        assert forms(sentence) == {sentence}


def test_an_article_follows_the_new_word() -> None:
    assert "It is an illness of the lung." in forms("It is a disease of the lung.")


def test_no_phrase_stands_in_two_lines() -> None:
    phrases = [phrase for line in (*SYNONYMS, ROUGHLY) for phrase in line]
    assert len(phrases) == len(set(phrases))
    assert BROADER.keys().isdisjoint(phrases)
