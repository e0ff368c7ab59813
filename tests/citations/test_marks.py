"""Marks of every style are found in the text as it was written, and belong to the sentence that they stand behind."""

import pytest

from localfact.citations.bibliography import references_of
from localfact.citations.marks import key_of, marks_of
from localfact.citations.sentences import marked_sentences


@pytest.mark.parametrize(
    ("text", "shown", "keys"),
    [
        ("It opened in 1889 [1].", "[1]", ("1",)),
        ("It opened in 1889 [2, 4-6].", "[2, 4-6]", ("2", "4", "5", "6")),
        ("It opened in 1889.[^port]", "[^port]", ("port",)),
        ("It opened in 1889.³", "³", ("3",)),
        ("It opened in 1889.<sup>7</sup>", "<sup>7</sup>", ("7",)),
        ("It opened in 1889【3†harbour.pdf】.", "【3†harbour.pdf】", ("3",)),
        ("It opened in 1889 [Source 2].", "[Source 2]", ("2",)),
        ("It opened in 1889 [@molen1891; @port].", "[@molen1891; @port]", ("molen1891", "port")),
        (r"It opened in 1889 \cite{molen1891, port}.", r"\cite{molen1891, port}", ("molen1891", "port")),
        (
            "It opened in 1889 (Molen, 1891; Quist & Bo, 1902a).",
            "(Molen, 1891; Quist & Bo, 1902a)",
            ("molen 1891", "quist 1902a"),
        ),
        ("Molen et al. (1891) call it new.", "Molen et al. (1891)", ("molen 1891",)),
        ("It opened in 1889 (Mu\u0308ller, 1891).", "(Mu\u0308ller, 1891)", ("m\u00fcller 1891",)),
        ("It opened in 1889 [@mu\u0308ller].", "[@mu\u0308ller]", ("m\u00fcller",)),
        ("It opened in 1889.[^mu\u0308ller]", "[^mu\u0308ller]", ("m\u00fcller",)),
    ],
)
def test_a_mark_names_its_sources(text: str, shown: str, keys: tuple[str, ...]) -> None:
    (mark,) = marks_of(text, ())
    assert (text[mark.span.start : mark.span.end], mark.keys) == (shown, keys)


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ('The [port book](https://port.example/a_(b) "a title") has it.', "https://port.example/a_(b)"),
        ("It opened in 1889 [[1]](https://port.example/1).", "https://port.example/1"),
        ("It opened in 1889 (https://port.example/2).", "https://port.example/2"),
        ('It opened in 1889.<sup><a href="https://port.example/3">3</a></sup>', "https://port.example/3"),
    ],
)
def test_a_link_is_a_mark_with_its_address(text: str, link: str) -> None:
    assert [mark.link for mark in marks_of(text, ())] == [link]


@pytest.mark.parametrize(
    "text",
    [
        "The quay covers 5 km² and 10⁶ stones.",
        "The film (1999) was shot here.",
        f"A row of small digits.{'¹' * 5_000}",
        "Molen (1891) was a year for her.",
        "![A photograph](https://port.example/p.png)",
        "```\nprint(a[1])\n```",
        "Take an array[0] or a [word] of it.",
        "References:\n[1] Molen, I. (1891). The bridge.",
    ],
)
def test_what_only_looks_like_a_mark_is_none(text: str) -> None:
    assert marks_of(text, ()) == []


def test_what_is_a_mark_only_beside_its_source_is_one_there() -> None:
    text = "Molen (1891) says so. It is new (2). It has arches.¹²"
    assert [mark.keys for mark in marks_of(text, {"molen 1891", "1", "2"})] == [("molen 1891",), ("2",), ("1", "2")]


LISTS = [
    "## References\n\n1. Molen, I. (1891). The bridge. https://port.example/1\n2. Quist, B. (1902). [Quays](https://port.example/2).",
    "Sources: [1] https://port.example/1, [2] https://port.example/2",
    "Sources:\n- https://port.example/1\n- [Quays](https://port.example/2)",
    "Sources:\n¹ https://port.example/1\n² https://port.example/2",
    "[^1]: The bridge,\n    https://port.example/1\n[^2]: https://port.example/2",
    '[1]: https://port.example/1\n[2]: https://port.example/2 "Quays"',
]


@pytest.mark.parametrize("listed", LISTS)
def test_a_list_of_references_says_what_its_numbers_are(listed: str) -> None:
    mark = "[^1]" if "^" in listed else "[1]"
    found = references_of(f"It opened in 1889 {mark}. It is long {mark.replace('1', '2')}.\n\n{listed}")
    links = {key: one.link for one in found for key in one.keys}
    assert (links["1"], links["2"]) == ("https://port.example/1", "https://port.example/2")


def test_an_entry_is_also_named_by_author_and_year() -> None:
    (entry,) = references_of(
        "It is new (Molen & Bo, 1891).\n\n## References\nMolen, I., & Bo, Q. (1891). The bridge. Port Press."
    )
    assert key_of("(Molen & Bo, 1891)") in entry.keys


def test_marks_belong_to_the_sentence_before_them_and_leave_its_text() -> None:
    text = (
        "# The bridge [9]\n\nIt opened in 1889 [1]. It is red.[2] [3] According to [4], it is long. [5] calls it **old**.\n\n"
        "- The [east side](https://port.example/e) is stone.\n- Who paid?\n\n[6]\n"
    )
    found, outside = marked_sentences(text, marks_of(text, ()))
    assert [(one.text, [text[mark.span.start : mark.span.end] for mark in one.marks]) for one in found] == [
        ("It opened in 1889.", ["[1]"]),
        ("It is red.", ["[2]", "[3]"]),
        ("It is long.", ["[4]"]),
        ("calls it old.", ["[5]"]),
        ("The east side is stone.", ["[east side](https://port.example/e)"]),
    ]
    assert outside == 2
