"""How long pairs are cut: everything is read, every window fits, the premise is cut first; and how windows are joined."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.errors import InputError
from localfact.records import Distribution, Failure, Pair
from localfact.relations.windows import (
    SENTENCE_SHARE,
    SENTENCE_TOKENS,
    join_windows,
    measure_cutting,
    measure_cutting_async,
    pieces,
    windows,
)


def words(text: str) -> int:
    return len(text.split())


def letters(text: str) -> int:
    return len(text)


TEXT = "One two three. Four five. Six seven eight nine. Ten."
TEXTS = st.text(st.sampled_from("ab. \n北。🙂"), max_size=60)


def squeezed(*texts: str) -> str:
    return "".join("".join(texts).split())


def test_a_text_that_fits_is_its_own_only_piece() -> None:
    assert measure_cutting(pieces("  as it is ", 3), words) == ["  as it is "]
    assert measure_cutting(pieces("", 0), words) == [""]


def test_pieces_end_with_sentences_and_are_as_long_as_they_can_be() -> None:
    assert measure_cutting(pieces(TEXT, 5), words) == ["One two three. Four five.", "Six seven eight nine. Ten."]
    assert measure_cutting(pieces(TEXT, 9), words) == ["One two three. Four five. Six seven eight nine.", "Ten."]


def test_a_sentence_that_is_too_long_is_cut_between_words_and_its_rest_goes_on_with_the_next() -> None:
    assert measure_cutting(pieces(TEXT, 3), words) == ["One two three.", "Four five.", "Six seven eight", "nine. Ten."]


def test_a_word_that_is_too_long_is_cut_between_characters() -> None:
    assert measure_cutting(pieces("ab cdefgh ij", 4), letters) == ["ab", "cdef", "gh", "ij"]


def test_a_limit_that_leaves_no_room_for_a_character_is_an_error() -> None:
    with pytest.raises(InputError, match="too few"):
        measure_cutting(pieces(TEXT, 0), words)


@given(TEXTS, st.integers(1, 30))
def test_pieces_lose_nothing_and_fit(text: str, limit: int) -> None:
    found = measure_cutting(pieces(text, limit), letters)
    assert squeezed(*found) == squeezed(text)
    assert all(len(piece) <= limit for piece in found)
    assert all(found) or found in ([text], [""])


@given(TEXTS, TEXTS, st.integers(2, 40), st.integers(1, 10))
def test_windows_read_everything_fit_and_cut_the_hypothesis_only_where_it_leaves_no_room(
    premise: str, hypothesis: str, room: int, step: int
) -> None:
    read = measure_cutting(windows(Pair(premise, hypothesis), room, step=step), letters)
    premises, hypotheses = ({pair.premise: None for pair in read}, {pair.hypothesis: None for pair in read})
    assert all(len(pair.premise) + len(pair.hypothesis) <= room for pair in read)
    assert len(read) >= len(premises) * len(hypotheses)
    assert {(pair.premise, pair.hypothesis) for pair in read} == {(one, other) for one in premises for other in hypotheses}
    assert set(squeezed(*premises)) == set(squeezed(premise))
    assert set(squeezed(*hypotheses)) == set(squeezed(hypothesis))
    if len(premise) + len(hypothesis) <= room:
        assert read == [Pair(premise, hypothesis)]
    sentence = min(len(premise), SENTENCE_TOKENS, max(1, room // SENTENCE_SHARE))
    if room - len(hypothesis) >= sentence:
        assert list(hypotheses) == [hypothesis]
    else:
        assert hypothesis not in hypotheses


def test_each_piece_of_a_passage_is_read_with_each_window_of_the_other() -> None:
    read = measure_cutting(windows(Pair("a b. c d. e f.", "g h. i j. k l."), 4), words)
    assert [(pair.premise, pair.hypothesis) for pair in read] == [
        (premise, hypothesis) for hypothesis in ("g h.", "i j.", "k l.") for premise in ("a b.", "c d.", "e f.")
    ]


def test_a_short_premise_leaves_a_long_hypothesis_more_than_half_of_the_room() -> None:
    read = measure_cutting(windows(Pair("A.", "Bee cat dog. Egg fog gas. Hat ink jam."), 8), words)
    assert read == [Pair("A.", "Bee cat dog. Egg fog gas."), Pair("A.", "Hat ink jam.")]


def test_hypotheses_of_similar_length_share_the_windows_of_a_premise() -> None:
    premise = " ".join(f"a{number} b{number} c." for number in range(20))
    shown = {
        tuple(pair.premise for pair in measure_cutting(windows(Pair(premise, " ".join("x" * length)), 40, step=10), words))
        for length in range(1, 11)
    }
    assert len(shown) == 1
    assert len(*shown) == 2


async def test_an_engine_that_must_be_waited_for_cuts_alike() -> None:
    async def waited(text: str) -> int:
        return words(text)

    pair = Pair(TEXT, "x y.")
    assert await measure_cutting_async(windows(pair, 6), waited) == measure_cutting(windows(pair, 6), words)
    with pytest.raises(InputError, match="too few"):
        await measure_cutting_async(windows(pair, 1), waited)


def joined_whole(*read: Distribution) -> Distribution:
    """What is said of a pair whose windows each hold all of its premise."""
    said = join_windows("p", [Pair("p", "h")] * len(read), read)
    assert isinstance(said, Distribution)
    return said


def test_the_most_decided_window_speaks_for_all() -> None:
    unsure = Distribution(entailment=0.45, contradiction=0.15, neutral=0.4)
    refuted = Distribution(entailment=0.1, contradiction=0.6, neutral=0.3, windows=2)
    nothing = Distribution(entailment=0.005, contradiction=0.005, neutral=0.99)
    assert joined_whole(unsure, refuted, nothing) == refuted.model_copy(update={"windows": 4})
    assert joined_whole(nothing) == nothing


def test_of_equally_decided_windows_the_first_speaks() -> None:
    entailed = Distribution(entailment=0.6, contradiction=0.1, neutral=0.3)
    refuted = Distribution(entailment=0.1, contradiction=0.6, neutral=0.3)
    assert joined_whole(entailed, refuted).entailment == 0.6
    assert joined_whole(refuted, entailed).contradiction == 0.6


def test_a_prediction_says_which_window_decided() -> None:
    premise = "It was cold. The river froze in May. Nobody came.\x00 It was late."
    several = [Pair("It was cold.", "h"), Pair("Nobody came.\N{REPLACEMENT CHARACTER} It was late.", "h")]
    sure, unsure = (Distribution(entailment=p, contradiction=0, neutral=1 - p) for p in (0.9, 0.2))
    said = join_windows(premise, several, [unsure, sure])
    assert isinstance(said, Distribution)
    assert said.window is not None
    assert premise[said.window.start : said.window.end] == "Nobody came.\x00 It was late."
    assert join_windows(premise, [Pair(premise, "h")], [sure]) == sure
    failed = Failure(reason="NaN")
    assert join_windows(premise, several, [failed, sure]) == failed
