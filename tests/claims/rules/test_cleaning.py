import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.claims.rules.cleaning import clean

BORN = "Ada Morel was born in Lyon."


@pytest.mark.parametrize(
    "marked",
    [
        "Ada Morel was born in Lyon [1].",
        "Ada Morel was born in Lyon.[1][2]",
        "Ada Morel was born in Lyon [^1].",
        "Ada Morel was born in Lyon [2, p. 7].",
        "Ada Morel was born in Lyon【3†source】.",
        "Ada Morel was born in Lyon¹.",
        "Ada Morel was born in Lyon<sup>1</sup>.",
        "Ada Morel was born in Lyon<sup>[<a href='#n'>1</a>]</sup>.",
        "Ada Morel was born in Lyon<ref name=a>Fox</ref>.",
        "Ada Morel was born in Lyon (Fox, 1998).",
        "Ada Morel was born in Lyon (Fox 2020; see also Ray & Bo, 2021, pp. 3-4).",
        "Ada Morel was born in Lyon (Fox et al., 1998).",
        "Ada Morel was born in Lyon [citation needed].",
        "Ada Morel was born in Lyon [[1]](https://example.org/a).",
        "Ada Morel was born in Lyon, according to [1](https://example.org/a_(b)).",
        "Ada Morel was born in Lyon ([Towns](https://example.org/a)).",
        "Ada Morel was born in Lyon (see [1]).",
        "Ada Morel was born in Lyon (https://example.org/a).",
        "Ada Morel was born in Lyon, see https://example.org/a.",
        "According to https://example.org/a, Ada Morel was born in Lyon.",
        "Ada Morel was born in [Lyon](https://example.org/a).",
        "<p>Ada Morel was born in <b>Lyon</b>.</p>",
        "Ada Morel was born in Lyon [1]-[3].",
        "Ada Morel was born in Lyon {2}.",
        "Ada Morel was born in Lyon †.",
        "Ada Morel was born in Lyon (ibid.).",
        "Ada Morel was born in Lyon [towns.example.org].",
        "Ada Morel was born in Lyon <cite>[4]</cite>.",
        "Ada Morel was born in Lyon <cite>4</cite>.",
        "Ada Morel was born in Lyon.<cite>4, 12</cite>",
        "Ada Morel was born in Lyon.[[1](https://example.org/a)]",
        "Ada Morel was born in Lyon [\\[1\\]](https://example.org/a).",
        "Ada Morel was born in Lyon [Wikipedia][2].",
        "Ada Morel was born in Lyon\\.",
        "\\textbf{Ada Morel} was born in \\emph{Lyon}.",
        "\\begin{verbatim}\nx = 1\n\\end{verbatim}\nAda Morel was born in Lyon.",
        "<answer>Ada&nbsp;Morel was born in Lyon.</answer><|im_end|>",
        "![A picture](https://example.org/a.png)Ada Morel was born in Lyon.",
    ],
)
def test_links_marks_and_tags_leave_no_mark_in_their_sentence(marked: str) -> None:
    assert " ".join(clean(marked, Counter()).text.split()) == BORN


@pytest.mark.parametrize(
    "text",
    [
        "It weighs 10⁶ kg on 5 km², x² or 3^2.",
        "It was long ago (May 1998), in a film (Arrival, 2016), and lasted (1990–1995).",
        "If a<b and c>d, then List<int> is [sic] what it was.",
        "Her page is https://example.org/a.",
        "It writes \\nu and \\neq.",
    ],
)
def test_what_only_looks_like_a_mark_stays(text: str) -> None:
    assert clean(text, Counter()).text == text


@pytest.mark.parametrize(
    "text",
    [
        "She wrote <cite>12</cite> books.",
        "It was sold for 5 pounds in <cite>1950</cite>, and the oldest mill is number <cite>7</cite> of twelve.",
        "The towns are <cite>3</cite>.",
        'He cites <cite index="1-2">the town has 300 mills</cite>.',
    ],
)
def test_what_a_tag_of_citation_marks_stays_where_its_sentence_says_it(text: str) -> None:
    assert clean(text, Counter()).text == re.sub("<[^<>]+>", "", text)


@pytest.mark.parametrize(
    ("text", "dropped"),
    [
        (f"{BORN}\n\nReferences\n\n[1] B. Fox, The towns. Lyon: Bell Press, 1998.\n[2] C. Ray, More.", {"reference": 3}),
        (f"{BORN}\n\nWorks Cited\nFox, B. (1998). The towns were told here.", {"reference": 2}),
        (f"{BORN} [1]\n\n[1] See the register of the town.", {"reference": 1}),
        (f"{BORN}\n\n[^1]: See the register of the town.", {"reference": 1}),
        (f"{BORN}\n\nSource: https://example.org/a", {"reference": 1}),
        (f"{BORN}\n\n1. Fox, B. (1998). The towns were told.\n2. Ray, C. (1999). More.", {"reference": 2}),
        (f"{BORN}\n\nReferences\n==========\n\nFox, Bo. 1998. The towns were told. Bell.", {"reference": 3}),
        (f"{BORN}\n\nReferences used:\n(1) Fox B. The towns were told. Towns. 1998;12:1-5.", {"reference": 2}),
        (f"{BORN}\n\nFor further reading, see:\n* Fox, Bo. The towns were told. 1998.", {"reference": 2}),
        (f"{BORN}\n\n[^a]: Fox told this in a book.\n    It was long.", {"reference": 2}),
        (f"{BORN}¹\n\n¹ Bo Fox, The towns were told (Lyon, 1998), 23.\n² Ibid., 45.", {"reference": 2}),
        (f"````md\n```\nAda Morel died in Rome.\n```\n{BORN}\n````", {"code": 1}),
        (f"Sources:\n- Wikipedia\n\n{BORN}", {"reference": 2}),
        (f"~~~\nAda Morel died in Rome.\n~~~\n{BORN}", {"code": 1}),
        (f"```python\nAda Morel died in Rome.\n```\n\n    Ada Morel died in Rome.\n    She did.\n\n{BORN}", {"code": 2}),
        (f"{BORN}\n<pre>Ada Morel died in Rome.</pre><!-- So --><script>died()</script>", {}),
    ],
)
def test_references_and_code_are_no_prose_under_a_heading_or_without(text: str, dropped: dict[str, int]) -> None:
    counts: Counter[str] = Counter()
    assert clean(text, counts).text.strip() == BORN
    assert counts == dropped


def test_a_heading_that_references_could_have_stands_above_prose_too() -> None:
    text = "Sources\n\nThe river has two sources."
    assert clean(text, Counter()).text == text


def test_what_is_indented_below_an_item_or_everywhere_is_no_code() -> None:
    for text in ("- Lyon\n\n    It is a city.", "    It is a city.\n\n    It is old."):
        assert clean(text, Counter()).text == text


def test_what_looks_like_code_is_code_however_much_of_the_text_is_indented() -> None:
    counts: Counter[str] = Counter()
    assert clean("So:\n\n    died = 'in Rome'\n    print(died)\n\nIt ends.", counts).text.split() == ["So:", "It", "ends."]
    assert counts == {"code": 1}


def test_breaks_items_and_headings_of_html_are_lines() -> None:
    assert clean("<h2>Lyon</h2><ul><li>a city</li></ul>", Counter()).text.split() == ["#", "Lyon", "-", "a", "city"]
    assert clean("It is old.\\n\\nIt is big.", Counter()).text == "It is old.\n\nIt is big."


def test_an_enumeration_within_a_sentence_loses_its_marks() -> None:
    assert clean("She (1) left, (2) wrote, and (3) died.", Counter()).text == "She left, wrote, and died."
    assert clean("(1) She left.\n(2) She died.", Counter()).text == "(1) She left.\n(2) She died."


@given(
    st.lists(st.sampled_from(["Ada ", "[1]", "(", ")", "<b>", "</b>", "&amp;", "\n", "```", "https://a.b ", "²", "\\n"])).map(
        "".join
    )
)
def test_every_character_keeps_a_place_that_never_decreases(text: str) -> None:
    found = clean(text, Counter())
    assert len(found.text) == len(found.offsets)
    assert list(found.offsets) == sorted(found.offsets)
    assert all(0 <= offset < len(text) for offset in found.offsets)
