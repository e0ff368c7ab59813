import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from localfact.claims.answers import LabelledClaim, read_answer
from localfact.claims.lines import LONGEST_CLAIM, ParsedAnswer, plain
from localfact.vocabulary import PreVerificationLabel

S, N, I, LS, LN, U = PreVerificationLabel  # noqa: E741
NILE = "The Nile flows north."


def read(answer: str, *, cut: bool = False) -> list[tuple[str, PreVerificationLabel | None]]:
    """The claims of an answer that leaves nothing unparsed; that all spans lead to their words is checked on the way."""
    found = read_answer(answer, cut=cut)
    assert found.unparsed == ()
    return checked(answer, found)


def checked(answer: str, found: ParsedAnswer[LabelledClaim]) -> list[tuple[str, PreVerificationLabel | None]]:
    for claim in found.claims:
        assert plain(answer[claim.span.start : claim.span.end]) == claim.text
        if claim.label is None:
            continue
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


@pytest.mark.parametrize(
    ("line", "prefix"),
    [
        (f"- {NILE}", f"- {NILE} ###"),
        (f"* {NILE}", f"* {NILE} ###"),
        (f"- {NILE} ###TRUE###", f"- {NILE} ###"),
        (f"- {NILE} ###PARTIALLY SUPPORTED###", f"- {NILE} ###"),
        (f"- {NILE} ###LIKELY###", f"- {NILE} ###"),
        (f"- {NILE} ###NOT SUPPORTED###", f"- {NILE} ###"),
        (f"- {NILE} ###Label: unsupported###", f"- {NILE} ###Label: "),
        (f"- {NILE} #SUPPORTED#", f"- {NILE} #"),
        (f"- {NILE} \\#\\#SUPPORTED\\#\\#", f"- {NILE} \\#\\#"),
        (f"- {NILE} SUPPORTED", f"- {NILE} "),
        (f"- {NILE} **Supported**", f"- {NILE} **"),
        (f"- {NILE} [Unsure]", f"- {NILE} ["),
        (f"- {NILE} (likely not supported)", f"- {NILE} ("),
        (f"- {NILE} — Supported", f"- {NILE} — "),
        (f"- {NILE} → UNCERTAIN", f"- {NILE} → "),
        (f"| 1 | {NILE} | Supported |", f"| 1 | {NILE} | "),
        (f"| {NILE} | TRUE |", f"| {NILE} ###"),
        (f"- {NILE} ###SUPPORTED### ###UNSURE###", f"- {NILE} ###"),
        (f"- {NILE} ###SUPPORTED because of the map", f"- {NILE} ###"),
        (f"###SUPPORTED### {NILE}", f"###SUPPORTED### {NILE} ###"),
        (f"- SUPPORTED: {NILE}", f"- SUPPORTED: {NILE} ###"),
    ],
)
def test_a_claim_whose_label_is_not_written_as_asked_has_it_asked_for_at_its_place(line: str, prefix: str) -> None:
    """It might be copied from a text, where only labels between two # signs are broken up, or it means something else."""
    answer = f"{line}\n- It is long. ###SUPPORTED###"
    first, second = read_answer(answer).claims
    assert (first.text, first.label, first.prefix(answer)) == (NILE, None, prefix)
    assert (second.text, second.label) == ("It is long.", S)


def test_under_headings_of_labels_every_claim_has_its_own_asked_for() -> None:
    answer = "### Unsure\n- Ice floats.\n### Supported\n- Iron sinks."
    found = read_answer(answer)
    assert checked(answer, found) == [("Ice floats.", None), ("Iron sinks.", None)]
    assert found.unparsed == ("### Unsure", "### Supported")


def test_claims_listed_first_and_labelled_in_a_second_step_are_the_same_claims() -> None:
    listed = f"Step 1\n- {NILE}\n- It is long.\n\nStep 2\n- {NILE} ###SUPPORTED###\n- It is long. ###UNSURE###"
    assert checked(listed, read_answer(listed)) == [(NILE, S), ("It is long.", U)]


@pytest.mark.parametrize(
    "behind",
    [
        "Question:\nWho was Newton?\nClaims:\n- Newton was born in 1643. ###SUPPORTED###",
        "Text:\n<<text 0a1b2c3d>>\nIt is.\n<<end text 0a1b2c3d>>\n- It is. ###SUPPORTED###",
        "Human: And more?\n- It is. ###SUPPORTED###",
        "<|im_start|>user\n- It is. ###SUPPORTED###",
    ],
)
def test_an_example_or_turn_that_the_model_goes_on_to_invent_brings_no_claims(behind: str) -> None:
    found = read_answer(f"- {NILE} ###SUPPORTED###\n\n{behind}")
    assert [claim.text for claim in found.claims] == [NILE]
    assert " ".join(found.unparsed).split() == behind.replace("Claims:", "").split()


def test_markers_before_the_claims_are_an_echo() -> None:
    assert read(f"<<text 0a1b2c3d>>\n- {NILE} ###SUPPORTED###")[0] == (NILE, S)


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        (f'[{{"claim": "{NILE}", "label": "SUPPORTED"}}]', [(NILE, S)]),
        (f'```json\n{{"claims": [{{"text": "{NILE}", "verdict": "false"}}]}}\n```', [(NILE, None)]),
        (f'["{NILE}", "It is \\"long\\"."]', [(NILE, None), ('It is "long".', None)]),
    ],
)
def test_claims_in_json_are_read(answer: str, claims: list[tuple[str, PreVerificationLabel | None]]) -> None:
    assert [(claim.text, claim.label) for claim in read_answer(answer).claims] == claims


def test_emphasis_and_quotation_marks_are_no_part_of_a_claim() -> None:
    written = "**Kepler** was born in **Weil der Stadt**."
    assert read(f"- {written} ###SUPPORTED###") == [("Kepler was born in Weil der Stadt.", S)]
    assert read(f"- “{NILE}” ###SUPPORTED###") == [(NILE, S)]


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


@pytest.mark.parametrize(
    "answer",
    [
        "There are no verifiable claims in the text.",
        "No verifiable claim. The text only gives advice.",
        "- No verifiable claim. ###IRRELEVANT###",
        f"- No verifiable claim. The text {'says of nobody who that is, and ' * 6}that is all. ###NON-SUPPORTED###",
        "I found no factual claims.",
    ],
)
def test_that_there_is_no_claim_may_be_said_in_other_words(answer: str) -> None:
    assert read_answer(answer) == ParsedAnswer(nothing=True, unparsed=(answer,))


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


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(
            # Two signs or more open a place for a label, whatever stands in it.
            st.from_regex(r"[A-Z](?:#?[a-z0-9 ,'é-]){0,20}[a-z]\.", fullmatch=True),
            st.sampled_from(list(PreVerificationLabel)),
        ),
        min_size=1,
    )
)
def test_what_is_written_as_asked_is_read_as_written(claims: list[tuple[str, PreVerificationLabel]]) -> None:
    answer = "\n".join(f"- {text} ###{label.value.upper()}###" for text, label in claims)
    assert read(answer) == claims


def test_a_heading_above_nested_items_is_no_claim_unless_it_is_labelled() -> None:
    found = read_answer(
        "- Sources\n  - The Nile has two. ###SUPPORTED###\n- Length ###SUPPORTED###\n  - It is long. ###SUPPORTED###"
    )
    assert [claim.text for claim in found.claims] == ["The Nile has two.", "Length", "It is long."]
    assert found.unparsed == ("- Sources",)
