import pytest

from localfact.claims.rules.subject import Subject, guess_topic


def resolve(topic: str | None, *sentences: str) -> list[str]:
    subject = Subject(topic, " ".join(sentences))
    resolved = []
    for sentence in sentences:
        subject.read(sentence)
        resolved.append(subject.resolve(sentence))
    return resolved


@pytest.mark.parametrize(
    ("prompt", "opening", "topic"),
    [
        ("Tell me a bio of Ada Morel.", ["Sure!"], "Ada Morel"),
        ("Question: Who was Joan of Arc?", [], "Joan of Arc"),
        ("Why is the sky blue?", ["Ada Morel (born 1950) is a chemist."], "Ada Morel"),
        (None, ["Gladly.", "Ada Morel, a French chemist, was born in 1950."], "Ada Morel"),
        (None, ["The bridge was built in 1900.", "He left."], None),
        (None, ["The Morel Bridge is a bridge."], "The Morel Bridge"),
        (None, ["Here are three bridges."], None),
        (None, [], None),
    ],
)
def test_the_topic_is_guessed_from_the_prompt_or_the_opening(prompt: str | None, opening: list[str], topic: str | None) -> None:
    assert guess_topic(prompt, opening) == topic


def test_a_leading_pronoun_becomes_the_topic() -> None:
    assert resolve("Ada Morel", "She was a chemist.", "In 1903, she moved.", "In 1904 she left.", "Her book sold well.") == [
        "Ada Morel was a chemist.",
        "In 1903, Ada Morel moved.",
        "In 1904 Ada Morel left.",
        "Ada Morel's book sold well.",
    ]


def test_the_possessive_of_a_name_in_s_has_an_apostrophe_alone() -> None:
    assert resolve("Bo James", "His book sold well.") == ["Bo James' book sold well."]


def test_without_a_topic_pronouns_stay() -> None:
    assert resolve(None, "She was a chemist.") == ["She was a chemist."]


def test_a_pronoun_of_another_kind_stays() -> None:
    assert resolve("Ada Morel", "She wrote Ash.", "It sold well.", "She was rich.", "They married.")[1:] == [
        "It sold well.",
        "Ada Morel was rich.",
        "They married.",
    ]


def test_when_two_pronouns_are_equally_common_both_stay() -> None:
    assert resolve("The Ninth Symphony", "He wrote a symphony.", "It was long.") == ["He wrote a symphony.", "It was long."]


def test_once_another_person_is_the_subject_pronouns_stay_until_the_topic_returns() -> None:
    assert resolve("Ada Morel", "Bea Fox wrote to her.", "She was rich.", "Morel was poor.", "She died in 1900.") == [
        "Bea Fox wrote to her.",
        "She was rich.",
        "Morel was poor.",
        "Ada Morel died in 1900.",
    ]


def test_one_capitalised_word_that_begins_a_sentence_is_no_person() -> None:
    assert resolve("Ada Morel", "Fame came late.", "She died in 1900.")[1] == "Ada Morel died in 1900."


def test_prizes_are_nobody() -> None:
    assert resolve("Ada Morel", "She won three Osmium Prizes.", "She moved.")[1] == "Ada Morel moved."


def test_a_relative_of_the_topic_may_be_what_the_next_pronoun_stands_for() -> None:
    assert resolve("Ada Morel", "Her mother was a painter.", "She was rich.", "In 1900 war came.", "She left.")[1::2] == [
        "She was rich.",
        "Ada Morel left.",
    ]


def test_it_stays_after_another_thing_and_where_it_stands_for_nothing() -> None:
    assert resolve("Lyon", "It is a city.", "It is believed that Celts came.", "The museum is old.", "It opened in 1900.") == [
        "Lyon is a city.",
        "It is believed that Celts came.",
        "The museum is old.",
        "It opened in 1900.",
    ]


def test_it_stands_for_the_topic_after_the_topic_was_called_by_its_noun() -> None:
    assert resolve("Morel Bridge", "The bridge was built in 1900.", "It is long.", "The house is old.", "It is high.")[
        1::2
    ] == [
        "Morel Bridge is long.",
        "It is high.",
    ]


def test_the_article_of_a_topic_is_small_within_a_sentence() -> None:
    assert resolve("The Morel Bridge", "It is long.", "In 1900 it was built.") == [
        "The Morel Bridge is long.",
        "In 1900 the Morel Bridge was built.",
    ]


def test_an_item_of_a_list_begins_with_the_topic_again() -> None:
    subject = Subject("Morel Bridge", "It is long. It is high.")
    subject.read("The house beside the river is old.")
    assert subject.resolve("It is long.") == "It is long."
    subject.begin_item()
    assert subject.resolve("It is long.") == "Morel Bridge is long."


def test_a_thing_is_neither_he_nor_she_and_one_word_may_be_a_person() -> None:
    assert resolve("penicillin", "He found it.", "He was glad.") == ["He found it.", "He was glad."]
    sentences = ("Huxley was a friend of Darwin.", "He spoke first.", "He was defended by Huxley.")
    assert resolve("Ada Morel", *sentences) == list(sentences)


def test_the_topic_under_another_spelling_or_its_own_name_at_birth_is_nobody_else() -> None:
    told = resolve("Eva Marín", "Eva Marín was born Maria Lund.", "She wrote Ash.", "Marin wrote Elm.", "She died in 1950.")
    assert told[1::2] == ["Eva Marín wrote Ash.", "Eva Marín died in 1950."]


def test_who_is_known_to_be_of_the_other_sex_blocks_no_pronoun() -> None:
    told = resolve("Ada Morel", "She met Charles Ray.", "She read Ray's Second Machine.", "She left.", "Her book sold.")
    assert told[2:] == ["Ada Morel left.", "Ada Morel's book sold."]
    assert resolve("Bo Fox", "He sailed.", "Queen Victoria knighted him.", "He died.")[2] == "Bo Fox died."
    assert resolve("Ada Morel", "She sang.", "Queen Victoria praised her.", "She died.")[2] == "She died."


def test_whose_mother_is_told_before_her_mother_is_spoken_of() -> None:
    told = resolve("Ada Morel", "Ada Morel was born in 1900.", "Her mother was rich.", "She wrote Ash.", "Her father was poor.")
    assert told[1:3] == ["Ada Morel's mother was rich.", "She wrote Ash."]


def test_it_stands_for_a_place_of_which_persons_are_spoken_as_often() -> None:
    told = resolve("Lundby", "Lundby is a town in the north.", "It has a port.", "He came in 1900.", "His wife left it.")
    assert told[1] == "Lundby has a port."
    assert resolve("Bo Lund", "Bo Lund is a film maker.", "It was known.", "It ran.")[1] == "It was known."
