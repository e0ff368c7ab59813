import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.claims.rules.clauses import LONGEST_SENTENCE, split_clauses


def split(sentence: str) -> list[str]:
    return [clause.text for clause in split_clauses(sentence)]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (
            "Ada Morel was born in Lyon and died in Paris.",
            ["Ada Morel was born in Lyon", "Ada Morel died in Paris"],
        ),
        (
            "In 1903, she moved to Paris and studied there, and she later taught in London.",
            ["In 1903, she moved to Paris", "she studied there", "she later taught in London"],
        ),
        (
            "The house was built in 1900 and renovated by Joe Bell in 1950.",
            ["The house was built in 1900", "The house was renovated by Joe Bell in 1950"],
        ),
        ("He has lived in Rome and worked in Bonn.", ["He has lived in Rome", "He has worked in Bonn"]),
        (
            "He moved to Rome, studied in Paris, and won the lottery.",
            ["He moved to Rome", "He studied in Paris", "He won the lottery"],
        ),
        (
            "These were heavier than rafts and allowed for maneuvers.",
            ["These were heavier than rafts", "These allowed for maneuvers"],
        ),
        ("She worked in Lyon, and in 1891 she moved to Paris.", ["She worked in Lyon", "In 1891 she moved to Paris"]),
        ("He was a poet; she was a painter.", ["He was a poet", "she was a painter"]),
    ],
)
def test_joined_statements_come_apart_and_repeat_the_subject(sentence: str, expected: list[str]) -> None:
    assert split(sentence) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (
            "Ada Morel, a French chemist, discovered osmium in 1803.",
            ["Ada Morel discovered osmium in 1803", "Ada Morel was a French chemist"],
        ),
        ("Ada Morel, a chemist, lives in Rome.", ["Ada Morel lives in Rome", "Ada Morel is a chemist"]),
        (
            "The bridge, which was built in 1900, spans and connects two towns.",
            ["The bridge, which was built in 1900, spans and connects two towns"],
        ),
        (
            "The bridge, which opened in 1900, connects two towns.",
            ["The bridge connects two towns", "The bridge opened in 1900"],
        ),
        (
            "The Alps, a mountain range in Europe, are visited by millions.",
            ["The Alps are visited by millions", "The Alps are a mountain range in Europe"],
        ),
        ("He lived in Paris, which is the capital of France.", ["He lived in Paris", "Paris is the capital of France"]),
        (
            "Ada Morel is an actor who appeared in Red Sky.",
            ["Ada Morel is an actor", "Ada Morel appeared in Red Sky"],
        ),
        (
            "He was the father of Ann Lee, who married Bo Day.",
            ["He was the father of Ann Lee", "Ann Lee married Bo Day"],
        ),
        (
            "Ada Morel (born May 4, 1950) is a French chemist.",
            ["Ada Morel is a French chemist", "Ada Morel was born May 4, 1950"],
        ),
        (
            "Born on May 4, 1950, in Lyon, Morel worked as a clerk.",
            ["Morel was born on May 4, 1950", "Morel was born in Lyon", "Morel worked as a clerk"],
        ),
    ],
)
def test_appositions_and_relative_clauses_become_statements(sentence: str, expected: list[str]) -> None:
    assert split(sentence) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (
            "She won the Nobel Prize in Physics and the Nobel Prize in Chemistry.",
            ["She won the Nobel Prize in Physics", "She won the Nobel Prize in Chemistry"],
        ),
        (
            "Kim Ray is an Irish actor, singer, and author best known for Medea.",
            ["Kim Ray is an Irish actor", "Kim Ray is a singer", "Kim Ray is an author", "Kim Ray is best known for Medea"],
        ),
        (
            'She wrote "War, Peace and Us," "The Boat" and "Red Sky."',
            ['She wrote "War, Peace and Us,"', 'She wrote "The Boat"', 'She wrote "Red Sky."'],
        ),
        (
            "He made films such as Red Sky (1990), The Boat (1995), and Ash (2000).",
            ["He made films such as " + film for film in ("Red Sky (1990)", "The Boat (1995)", "Ash (2000)")],
        ),
    ],
)
def test_lists_are_dealt_out_to_one_statement_each(sentence: str, expected: list[str]) -> None:
    assert split(sentence) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "He was born in Trinidad and Tobago",
        "He served as Minister of Health, Education, and Welfare",
        "He led the Ministry of Health, Education, and Welfare",
        "He wrote and directed the film",
        "He worked in Rome, moved by the war",
        "He left after Bo Lee, who led it, had told her",
        "The company that he founded and led was sold",
        "They stayed in Rome, Paris, and London",
        "He starred in the film Bread and Roses",
        "She joined the Ministry of Economy and Production of Chile",
        "The war lasted from 1990 - 1995",
        "He said that she was ill and had left",
        "She was a writer and celebrated poet of the north",
        'He sang "Born and raised in Ohio" and "I moved, and he stayed, and won" in 1990',
    ],
)
def test_what_is_not_safe_to_split_stays_whole(sentence: str) -> None:
    assert split(sentence) == [sentence]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (
            "The bridge is carried by four piers, and its central arch spans 30 metres.",
            ["The bridge is carried by four piers", "its central arch spans 30 metres"],
        ),
        (
            "The council met in 1950, and Maria Lund chaired its sessions.",
            ["The council met in 1950", "Maria Lund chaired its sessions"],
        ),
        (
            "Oslo has two airports, while the port of Bergen handles most ferries.",
            ["Oslo has two airports", "the port of Bergen handles most ferries"],
        ),
        (
            "Old mills stood there, but many farmers kept their own, while Bo Lee had none.",
            ["Old mills stood there", "many farmers kept their own", "Bo Lee had none"],
        ),
        (
            "The film was shot in Rome, and its score, a late work of Ann Ray, won three prizes.",
            ["The film was shot in Rome", "its score won three prizes", "its score was a late work of Ann Ray"],
        ),
        ("He stayed in Rome, while she moved to Bonn.", ["He stayed in Rome", "she moved to Bonn"]),
        ("He founded Acme, which makes cars, and Bo Lee runs it.", ["He founded Acme", "Acme makes cars", "Bo Lee runs it"]),
    ],
)
def test_a_second_clause_with_a_subject_of_its_own_is_a_statement(sentence: str, expected: list[str]) -> None:
    assert split(sentence) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "The choir toured with Ann Ray, Bo Lee, and Carl Day singing",
        "The mayor, the bishop, and the old king were present",
        "The songs written by Ann Ray, Bo Lee, and Carl Day were lost",
        "The museum has a hall opened in 1900, and the new annex built in 1950",
        "The survey asks for Strengths, Goals, and Threats related to the town",
        "The prize depends on the sum raised, and the share the state pays",
        "She said that the mill burned down, and the old owner left town",
        "She wrote to them that the mill had burned down, and the old owner was away",
        "She was ill because the well was foul, and the old town had no other",
        "He believed the mill had burned down, and the old owner was away",
        "It is a novel in which the boy leaves home, and the young girl stays behind",
        "If the dam breaks the valley floods, and the old town is lost",
        "After Ann Ray was crowned, and the long war was over, peace came",
        "Not only did the bank fail, but the old town lost its only school",
        "Pay rose so that the staff stayed, and the old firm began to grow",
        "The towers have three bells, and the great bells each have two tons",
        "Oslo and Bonn sent teams, and the two teams have won gold and silver, respectively",
        "Two towns were founded in 1900, and the second was given up in 1950",
        "Ann Ray joined them in 1990, and the group won three prizes",
        "Two towns were founded in 1900, while some of them were lost",
        "Ann Ray had moved to Rome, but Bo Lee did not",
        "Ann Ray had moved to Rome, and Bo Lee had too",
        'The song "I was ill, and the doctor was away" has three verses',
    ],
)
def test_a_second_clause_that_leans_on_the_first_or_is_none_stays(sentence: str) -> None:
    assert split(sentence) == [sentence]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (
            "Ada Morel was born on May 4, 1950, in Lyon, France.",
            ["Ada Morel was born on May 4, 1950", "Ada Morel was born in Lyon, France"],
        ),
        (
            "Axolotls can regrow limbs, but they cannot fly.",
            ["Axolotls can regrow limbs", "Axolotls cannot fly"],
        ),
        ("She died in Paris in 1990.", ["She died in Paris", "She died in 1990"]),
        ("She married Joe Bell, a French chemist.", ["She married Joe Bell", "Joe Bell was a French chemist"]),
        (
            "She won the race, becoming the first woman to do so.",
            ["She won the race", "She became the first woman to do so"],
        ),
    ],
)
def test_dates_places_and_what_follows_behind_a_comma_are_statements_of_their_own(sentence: str, expected: list[str]) -> None:
    assert split(sentence) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "She visited Lyon, Marseille, and the old port of Toulon.",  # a list, not what Marseille is
        "She said that Joe Bell won, becoming the first.",  # who became it?
        "She won the race, becoming famous and leaving Lyon.",  # the second verb would be left in -ing
        "She lives in Lyon, winning often.",  # no past to put it in
        "She worked in Lyon in 1990.",
    ],
)
def test_what_follows_a_comma_stays_where_its_subject_is_not_sure(sentence: str) -> None:
    assert split(sentence) == [sentence.rstrip(".")]


def test_the_years_behind_a_person_s_name_are_of_a_life() -> None:
    sentence = "Ada Morel (1880–1930) was a French chemist."
    assert [clause.text for clause in split_clauses(sentence, of_person=True)] == [
        "Ada Morel was a French chemist",
        "Ada Morel was born in 1880",
        "Ada Morel died in 1930",
    ]
    assert split(sentence) == ["Ada Morel (1880–1930) was a French chemist"]


def test_a_clause_knows_its_own_words_in_the_sentence() -> None:
    sentence = "Ada Morel was born in Lyon and died in Paris."
    first, second = split_clauses(sentence)
    assert sentence[first.start : first.end] == "Ada Morel was born in Lyon"
    assert sentence[second.start : second.end] == "died in Paris"


def test_a_sentence_too_long_for_the_rules_stays_whole() -> None:
    sentence = "He was born in Lyon and died in Paris " + "x" * LONGEST_SENTENCE
    assert split(sentence) == [sentence]


PIECES = st.sampled_from(
    (
        "Ada Morel",
        "He",
        "The film",
        "an actor",
        "was",
        "has won",
        "born in",
        "died",
        "wrote",
        "known for",
        "and",
        "but",
        ",",
        ";",
        ", who",
        ", which is",
        ", and the film",
        ", while Bo Lee",
        "(born 1950)",
        "Born on",
        "In 1903",
        '"Red, and Blue"',
        "Bo (1990)",
        "the Osmium Prize",
    )
)


@pytest.mark.slow
@given(st.lists(PIECES, min_size=1, max_size=30).map(lambda pieces: f"Ada {' '.join(pieces)}"))
def test_every_clause_lies_inside_its_sentence(sentence: str) -> None:
    for clause in split_clauses(sentence):
        assert 0 <= clause.start < clause.end <= len(sentence)
        assert clause.text[clause.borrowed :] == sentence[clause.start : clause.end]


def test_a_third_clause_of_the_same_plural_subject_keeps_its_place() -> None:
    sentence = "Frogs swim in ponds; they wanted the flies; they wanted to live in the long grass"
    assert [sentence[clause.start : clause.end] for clause in split_clauses(sentence)][-1].endswith("long grass")
