"""What the values of a pair do to a small model's answer where they agree, and which of them are marked."""

import pytest

from localfact.records import Distribution, Pair
from localfact.relations.values.correcting import correct_by_values, finding_of

ENTAILED = Distribution(entailment=0.8, contradiction=0.1, neutral=0.1)
CONTRADICTED = Distribution(entailment=0.1, contradiction=0.8, neutral=0.1)
PREMISE = (
    "Ines Corvo was a diver from Faro. She was born on 2 June 1931 and retired at 58. The Corvo Prize was founded in 1990."
)


@pytest.mark.parametrize(
    ("claim", "said", "label"),
    [
        ("Ines Corvo was born on June 2nd, 1931.", CONTRADICTED, "entailment"),
        ("Ines Corvo was born on 2 June 1932.", CONTRADICTED, "contradiction"),
        ("Ines Corvo was born on 2 June 1990.", CONTRADICTED, "contradiction"),
        ("Ines Corvo made 300 dives.", ENTAILED, "entailment"),
        ("Ines Corvo moved to Lagos in 1990.", ENTAILED, "entailment"),
        ("Ines Corvo was a painter.", ENTAILED, "entailment"),
    ],
)
def test_a_contradiction_is_turned_where_the_values_of_its_slot_agree(claim: str, said: Distribution, label: str) -> None:
    corrected = correct_by_values(Pair(PREMISE, claim), said)
    assert corrected.label == label
    assert corrected.entailment + corrected.contradiction + corrected.neutral == pytest.approx(1)


def test_years_of_a_life_are_no_denial_of_a_day_of_birth() -> None:
    pair = Pair("Ines Corvo was born on 2 June 1931. She lived from 1931 to 2004.", "Ines Corvo was born on 2 June 1931.")
    assert correct_by_values(pair, CONTRADICTED).label == "entailment"


def test_the_sentence_that_decides_and_both_values_are_marked() -> None:
    claim = "Ines Corvo retired at 61."
    found = finding_of(Pair(PREMISE, claim))
    assert found.sentence is not None
    assert found.said is not None
    assert found.claimed is not None
    assert PREMISE[found.sentence.start : found.sentence.end] == "She was born on 2 June 1931 and retired at 58."
    assert PREMISE[found.said.start : found.said.end] == "58"
    assert claim[found.claimed.start : found.claimed.end] == "61"


@pytest.mark.parametrize(
    ("claim", "label"),
    [
        ("Marta Oliveira was born in Braga.", "contradiction"),
        ("Marta Oliveira was born in Viseu.", "entailment"),
        ("Marta Oliveira lived in Braga.", "entailment"),
        ("Marta Oliveira was born in Portugal.", "entailment"),
    ],
)
def test_another_value_of_a_slot_that_has_one_turns_an_entailment(claim: str, label: str) -> None:
    page = "Marta Oliveira\nMarta Oliveira was a singer. She was born in Viseu. Her son Rui, born in Braga, lived there."
    assert correct_by_values(Pair(page, claim), ENTAILED).label == label
