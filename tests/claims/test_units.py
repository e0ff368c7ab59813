import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from localfact.claims.lines import LONGEST_CLAIM, ParsedAnswer
from localfact.claims.units import Unit, read_units

NILE = "The Nile flows north."


def read(answer: str, *, cut: bool = False) -> list[tuple[int, str]]:
    """Numbers and claims of an answer that leaves nothing unparsed."""
    found = read_units(answer, cut=cut)
    assert found.unparsed == ()
    return checked(answer, found)


def checked(answer: str, found: ParsedAnswer[Unit]) -> list[tuple[int, str]]:
    for unit in found.claims:
        assert answer[unit.span.start : unit.span.end] == unit.text
    return [(unit.number, unit.text) for unit in found.claims]


def test_an_answer_as_asked_for_is_read_with_its_numbers() -> None:
    assert read(f"[1] {NILE}\n[2] It ends in the Black Sea.") == [(1, NILE), (2, "It ends in the Black Sea.")]


@pytest.mark.parametrize(
    "begun", ["[7] ", "[7]", "  [7]\t", "- [7] ", "* [7] ", "**[7]** ", "[7]: ", "[7]. ", "- **[7]**: ", "[007] "]
)
def test_what_stands_around_a_number_is_no_part_of_a_claim(begun: str) -> None:
    assert read(f"{begun}{NILE}") == [(7, NILE)]


def test_emphasis_around_a_whole_line_is_taken_off() -> None:
    assert read(f"**[1] {NILE}**\n[2] *{NILE}*\n[3] **{NILE}**") == [(1, NILE), (2, NILE), (3, NILE)]


@pytest.mark.parametrize(
    "claim",
    [
        "The war lasted 1990 - 1995 - five years.",
        "C# was designed by Anders Hejlsberg, F# by Don Syme.",
        "- 40 degrees Celsius are - 40 degrees Fahrenheit.",
        "-40 degrees Celsius are -40 degrees Fahrenheit.",
        ".NET was released in 2002.",
        "1. FC Köln was founded in 1948.",
        "4. November 1918 was a Monday.",
        "### is a heading of level 3, **bold** is bold.",
        "According to [12] the Nile is long, and [3] agrees.",
        "The list[2] begins with [0] in C.",
        "He said: “Ignore the claims and write [99].”",
        "尼罗河向北流。",
    ],
)
def test_dashes_hashes_numbers_and_reference_marks_inside_a_claim_stay(claim: str) -> None:
    assert read(f"[1] {claim}") == [(1, claim)]


@pytest.mark.parametrize(
    "line",
    [
        NILE,
        f"- {NILE}",
        f"1. {NILE}",
        f"(1) {NILE}",
        f"[a] {NILE}",
        f"[1998] {NILE}",
        f"1] {NILE}",
        "[4]",
        "[4] 1990",
        "[4] No verifiable claim.",
        "[4] " + "word " * (LONGEST_CLAIM // 5 + 1),
        "Here are the claims of the text [1]",
        "I hope this helps!",
    ],
)
def test_a_line_that_is_not_surely_one_numbered_claim_is_unparsed(line: str) -> None:
    answer = f"[1] {NILE}\n{line}\n[2] It is long."
    found = read_units(answer)
    assert found.unparsed == (line.strip(),)
    assert checked(answer, found) == [(1, NILE), (2, "It is long.")]


def test_the_next_number_on_a_line_begins_the_next_claim() -> None:
    assert read(f"[4] {NILE} [5] It is long, as [3] says [6]. [7] So.") == [
        (4, NILE),
        (5, "It is long, as [3] says [6]. [7] So."),
    ]


@pytest.mark.parametrize(
    "pattern", ["1. {}\n2. {}", "1) {}\n2) {}", "- {}\n- {}", "* {}\n* {}", '["{}", "{}"]', '{{"1": "{}", "2": "{}"}}']
)
def test_without_numbers_in_brackets_the_items_of_a_list_are_the_claims(pattern: str) -> None:
    assert read(pattern.format(NILE, "It is long.")) == [(1, NILE), (2, "It is long.")]


def test_numbers_out_of_order_twice_or_missing_lose_no_claim() -> None:
    answer = "[3] C is.\n[1] A is.\n[1] B is.\n[1] A is.\n[9] D is."
    assert read(answer) == [(3, "C is."), (1, "A is."), (1, "B is."), (1, "A is."), (9, "D is.")]


@pytest.mark.parametrize("header", ["Claims:", "**Claims:**", "### Atomic claims", "```text", "---", "- "])
def test_headers_fences_and_rules_say_nothing(header: str) -> None:
    assert read(f"{header}\n[1] {NILE}\n```") == [(1, NILE)]


@pytest.mark.parametrize("answer", ["No verifiable claim.", "**No verifiable claims**", "Claims:\nNo verifiable claim."])
def test_no_verifiable_claim_counts_as_the_whole_answer(answer: str) -> None:
    assert read_units(answer) == ParsedAnswer(nothing=True)


@pytest.mark.parametrize("answer", [f"[1] {NILE}\nNo verifiable claim.", "It is all opinion.\nNo verifiable claim."])
def test_no_verifiable_claim_among_other_lines_is_unparsed(answer: str) -> None:
    found = read_units(answer)
    assert not found.nothing
    assert found.unparsed[-1] == "No verifiable claim."


@pytest.mark.parametrize("thought", ["<think>\nHm.\n[1] A is B.\n</think>", "Hm.\n[1] A is B.\n</think>"])
def test_thoughts_before_an_answer_are_one_remark_and_no_claims(thought: str) -> None:
    found = read_units(f"{thought}\n[1] {NILE}")
    assert [unit.text for unit in found.claims] == [NILE]
    assert found.unparsed == (thought,)
    assert read_units("<think>\n[1] A is B.", cut=True) == ParsedAnswer(unparsed=("<think>\n[1] A is B.",))


def test_an_example_that_the_model_goes_on_to_invent_brings_no_claims() -> None:
    invented = "<<text 0a1b2c3d>>\nMars is green.\n<<end text 0a1b2c3d>>\nClaims:\n[1] Mars is green."
    found = read_units(f"[1] {NILE}\n\nText:\n{invented}")
    assert [unit.text for unit in found.claims] == [NILE]
    assert found.unparsed == ("Text:", invented)


def test_of_a_cut_answer_the_last_line_does_not_count_however_whole_it_looks() -> None:
    found = read_units(f"[1] {NILE}\n[2] He died in 19", cut=True)
    assert [unit.text for unit in found.claims] == [NILE]
    assert found.unparsed == ("[2] He died in 19",)
    assert read(f"[1] {NILE}\n", cut=True) == [(1, NILE)]


WORD = "Aword"
BITS = ["[1]", "[2] ", "[", "]", " ", "\n", "\r", "- ", "**", "*", "Claims:", "No verifiable claim.", "<think>", "</think>"]
BITS += ["```", "\u2028", "1990 - 1995", "\x00", "\ud800", "<<text 0a>>", "<<end "]


@given(bits=st.lists(st.sampled_from([*BITS, WORD, WORD]) | st.text(max_size=5), max_size=30), cut=st.booleans())
@example(bits=["[1] "] * 5_000, cut=False)
@example(bits=[" \n"] * 5_000, cut=True)
@example(bits=["<<a "] * 5_000, cut=True)
def test_any_text_can_be_read_and_no_word_is_lost(bits: list[str], cut: bool) -> None:
    words = [f"{WORD}{number:02}z" for number in range(len(bits))]
    answer = "".join(f"{word} " if bit == WORD else bit for bit, word in zip(bits, words, strict=True))
    found = read_units(answer, cut=cut)
    checked(answer, found)
    kept = "\n".join((*(unit.text for unit in found.claims), *found.unparsed))
    assert [word for word in words if word in answer] == [word for word in words if word in kept]


@pytest.mark.slow
@given(st.lists(st.from_regex(r"[A-Z][a-z0-9 ,#'é-]{0,40}[a-z]\.", fullmatch=True), min_size=1, max_size=40))
def test_what_is_written_as_asked_is_read_as_written(claims: list[str]) -> None:
    answer = "\n".join(f"[{number}] {claim}" for number, claim in enumerate(claims, start=1))
    assert read(answer) == list(enumerate(claims, start=1))
    assert not re.search(r"^\[", "".join(unit.text for unit in read_units(answer).claims))


def test_a_heading_above_nested_items_is_no_claim_and_a_sentence_there_is_one() -> None:
    found = read_units(
        "- **Sources**\n  - The Nile has two sources.\n- The Nile was dammed in 1970\n  - and ends in a delta.\n* Length\n"
    )
    assert [unit.text for unit in found.claims] == [
        "The Nile has two sources.",
        "The Nile was dammed in 1970",
        "and ends in a delta.",
        "Length",
    ]
    assert found.unparsed == ("- **Sources**",)
