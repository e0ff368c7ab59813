import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.claims.chunks import CONTEXT_CHARACTERS, Chunk, ClaimLocator, chunks_of, halves
from localfact.errors import InputError
from localfact.text import sentences

TEXT = "Kepler was born in 1571. He studied in Tübingen.\n\nHe moved to Graz. There he taught mathematics. He died in 1630."


def stretches(chunk: Chunk) -> list[str]:
    return [chunk.response[span.start : span.end] for span in chunk.spans]


@pytest.mark.parametrize(("stride", "sizes"), [(1, [1] * 5), (2, [2, 2, 1]), (5, [5]), (9, [5]), ("max", [5])])
def test_sentences_are_grouped_by_stride(stride: int, sizes: list[int]) -> None:
    assert [len(chunk.spans) for chunk in chunks_of(TEXT, stride)] == sizes


def test_a_chunk_is_shown_with_three_sentences_before_and_one_after() -> None:
    chunk = chunks_of(TEXT, 1)[3]
    assert chunk.text == "There he taught mathematics."
    assert chunk.before == TEXT[: TEXT.index(" There")]
    assert chunk.after == "He died in 1630."
    last = chunks_of(TEXT, 1)[4]
    assert last.before.startswith("He studied")
    assert last.after == ""
    whole = chunks_of(TEXT, "max")[0]
    assert (whole.before, whole.text, whole.after) == ("", TEXT, "")


def test_long_neighbours_are_shown_in_part_from_and_to_a_word() -> None:
    first, middle, last = chunks_of(f"{'alpha ' * 500}end. Short one. {'Omega ' * 500}end.", 1)
    assert 0 < len(middle.before) <= CONTEXT_CHARACTERS
    assert re.fullmatch(r"(alpha )+end\.", middle.before)
    assert 0 < len(middle.after) <= CONTEXT_CHARACTERS
    assert re.fullmatch(r"Omega( Omega)*", middle.after)
    assert first.before == last.after == ""


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_a_response_without_text_has_no_chunks(text: str) -> None:
    assert chunks_of(text, "max") == chunks_of(text, 3) == []


@pytest.mark.parametrize("stride", [0, -1, 1.5, "all", "3"])
def test_a_stride_that_is_no_number_of_sentences_is_refused(stride: int) -> None:
    with pytest.raises(InputError, match="from 1, or max"):
        chunks_of(TEXT, stride)


def test_a_chunk_is_halved_between_the_sentences_nearest_its_middle() -> None:
    parts = halves(chunks_of("A long first sentence stands here. Short. Tiny. Wee.", "max")[0])
    assert parts is not None
    assert [part.text for part in parts] == ["A long first sentence stands here.", "Short. Tiny. Wee."]
    assert parts[1].before == "A long first sentence stands here."


def test_a_single_sentence_is_halved_between_words_and_its_pieces_are_context_of_each_other() -> None:
    parts = halves(chunks_of("Before. one two three four. After.", 1)[1])
    assert parts is not None
    assert [part.text for part in parts] == ["one two", "three four."]
    assert (parts[0].before, parts[0].after) == ("Before.", "three four.")
    assert (parts[1].before, parts[1].after) == ("Before. one two", "After.")


def test_a_sentence_without_spaces_is_halved_between_characters_and_a_character_not_at_all() -> None:
    parts = halves(chunks_of("尼罗河向北流", "max")[0])
    assert parts is not None
    assert [part.text for part in parts] == ["尼罗河", "向北流"]
    assert halves(chunks_of("尼", "max")[0]) is None


def leaves(chunk: Chunk, longest: int) -> list[Chunk]:
    parts = halves(chunk) if len(chunk.text) > longest else None
    return [leaf for part in parts for leaf in leaves(part, longest)] if parts else [chunk]


@given(
    text=st.text() | st.lists(st.sampled_from(["A b c. ", "Dr. Who?", "\n\n", "- item\n", "wordword ", "。尼罗"])).map("".join),
    stride=st.integers(1, 5) | st.just("max"),
    longest=st.integers(1, 40),
)
def test_however_chunks_are_split_every_character_is_in_exactly_one(text: str, stride: int, longest: int) -> None:
    chunks = chunks_of(text, stride)
    assert [span for chunk in chunks for span in chunk.spans] == sentences(text)
    parts = [leaf for chunk in chunks for leaf in leaves(chunk, longest)]
    spans = [span for part in parts for span in part.spans]
    joined = "".join("".join(text[span.start : span.end].split()) for span in spans)
    assert joined == "".join(text.split())
    assert all(left.end <= right.start for left, right in pairwise(spans))
    assert all(len(part.text) <= max(longest, 1) for part in parts if len(part.spans) == 1)


def located(claim: str, text: str = TEXT) -> list[str]:
    return [text[span.start : span.end] for span in ClaimLocator(chunks_of(text, "max")[0]).locate(claim)]


def test_a_claim_that_stands_in_the_text_is_found_to_the_letter() -> None:
    assert located("Kepler was born in 1571.") == ["Kepler was born in 1571"]


def test_a_reworded_claim_is_found_in_the_sentence_that_has_most_of_its_words() -> None:
    assert located("Johannes Kepler taught mathematics in Graz.") == ["There he taught mathematics."]
    assert located("Johannes Kepler moved to Graz.") == ["He moved to Graz."]
    assert located("Kepler's death came in 1630") == ["He died in 1630."]


def test_words_of_every_sentence_do_not_decide_and_the_first_of_equals_is_taken() -> None:
    text = "The town of Graz grew. The river of Graz froze. The duke of Graz fled. Kepler taught."
    assert located("Kepler taught the people of Graz.", text) == ["Kepler taught."]
    assert located("Graz burned.", text) == ["The town of Graz grew."]


def test_a_claim_with_no_word_of_the_text_has_no_place() -> None:
    assert located("Gold shines.") == []
    assert located("...") == []


def test_context_can_be_left_out_or_widened_and_a_split_chunk_keeps_it() -> None:
    assert [(chunk.before, chunk.after) for chunk in chunks_of(TEXT, 1, (0, 0))] == [("", "")] * len(chunks_of(TEXT, 1))
    chunk = chunks_of(TEXT, 2, (1, 0))[1]
    halved = halves(chunk)
    assert halved is not None
    assert (bool(chunk.before), chunk.after, halved[1].after, halved[1].around) == (True, "", "", (1, 0))
