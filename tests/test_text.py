import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.text import WINDOW, closest_sentences, foreign_language, language, normalise, sentences, word_count, words


def split(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentences(text)]


@pytest.mark.parametrize(
    "expected",
    [
        ["Dr. Lena Ortiz met Prof. Hale at St. Mark's Hospital.", "They talked for 3.5 hours."],
        ["J. K. Rowling wrote it.", "C. S. Lewis did not."],
        ["The U.S. Senate voted on Jan. 5, 1990.", "The bill passed."],
        ["The family lived in the U.S.", "They moved in 1970."],
        ["It is approx. 3 m long, see vol. 2 and no. 7.", "It floats."],
        ["He waited... and waited.", "Nothing came."],
        ['"Stop!" he shouted.', "Nobody stopped."],
        ['He said, "I will go."', "Then he left."],
        ["It ended in 1945.[1]", "A new era began.[2][3]", "Then peace."],
        ["He won in Delaware[1].", "She lost[2]."],
        ["**Bold.**", "**Ph.D. holders** came.", "They left."],
        ["El Sr. García nació en 1950.", "La Dra. Ruiz vive en EE. UU. desde 1999."],
        ["¿Dónde vive?", "¡Vive en Madrid!", "Es médico."],
        ["Dr. Müller wurde am 3. Mai 1920 geboren.", "Er lebte z. B. in Köln."],
        ["L'œuvre de J. Verne, p. ex. le vol. 3, est connue.", "Elle plaît."],
        ["М. А. Булгаков родился в 1891 г. в Киеве.", "Он умер в 1940 году."],
        ["هو كاتب معروف.", "هل كان طبيبا؟", "نعم."],
        ["वह दिल्ली में पैदा हुआ था।", "वह एक लेखक है।"],
    ],
)
def test_a_sentence_ends_where_a_reader_would_end_it(expected: list[str]) -> None:
    assert split(" ".join(expected)) == expected


@pytest.mark.parametrize(
    "expected",
    [
        ["他出生于1920年。", "他是谁？", "他是医生！"],
        ["他说：“我来了。”", "然后他走了。"],
        ["彼は東京で生まれた。", "彼女は大阪に住んでいる。"],
    ],
)
def test_chinese_and_japanese_sentences_need_no_space_between_them(expected: list[str]) -> None:
    assert split("".join(expected)) == expected


def test_headings_items_and_table_rows_are_sentences_without_a_full_stop() -> None:
    lines = [
        "# Early life, e.g. school. More",
        "She was born in Lyon",
        "- item one",
        "- **Ph.D. in Economics**, Yale (1975)",
        "1. first",
        "2) second",
        "Facts:",
        "born in 1950",
        "**Bold heading**",
        "text goes here",
        "| a | b. C |",
        "| --- | --- |",
        "---",
        "The end",
    ]
    assert split("\n".join(lines)) == lines


def test_a_hard_wrapped_line_goes_on() -> None:
    first = "The bridge over the river was designed in 1889 by Dr.\nSmith and opened two years later to\nacclaim."
    assert split(f"{first} It stands.") == [first, "It stands."]


@pytest.mark.parametrize(
    "wrapped",
    [
        "The telescope was built by the physicist Ada\nMorel in 1932.",  # the name had no room on the line
        "It was founded in\nLyon by\nAda Morel.",  # nothing ends in "in" or "by"
        "It was built in Lyon,\nFrance.",
        "- The telescope was built by\n  Ada Morel.",
    ],
)
def test_a_sentence_in_short_lines_is_one(wrapped: str) -> None:
    assert split(f"{wrapped} It stands.") == [wrapped, "It stands."]


@pytest.mark.parametrize(
    "lines", ["Early life\nShe was born in Lyon in a house.", "Physicist of Lyon\nChemist of Paris and of Rome"]
)
def test_a_title_and_a_list_without_markers_keep_their_lines(lines: str) -> None:
    assert split(lines) == lines.split("\n")


def test_a_blank_line_ends_a_sentence() -> None:
    assert split("one and\n\ntwo and\r\n\r\nthree") == ["one and", "two and", "three"]


@pytest.mark.parametrize("text", ["", " ", "\n\r\n\u2028\t", "\u3000"])
def test_white_space_alone_has_no_sentence(text: str) -> None:
    assert sentences(text) == []


def test_a_text_without_boundaries_is_cut_into_windows_and_nothing_is_lost() -> None:
    text = "word " * WINDOW
    found = split(text)
    assert max(map(len, found)) <= WINDOW
    assert " ".join(found) == text.strip()


def test_sentences_of_a_long_block_are_the_same_as_of_a_short_one() -> None:
    sentence = "他出生于1920年。"
    assert split(sentence * WINDOW) == [sentence] * WINDOW


AWKWARD = st.text(st.sampled_from(list("aA1 .!?。\n\r\t\x00\ud800\udfff😀é\u0301\u200d\"“”'()[]*_#|-:\u2028你ह।")), max_size=80)


@pytest.mark.slow
@given(st.one_of(st.text(max_size=120), AWKWARD, AWKWARD.map(lambda text: text * 60)))
def test_spans_are_ordered_trimmed_and_cover_everything_but_space(text: str) -> None:
    end, covered = 0, set()
    for span in sentences(text):
        assert end <= span.start < span.end <= len(text)
        assert text[span.start : span.end] == text[span.start : span.end].strip()
        covered.update(range(span.start, span.end))
        end = span.end
    assert all(character.isspace() for index, character in enumerate(text) if index not in covered)


def test_words_are_read_as_they_are_written() -> None:
    assert words("Don't pay $3.50 for a well-known 1,000-page U.S. book, O’Neil.") == [
        "Don't", "pay", "3.50", "for", "a", "well-known", "1,000-page", "U.S", "book", "O’Neil",
    ]  # fmt: skip
    assert words("डॉ. शर्मा 他是A") == ["डॉ", "शर्मा", "他", "是", "A"]


@given(st.text())
def test_the_word_count_counts_words(text: str) -> None:
    assert word_count(text) == len(words(text))


def test_texts_that_read_the_same_have_one_normal_form() -> None:
    assert normalise(" “Ｈello,\n WORLD”. ") == normalise('"hello, world"!') == "hello, world"
    assert normalise("Straße") == normalise("STRASSE")


def test_signs_that_carry_meaning_stay_in_the_normal_form() -> None:
    assert len({normalise(text) for text in ("-5", "5", "5%", "$5")}) == 4


@given(st.text())
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)
    assert normalise(unicodedata.normalize("NFD", text)) == normalise(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The cat sat on the mat and it was happy.", "en"),
        ("Curie wurde in Warschau geboren.", "de"),
        ("El gato y los perros nació del sol", "es"),
        ("Il est né dans une ville.", "fr"),
        ("È nato nel 1900 e fu il primo dei re.", "it"),
        ("Nasceu em Lisboa e foi uma atriz.", "pt"),
        ("Он родился в Москве.", "ru"),
        ("他出生于北京", "zh"),
        ("東京で生まれた。", "ja"),
        ("वह लेखक है", "hi"),
        ("هو كاتب", "ar"),
        ("", "en"),
        ("12345 !!", "en"),
    ],
)
def test_the_language_is_guessed_from_script_and_function_words(text: str, code: str) -> None:
    assert language(text) == code


@pytest.mark.parametrize("shift", range(12))
def test_where_a_window_ends_makes_no_sentence_end(shift: int) -> None:
    spoken = [f"Word s{number}w1." for number in range(700)]
    text = "x" * shift + " ".join(spoken)
    assert [text[span.start : span.end].lstrip("x") for span in sentences(text)] == spoken


def test_the_closest_sentence_shares_what_is_rare_in_its_text() -> None:
    text = "Ada Lark was a sailor. Ada Lark was a painter in Oslo. The war ended in 1814. Ada Lark was tall."

    def closest(claim: str) -> list[str]:
        return [text[span.start : span.end] for span in closest_sentences(text, claim)]

    assert closest("Ada Lark was tall in 1814.")[0] in {"The war ended in 1814.", "Ada Lark was tall."}
    assert closest("Ada Lark was a painter.")[0] == "Ada Lark was a painter in Oslo."
    # By shared words alone the first sentence would win: Ada, Lark, was, a.
    assert closest("Ada Lark was a child when it ended, in 1814.")[0] == "The war ended in 1814."
    assert closest("nothing of it")[0] == "Ada Lark was a sailor."
    assert closest_sentences("", "anything") == []


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The tower is in Paris.", None),
        ("Antonio Vivaldi taught at the Ospedale della Pietà.", None),
        ("Johann Sebastian Bach was born in Eisenach in March 1685.", None),
        ("1990: 23, 24, 25", None),
        ("", None),
        ("Der Turm steht in Paris.", "de"),
        ("La tour est à Paris.", "fr"),
        ("Wieża stoi w Paryżu.", "pl"),
        ("Марія Кюрі народилася у Варшаві.", "uk"),
        ("居里夫人出生于华沙。", "zh"),
    ],
)
def test_a_language_other_than_the_known_ones_is_told_from_foreign_names(text: str, language: str | None) -> None:
    assert foreign_language(text, {"en"}) == language
    assert foreign_language(text, {"en", language or "de"}) is None


@pytest.mark.parametrize(
    "text",
    [
        "The siege ended on 8 May. Peace was signed.",
        "The siege ended on 3 Dec. Peace was signed.",
        "She sold ink, pens etc. Morel bought them.",
        "He studied art. Paris was dear.",
        "She worked for Morel Inc. The company was small.",
        "It was built by Morel Corp. Engineers came from Lyon.",
        "He wrote on vitamin C. Sailors need it.",
        "It was told by A.E. He wrote it down.",
    ],
)
def test_a_word_that_is_an_abbreviation_elsewhere_ends_its_sentence(text: str) -> None:
    assert len(sentences(text)) == 2


@pytest.mark.parametrize(
    "text",
    [
        "Jan. 5 was cold.",
        "Dr. Fox wrote it.",
        "It was Ms. Fox who wrote it.",
        "Morel Inc. Paris was sold.",
        "See Fig. A for it.",
    ],
)
def test_an_abbreviation_within_a_sentence_does_not_end_it(text: str) -> None:
    assert len(sentences(text)) == 1
