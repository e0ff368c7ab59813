"""Chunks keep their limits, overlap as specified and lose no word; pages are capped."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.corpus.passages import CHUNK_WORDS, OVERLAP_WORDS, PASSAGE_CHARACTERS, cap, chunks, passages_of
from localfact.records import passage_id
from localfact.text import sentences, word_count, words
from localfact.web.pages import Page


def numbered_sentence(number: int, length: int) -> str:
    """A sentence of `length` words that all name it, so that every word of a text is different."""
    return "Word " + " ".join(f"s{number}w{position}" for position in range(1, length)) + "."


def numbered_text(lengths: list[int]) -> str:
    return " ".join(numbered_sentence(number, length) for number, length in enumerate(lengths))


def test_a_short_text_is_one_chunk() -> None:
    assert chunks(" One sentence. Two.\n") == ["One sentence. Two."]
    assert chunks("") == []


def test_a_chunk_is_as_long_as_the_next_sentence_allows_and_repeats_whole_sentences_up_to_forty_words() -> None:
    # Twelve sentences of 20 words fill 240 of 250 words; the last two of them, 40 words, come again.
    text = numbered_text([20] * 25)
    first, second, third = chunks(text)
    spoken = [text[span.start : span.end] for span in sentences(text)]
    assert first == " ".join(spoken[:12])
    assert second == " ".join(spoken[10:22])
    assert third == " ".join(spoken[20:])


def test_a_chunk_may_be_exactly_full() -> None:
    assert [word_count(chunk) for chunk in chunks(numbered_text([125, 125, 41]))] == [250, 41]


def test_a_last_sentence_of_more_than_forty_words_is_not_repeated() -> None:
    first, second = chunks(numbered_text([100, 100, 41, 50]))
    assert word_count(first) == 241
    assert word_count(second) == 50


def test_the_overlap_makes_room_for_a_long_sentence() -> None:
    # 30 words would be repeated, but 30 + 230 words are more than a chunk holds; 15 + 230 are not.
    _, second = chunks(numbered_text([200, 15, 15, 230]))
    assert word_count(second) == 245


def test_a_sentence_longer_than_a_chunk_is_cut_and_its_pieces_are_no_overlap() -> None:
    text = numbered_text([510, 20])
    found = chunks(text)
    assert [word_count(chunk) for chunk in found] == [250, 250, 30]
    assert " ".join(found) == text


def test_a_text_without_spaces_is_cut_by_its_characters() -> None:
    found = chunks("長城很長" * 200)
    assert "".join(found) == "長城很長" * 200
    assert all(word_count(chunk) <= CHUNK_WORDS for chunk in found)


def test_endless_words_and_endless_punctuation_do_not_make_endless_chunks() -> None:
    for text in ("x" * 50_000, "-" * 50_000, ("y" * 3_000 + ". ") * 10, "。" * 9_000):
        assert max(map(len, chunks(text))) <= PASSAGE_CHARACTERS


@pytest.mark.slow
def test_text_that_is_no_prose_is_not_repeated_many_times() -> None:
    for text in ("-\n\n" * 20_000, ("y" * 90 + ".\n\n") * 1_000, "🙂\n\n" * 20_000):
        assert sum(map(len, chunks(text))) < 1.5 * len(text)


texts = st.one_of(
    st.lists(st.integers(1, 300), min_size=1, max_size=40).map(numbered_text),
    st.lists(
        st.sampled_from(["One.", "two", "three,", "3.5", "\n\n", "- ", "Dr.", "北京。", "U.S.", "\x00", "x" * 60]), max_size=900
    ).map(" ".join),
    st.text(max_size=400),
)


@pytest.mark.slow
@given(texts)
def test_chunks_keep_both_limits_and_lose_no_word(text: str) -> None:
    found = chunks(text)
    assert all(word_count(chunk) <= CHUNK_WORDS and len(chunk) <= PASSAGE_CHARACTERS for chunk in found)
    position = covered = 0
    for chunk in found:
        start = text.index(chunk, position)
        assert not text[covered:start].strip(), "nothing may stand between two chunks"
        assert word_count(text[start:covered]) <= OVERLAP_WORDS if start < covered else True
        position, covered = start + 1, max(covered, start + len(chunk))
    assert not text[covered:].strip()


@pytest.mark.slow
@given(st.lists(st.integers(2, 120), min_size=5, max_size=60))
def test_the_overlap_is_the_longest_run_of_whole_sentences_that_fits(lengths: list[int]) -> None:
    text = numbered_text(lengths)
    spoken = [text[span.start : span.end] for span in sentences(text)]
    for before, after in itertools.pairwise(chunks(text)):
        inside = [sentence for sentence in spoken if sentence in before]
        repeated = list(
            itertools.takewhile(lambda sentence, before=before: sentence in before, [s for s in spoken if s in after])
        )
        new = next(sentence for sentence in spoken if sentence in after and sentence not in before)
        longer = inside[len(inside) - len(repeated) - 1 :]
        too_long = sum(map(word_count, longer)) > OVERLAP_WORDS or sum(map(word_count, [*longer, new])) > CHUNK_WORDS
        assert too_long, "one more sentence would have fitted"


def test_a_page_is_capped_where_a_word_ends() -> None:
    assert cap("short") == "short"
    assert cap("x" * 5_000) == "x" * PASSAGE_CHARACTERS
    year = "a " * 1_998 + "in 1862 they came"
    assert cap(year).endswith("in")
    exact = "a" * 3_999 + "b c"
    assert cap(exact) == "a" * 3_999 + "b"


def test_passages_carry_what_is_known_of_their_page() -> None:
    page = Page(link="https://News.Example/a", title="A", text="One. Two.", date="2020", provider="web")
    for kind in ("chunks", "pages"):
        (passage,) = passages_of(page, kind)
        assert passage.id == passage_id("One. Two.")
        assert passage.host == "news.example"
        assert (passage.text, passage.title, passage.links, passage.date, passage.provider) == (
            "One. Two.",
            "A",
            ("https://News.Example/a",),
            "2020",
            "web",
        )


def test_a_link_without_a_host_has_none() -> None:
    for link in ("notes/a.txt", "", "http://[bad"):
        assert passages_of(Page(link=link, text="T."), "pages")[0].host is None


def test_words_of_a_long_page_all_come_back() -> None:
    text = numbered_text([17] * 300)
    assert set(words(text)) == {word for chunk in chunks(text) for word in words(chunk)}
