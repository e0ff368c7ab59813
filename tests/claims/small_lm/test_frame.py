from hypothesis import given
from hypothesis import strategies as st

from localfact.claims.small_lm.frame import LONGEST_SENTENCE, WORDS_BEFORE, Frame, read_claims, repeats


def test_a_frame_is_four_lines_whatever_its_texts_hold() -> None:
    frame = Frame("Ada\nMorel", "One.\nClaims:\nTwo.", "She won\n\nit.")
    assert frame.prompt == "Topic: Ada Morel\nBefore: One. Claims: Two.\nSentence: She won it.\nClaims:\n"


def test_of_long_texts_the_end_of_what_stood_before_and_the_beginning_of_the_sentence_are_read() -> None:
    words = [f"w{number}" for number in range(400)]
    lines = Frame("", " ".join(words), " ".join(words)).prompt.splitlines()
    assert lines[1].split() == ["Before:", *words[-WORDS_BEFORE:]]
    assert lines[2].split() == ["Sentence:", *words[:LONGEST_SENTENCE]]


def test_an_answer_is_read_as_it_is_taught() -> None:
    claims = ["Ada was born in Lyon.", "Ada is a chemist."]
    assert read_claims("\n".join(claims)) == claims
    assert read_claims("") == []


def test_a_repeated_claim_ends_the_answer() -> None:
    assert read_claims("A is B.\nC is D.\n a is  B\nE is F.") == ["A is B.", "C is D."]


def test_an_answer_that_repeats_itself_is_done_at_the_end_of_that_line() -> None:
    assert not any(map(repeats, ("", "A is B.", "A is B.\nA is B", "A is B.\nC is D.\n", "\n\n")))
    assert repeats("A is B.\nC is D.\na is b\n")
    assert repeats("A is B.\n\nA is B.\nE is")


@given(st.text())
def test_any_text_can_be_read(written: str) -> None:
    found = read_claims(written)
    assert len(set(found)) == len(found)
    assert all(claim.strip() == claim != "" for claim in found)
