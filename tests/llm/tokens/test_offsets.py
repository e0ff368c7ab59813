from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import byte_tokenizer, piece_tokenizer
from tokenizers.decoders import DecodeStream

from localfact.llm.tokens.offsets import Placed, Writing, spans, write

TOKENIZERS = {"bytes": byte_tokenizer(), "pieces": piece_tokenizer()}
PROMPT = "The answer is"


def silent(tokenizer: Any) -> frozenset[int]:
    return frozenset(number for number, token in tokenizer.get_added_tokens_decoder().items() if token.special)


def written(tokenizer: Any, tokens: list[int]) -> Writing:
    return write(tokenizer, tokenizer.encode(PROMPT).ids, tokens, silent(tokenizer))


def continuation(tokenizer: Any, text: str) -> list[int]:
    """The tokens of `text` where it stands after the prompt."""
    begun = tokenizer.encode(PROMPT).ids
    ids = tokenizer.encode(PROMPT + text).ids
    assert ids[: len(begun)] == begun
    return ids[len(begun) :]


def pieces_of(writing: Writing) -> list[str]:
    return [writing.text[place.start : place.end] for place in writing.places]


@pytest.mark.parametrize("kind", TOKENIZERS)
@pytest.mark.parametrize("text", [" true or false", " café in Zürich", " 🌦 東京 😀", " naïve 😀", "\n### Supported ###"])
def test_text_comes_back_and_its_tokens_cover_it(kind: str, text: str) -> None:
    writing = written(TOKENIZERS[kind], continuation(TOKENIZERS[kind], text))
    assert writing.text == text
    assert {place for token in writing.places for place in range(token.start, token.end)} == set(range(len(text)))


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_every_token_of_a_split_character_has_that_characters_place(kind: str) -> None:
    tokens = continuation(TOKENIZERS[kind], " a😀b")
    writing = written(TOKENIZERS[kind], tokens)
    emoji = [place for place in writing.places if writing.text[place.start : place.end] == "😀"]
    assert len(emoji) == {"bytes": 3, "pieces": 4}[kind]
    assert {(place.start, place.end) for place in emoji} == {(2, 3)}
    assert pieces_of(writing)[-1] == "b"


def test_a_leading_space_belongs_to_the_piece_that_carries_it() -> None:
    writing = written(TOKENIZERS["pieces"], continuation(TOKENIZERS["pieces"], " true claim"))
    assert "".join(pieces_of(writing)) == " true claim"
    assert pieces_of(writing)[0].startswith(" ")


def test_special_tokens_stand_for_no_text_and_have_no_place() -> None:
    tokenizer = TOKENIZERS["bytes"]
    tokens = continuation(tokenizer, " yes")
    mark = tokenizer.token_to_id("<|user|>")
    writing = written(tokenizer, [tokens[0], mark, *tokens[1:], mark])
    assert writing.text == " yes"
    assert [place.number for place in writing.places] == [0, *range(2, 1 + len(tokens))]


def test_a_character_that_is_never_finished_is_not_written() -> None:
    tokenizer = TOKENIZERS["pieces"]
    tokens = continuation(tokenizer, " a😀")[:-1]
    assert written(tokenizer, tokens).text == " a"


def test_a_run_of_bytes_that_breaks_late_keeps_the_places_of_the_rest() -> None:
    """é is given out, then the next byte makes the whole run invalid: the decoder starts anew, as vLLM's does."""
    tokenizer = TOKENIZERS["pieces"]
    byte = [tokenizer.token_to_id(name) for name in ("<0xD1>", "<0x8F>", "<0x80>")]
    after = tokenizer.token_to_id("a")
    writing = written(tokenizer, [*byte, after])
    assert writing.text == "яa"
    assert writing.places == ((0, 0, 1), (1, 0, 1), (3, 1, 2))


def test_a_cut_clips_the_token_it_goes_through_and_leaves_out_what_follows() -> None:
    writing = Writing("abcdef", (Placed(0, 0, 2), Placed(1, 2, 5), Placed(2, 5, 6)))
    assert writing.cut(4) == ("abcd", ((0, 0, 2), (1, 2, 4)))
    assert writing.cut(2) == ("ab", ((0, 0, 2),))
    assert writing.cut(0) == ("", ())


def test_a_text_that_is_not_the_tokens_is_replaced_by_theirs() -> None:
    writing = Writing("so it is END", (Placed(0, 0, 5), Placed(1, 5, 12)))
    assert writing.fit("so it is END", ()) == writing
    assert writing.fit("so it is ", ["END"]).text == "so it is "
    assert writing.fit("another text", ()) == writing
    assert writing.fit("another text", ["END"]) == writing.cut(9)


def test_bytes_that_complete_and_begin_characters_in_one_token_get_both_places() -> None:
    assert spans([" caf�", " café au"], " café au") == [(0, 5), (4, 8)]
    assert spans(["�", "��", "���", "😀"], "😀") == [(0, 1)] * 4
    assert spans(["�", "�a"], "�a") == [(0, 1), (1, 2)]
    assert spans(["�", "�", "�a"], "�a") == [(0, 1), (0, 1), (1, 2)]


@pytest.mark.parametrize("kind", TOKENIZERS)
@given(data=st.data())
def test_any_tokens_at_all_are_placed_in_order_and_cover_the_streams_text(kind: str, data: st.DataObject) -> None:
    """Random tokens, as a random model says them: broken characters, marks, bytes in any order."""
    tokenizer = TOKENIZERS[kind]
    tokens = data.draw(st.lists(st.integers(0, tokenizer.get_vocab_size() - 1), max_size=30))
    writing = written(tokenizer, tokens)
    assert writing.text == streamed(tokenizer, tokens)
    reached = 0
    for before, place in zip((None, *writing.places), writing.places, strict=False):
        assert 0 <= place.start < place.end <= len(writing.text)
        assert place.start <= reached  # no gap
        if before is not None:
            assert before.number < place.number
            assert before.start <= place.start
            assert place.start >= before.end - 1  # an overlap is one shared character
        reached = max(reached, place.end)
    assert reached == len(writing.text)


def streamed(tokenizer: Any, tokens: list[int]) -> str:
    stream = DecodeStream(ids=tokenizer.encode(PROMPT).ids, skip_special_tokens=True)
    text = ""
    for token in tokens:
        try:
            text += stream.step(tokenizer, token) or ""
        except Exception:  # the only error there is: a run that broke late
            stream = DecodeStream(skip_special_tokens=True)
            text += stream.step(tokenizer, token) or ""
    return text
