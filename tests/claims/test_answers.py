import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from localfact.claims.answers import read_answer
from localfact.claims.lines import LONGEST_CLAIM, ParsedAnswer
from localfact.vocabulary import PreVerificationLabel

S, N, I, LS, LN, U = PreVerificationLabel  # noqa: E741
NILE = "The Nile flows north."


def read(answer: str, *, cut: bool = False) -> list[tuple[str, PreVerificationLabel]]:
    """The claims of an answer that leaves nothing unparsed; that all spans lead to their words is checked on the way."""
    found = read_answer(answer, cut=cut)
    assert found.unparsed == ()
    return checked(answer, found)


def checked(answer: str, found: ParsedAnswer) -> list[tuple[str, PreVerificationLabel]]:
    for claim in found.claims:
        assert answer[claim.span.start : claim.span.end] == claim.text
        word = answer[claim.label_span.start : claim.label_span.end]
        assert re.sub(r"[\s_\-‐‑–]", "", word).casefold() == re.sub("[ -]", "", claim.label.value)
    return [(claim.text, claim.label) for claim in found.claims]


def test_an_answer_as_asked_for_is_read_with_the_places_of_claims_and_labels() -> None:
    answer = f"- {NILE} ###SUPPORTED###\n- It ends in the Black Sea. ###LIKELY NON-SUPPORTED###"
    assert read(answer) == [(NILE, S), ("It ends in the Black Sea.", LN)]
    assert [answer[c.label_span.start : c.label_span.end] for c in read_answer(answer).claims] == [
        "SUPPORTED",
        "LIKELY NON-SUPPORTED",
    ]


@pytest.mark.parametrize(
    "begun",
    [
        "- ",
        "* ",
        "• ",
        "– ",
        "— ",
        "1. ",
        "12) ",
        "(3) ",
        "1. - ",
        "  - ",
        "-",
        "1.",
        "",
        "Claim 2: ",
        "- Claim 1: ",
        "Claims: - ",
    ],
)
def test_bullets_and_numbers_are_no_part_of_a_claim(begun: str) -> None:
    assert read(f"{begun}{NILE} ###SUPPORTED###") == [(NILE, S)]


@pytest.mark.parametrize(
    "pattern", ["**{}** ###{}###", "- **{}** ###{}###", "**{} ###{}###**", "*{}* ###{}###", "1. **{}** ###**{}**###"]
)
def test_emphasis_around_a_whole_claim_is_taken_off(pattern: str) -> None:
    assert read(pattern.format(NILE, "UNSURE")) == [(NILE, U)]


@pytest.mark.parametrize(
    ("written", "label"),
    [
        ("###SUPPORTED###", S),
        ("###Likely_Supported###", LS),
        ("### likely non supported ###", LN),
        ("###NON‑SUPPORTED###", N),
        ("###Nonsupported###", N),
        ("##UNSURE##", U),
        ("#####IRRELEVANT##", I),
        ("###LIKELY-SUPPORTED", LS),
        ("###SUPPORTED###.", S),
        ("###SUPPORTED######SUPPORTED###", S),
        ("###UNSURE### ###Unsure###", U),
        ("###UNSURE###UNSURE###", U),
    ],
)
def test_labels_are_read_however_they_are_written(written: str, label: PreVerificationLabel) -> None:
    assert read(f"- {NILE} {written}") == [(NILE, label)]


def test_of_a_doubled_label_the_first_is_where_the_probability_is_read() -> None:
    answer = f"- {NILE} ###UNSURE### ###UNSURE###"
    assert read_answer(answer).claims[0].label_span.start == answer.index("UNSURE")


@pytest.mark.parametrize(
    "claim",
    [
        "The war lasted 1990 - 1995 - five years.",
        "C# was designed by Anders Hejlsberg, F# by Don Syme.",
        'A line with "### heading" is a heading of level 3.',
        "4.5 million people - some say 5 - live there.",
        "-40 degrees Celsius are -40 degrees Fahrenheit.",
        "1990 - 1995 was the time of the war.",
        "Issue #7 of #3 is supported by ## nobody.",
        "**Kepler** was born in **Weil der Stadt**.",
        "尼罗河向北流。",
    ],
)
def test_dashes_hashes_and_numbers_inside_a_claim_stay(claim: str) -> None:
    assert read(f"- {claim} ###UNSURE###") == [(claim, U)]


def test_a_day_behind_a_bullet_is_no_number_of_a_list() -> None:
    assert read("- 4. November 1918 was a Monday. ###UNSURE###") == [("4. November 1918 was a Monday.", U)]


@pytest.mark.parametrize(
    "line",
    [
        f"- {NILE}",
        f"- {NILE} ###TRUE###",
        f"- {NILE} ###NOT SUPPORTED###",
        f"- {NILE} #SUPPORTED#",
        f"- {NILE} SUPPORTED",
        f"- {NILE} ###SUPPORTED### ###UNSURE###",
        f"- {NILE} ###SUPPORTED because of the map",
        f"###SUPPORTED### {NILE}",
        "###SUPPORTED###",
        "- 1990 ###SUPPORTED###",
        "- No verifiable claim. ###SUPPORTED###",
        "- " + "word " * (LONGEST_CLAIM // 5 + 1) + "###SUPPORTED###",
        "Label: ###SUPPORTED###",
        "I hope this helps!",
    ],
)
def test_a_line_that_is_not_surely_a_claim_with_one_label_is_unparsed(line: str) -> None:
    found = read_answer(f"{line}\n- {NILE} ###SUPPORTED###")
    assert found.unparsed == (line.strip(),)
    assert checked(f"{line}\n- {NILE} ###SUPPORTED###", found) == [(NILE, S)]


def test_text_behind_a_label_is_a_remark_and_the_claim_counts() -> None:
    found = read_answer(f"- {NILE} ###SUPPORTED### (as maps show)")
    assert [claim.text for claim in found.claims] == [NILE]
    assert found.unparsed == ("(as maps show)",)


@pytest.mark.parametrize(
    "second", ["###SUPPORTED###", "  - ###SUPPORTED###", "Label: ###SUPPORTED###", "**Verdict:** ###SUPPORTED###"]
)
def test_a_label_alone_belongs_to_the_claim_on_the_line_before(second: str) -> None:
    assert read(f"- {NILE}\n\n{second}") == [(NILE, S)]


def test_a_label_alone_belongs_to_no_announcement_and_to_no_labelled_claim() -> None:
    assert read_answer("Here is what I found:\n###SUPPORTED###").claims == ()
    found = read_answer(f"- {NILE} ###UNSURE###\n###SUPPORTED###")
    assert [claim.label for claim in found.claims] == [U]
    assert found.unparsed == ("###SUPPORTED###",)


@pytest.mark.parametrize(
    "header",
    [
        "Claims:",
        "**Claims:**",
        "### Extracted claims",
        "```text",
        "```JSON",
        "```python3",
        "---",
        "- ",
        "Verifiable atomic claims",
    ],
)
def test_headers_fences_and_rules_say_nothing(header: str) -> None:
    assert read(f"{header}\n- {NILE} ###SUPPORTED###\n```") == [(NILE, S)]


@pytest.mark.parametrize(
    "answer", ["No verifiable claim.", "no verifiable claim", "- No verifiable claims.", "Claims:\n**No verifiable claim.**"]
)
def test_no_verifiable_claim_counts_as_the_whole_answer(answer: str) -> None:
    assert read_answer(answer) == ParsedAnswer(nothing=True)


@pytest.mark.parametrize("rest", [f"- {NILE} ###SUPPORTED###", "It is all opinion."])
def test_no_verifiable_claim_among_other_lines_is_unparsed(rest: str) -> None:
    found = read_answer(f"{rest}\nNo verifiable claim.")
    assert not found.nothing
    assert found.unparsed[-1] == "No verifiable claim."


def test_a_sentence_that_speaks_of_no_verifiable_claim_is_not_that_answer() -> None:
    assert not read_answer("There is no verifiable claim in it.").nothing


@pytest.mark.parametrize("thought", ["<think>\nHm.\n- A is B. ###UNSURE###\n</think>", "Hm.\n- A is B. ###UNSURE###\n</think>"])
def test_thoughts_before_an_answer_are_one_remark_and_no_claims(thought: str) -> None:
    found = read_answer(f"{thought}\n- {NILE} ###SUPPORTED###")
    assert [claim.text for claim in found.claims] == [NILE]
    assert found.unparsed == (thought,)
    unfinished = "<think>\n- A is B. ###UNSURE###"
    assert read_answer(unfinished, cut=True) == ParsedAnswer(unparsed=(unfinished,))


def test_of_a_cut_answer_the_last_line_counts_only_with_a_closed_label() -> None:
    whole = f"- {NILE} ###SUPPORTED###\n"
    assert read(f"{whole}- It is long. ###LIKELY SUPPORTED###", cut=True) == [(NILE, S), ("It is long.", LS)]
    assert read_answer(f"{whole}- It is long. ###SUPPORTED", cut=True).unparsed == ("- It is long. ###SUPPORTED",)
    assert read(f"{whole}- It is long. ###SUPPORTED\n", cut=True) == [(NILE, S), ("It is long.", S)]


BITS = [
    "###",
    "##",
    "#",
    "SUPPORTED",
    "likely ",
    "Non-",
    "UNSURE",
    "irrelevant",
    " ",
    "\n",
    "\r",
    "- ",
    "1. ",
    "(2)",
    "**",
    "*",
]
BITS += ["Claims:", "No verifiable claim.", "<think>", "</think>", "```", "label:", "\u2028", "1990 - 1995", "\x00", "\ud800"]
WORD = "Aword"


@settings(deadline=None)
@given(bits=st.lists(st.sampled_from([*BITS, WORD, WORD]) | st.text(max_size=5), max_size=30), cut=st.booleans())
@example(bits=["# "] * 5_000, cut=False)
@example(bits=["### supported "] * 2_000, cut=True)
@example(bits=[" \n"] * 5_000, cut=True)
def test_any_text_can_be_read_and_no_word_is_lost(bits: list[str], cut: bool) -> None:
    words = [f"{WORD}{number:02}z" for number in range(len(bits))]
    answer = "".join(f"{word} " if bit == WORD else bit for bit, word in zip(bits, words, strict=True))
    found = read_answer(answer, cut=cut)
    checked(answer, found)
    kept = "\n".join((*(claim.text for claim in found.claims), *found.unparsed))
    assert [word for word in words if word in answer] == [word for word in words if word in kept]


@given(
    st.lists(
        st.tuples(
            st.from_regex(r"[A-Z][a-z0-9 ,#'é-]{0,40}[a-z]\.", fullmatch=True),
            st.sampled_from(list(PreVerificationLabel)),
        ),
        min_size=1,
    )
)
def test_what_is_written_as_asked_is_read_as_written(claims: list[tuple[str, PreVerificationLabel]]) -> None:
    answer = "\n".join(f"- {text} ###{label.value.upper()}###" for text, label in claims)
    assert read(answer) == claims
