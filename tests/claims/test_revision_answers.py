import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.claims.revision_answers import faithful, leave_added_sentences, read_revision
from localfact.llm.engine import Generation
from localfact.prompts.grammars import longest_revision
from localfact.text import readable

TEXT = "Johannes Kepler was born in 1571. He moved to Graz. The city lies in Styria. He died in 1630."


@pytest.mark.parametrize(
    ("claim", "other"),
    [
        ("He moved to Graz.", "Johannes Kepler died in 1630."),
        ("He was born in 1571.", "Johannes Kepler was born."),
        ("He was born in 1571.", "Johannes Kepler was born in 1630."),
        ("He moved to Graz.", "He moved to Graz because Martin Luther, Philipp Melanchthon and others wanted that so much."),
    ],
)
def test_another_claim_a_lost_number_and_an_invention_are_no_revision(claim: str, other: str) -> None:
    assert not faithful(other, claim, TEXT)


@pytest.mark.parametrize(
    ("claim", "wording", "context"),
    [
        ("He moved to Graz.", "Johannes Kepler moved to Graz.", TEXT),
        ("They won it.", "Brazil won the World Cup.", "In 1994 Brazil won the World Cup."),
        ("Er zog nach Graz.", "Johannes Kepler zog nach Graz.", "Johannes Kepler zog nach Graz."),
        ("他出生于1571年。", "约翰内斯·开普勒出生于1571年。", "约翰内斯·开普勒是德国天文学家。他出生于1571年。"),
        ("그는 1571년에 태어났다.", "케플러는 1571년에 태어났다.", "케플러는 천문학자이다. 그는 1571년에 태어났다."),
        ("It lasted 1990 - 1995.", "The war lasted 1990 - 1995.", "The war was long. It lasted 1990 - 1995."),
    ],
)
def test_names_in_place_of_pronouns_are_a_revision_in_any_language(claim: str, wording: str, context: str) -> None:
    assert faithful(wording, claim, context)


@pytest.mark.parametrize(
    "answer",
    [
        "Kepler moved to Graz.",
        "\n Kepler moved to Graz. \n",
        "- Kepler moved to Graz.",
        "**Kepler moved to Graz.**",
        '"Kepler moved to Graz."',
        "“Kepler moved to Graz.”",
        "Revised claim: Kepler moved to Graz.",
        "**Revised claim:**\n\nKepler moved to Graz.",
        "Read on its own, this becomes:\n\n**Kepler moved to Graz.**",
        "To be clear without its context, the sentence would say: Kepler moved to Graz.",
        'I would put the claim like this: **"Kepler moved to Graz."**',
        "Kepler moved to Graz.\n\nThe pronoun now has its name, nothing else is different.",
        "A standalone version:\n> **Kepler moved to Graz.**\n\nLet me know if you want it shorter!",
        "```\nKepler moved to Graz.\n```",
        "<think>\nHe is Kepler.\nShe is not.\n</think>\n\nKepler moved to Graz.",
    ],
)
def test_what_stands_around_a_revision_is_taken_off(answer: str) -> None:
    assert read_revision(Generation(text=answer), "He moved to Graz.") == "Kepler moved to Graz."


@pytest.mark.parametrize(
    "wording",
    [
        "The war lasted 1990 - 1995 - five years.",
        "C# and F# were designed at Microsoft.",
        "4. November 1918 was a Monday.",
        "1. FC Köln was founded in 1948.",
        "-40 degrees Celsius are -40 degrees Fahrenheit.",
        '"Stop" and "go" are words.',
        "[3] is a reference mark.",
    ],
)
def test_dashes_hashes_numbers_and_quotations_of_a_revision_stay(wording: str) -> None:
    assert read_revision(Generation(text=wording), "It is so.") == wording


def test_a_hash_within_marks_is_of_the_claim() -> None:
    assert (
        read_revision(Generation(text="###Microsoft made C# and F#.###"), "It made C# and F#.") == "Microsoft made C# and F#."
    )


@pytest.mark.parametrize(
    ("wording", "left"),
    [
        ("Kepler moved to Graz. He taught there for six years.", "Kepler moved to Graz."),
        ("Kepler was born in Weil. He moved to Graz.", "He moved to Graz."),
        ("Johannes Kepler moved to Graz.", "Johannes Kepler moved to Graz."),
        ("He moved. To Graz it was. So they say.", "He moved. To Graz it was."),
        ("Nobody knows.", "Nobody knows."),
    ],
)
def test_sentences_that_are_added_to_a_claim_are_left_out(wording: str, left: str) -> None:
    assert leave_added_sentences(wording, "He moved to Graz.") == left


def test_another_sentence_of_the_text_in_the_words_that_all_have_is_no_revision() -> None:
    claim = "Their systems may be more resilient to damage during the attack, and safer for those who live there."
    other = "This means that houses can go on during the attack and be a haven for those in them."
    assert not faithful(other, claim, f"{other} {claim}")


@pytest.mark.parametrize("end", [",", ";", " -"])
def test_an_answer_that_breaks_off_is_no_revision(end: str) -> None:
    assert read_revision(Generation(text=f"###Kepler moved to Graz{end}"), "He moved to Graz.") is None
    assert read_revision(Generation(text="###Kepler moved to Graz,"), "He moved to Graz,") == "Kepler moved to Graz,"


def test_a_claim_of_two_sentences_keeps_two() -> None:
    claim = "He moved. She lived in Graz."
    assert (
        leave_added_sentences("It was long ago. Kepler moved. Ada lived in Graz. So it was.", claim)
        == "Kepler moved. Ada lived in Graz."
    )


def test_a_claim_that_is_a_quotation_stays_one() -> None:
    assert read_revision(Generation(text='"He moved."'), '"They moved."') == '"He moved."'
    assert read_revision(Generation(text="- 3 degrees"), "- 2 degrees") == "- 3 degrees"
    assert read_revision(Generation(text="Revised: a novel."), "Revised: it.") == "Revised: a novel."


@pytest.mark.parametrize(
    "pattern",
    [
        "Revised: {}",
        "Here is the revised claim: {}",
        "Sure! Here is the claim:\n\n{}",
        "**Revised claim:** {}",
        "Standalone: {}",
        "#####{}#####",
        "###{}",
        "<<claim 0a1b2c3d>>\n{}\n<<end claim 0a1b2c3d>>",
        "{}\n\n(Note: I replaced the pronoun.)",
        "{}\nExplanation: he is Kepler.",
    ],
)
def test_what_models_put_around_a_revision_is_no_part_of_it(pattern: str) -> None:
    wording = "Johannes Kepler moved to Graz."
    assert read_revision(Generation(text=pattern.format(wording)), "He moved to Graz.") == wording


def test_a_revision_may_be_longer_by_the_names_it_puts_in_and_no_more() -> None:
    claim = "He did."
    longest = "a" * (longest_revision(claim) - 1)
    assert read_revision(Generation(text=longest), claim) == longest
    assert read_revision(Generation(text=f"{longest}a"), claim) is None


@given(answer=st.text(), claim=st.text(min_size=1))
def test_any_answer_can_be_read_and_becomes_one_line_at_most(answer: str, claim: str) -> None:
    wording = read_revision(Generation(text=answer), claim)
    assert wording is None or (len(wording.splitlines()) == 1 and wording in " ".join(readable(answer).split()))
