"""What the grammars allow is what the parsers read, and nothing else is allowed."""

import re

import pytest

from localfact.assess.verification import VERDICT_OF
from localfact.assess.verification import read_answer as read_verification
from localfact.claims.answers import read_answer
from localfact.claims.revision_answers import read_revision
from localfact.claims.units import read_units
from localfact.llm.engine import Generation
from localfact.prompts.grammars import (
    atomization_grammar,
    extraction_grammar,
    query_grammar,
    revision_grammar,
    verification_grammar,
)

TEXT = "Ice floats on water."


@pytest.mark.parametrize(
    "answer",
    [
        "- Ice floats on water. ###SUPPORTED###",
        "- Ice floats on water. ###LIKELY NON-SUPPORTED###\n- C# is a language. ###UNSURE###",
        "- Zażółć gęślą jaźń; 冰浮在水面上。 ###IRRELEVANT###",
    ],
)
def test_every_claim_of_a_guided_extraction_is_read(answer: str) -> None:
    assert re.fullmatch(extraction_grammar(TEXT, claims=True), answer)
    found = read_answer(answer)
    assert len(found.claims) == answer.count("\n") + 1
    assert not found.unparsed
    assert all(claim.label for claim in found.claims)


@pytest.mark.parametrize(
    "answer",
    [
        "Sure! - Ice floats on water. ###SUPPORTED###",
        "- Ice floats on water.",
        "- Ice floats on water. ###TRUE###",
        "- Ice floats on water. ###SUPPORTED###\n\nNote: ice is lighter.",
        "No verifiable claim.",
    ],
)
def test_a_guided_extraction_of_a_text_that_states_something_is_claims_alone(answer: str) -> None:
    assert not re.fullmatch(extraction_grammar(TEXT, claims=True), answer)


def test_only_of_a_text_that_states_nothing_it_may_be_said() -> None:
    for grammar in (extraction_grammar, atomization_grammar):
        assert re.fullmatch(grammar("Good luck!", claims=False), "No verifiable claim.")
        assert not re.fullmatch(grammar(TEXT, claims=True), "No verifiable claim.")


def test_a_longer_text_may_have_more_claims_and_texts_of_a_length_share_a_grammar() -> None:
    lines = "\n".join(f"[{number}] Ice floats on water." for number in range(1, 31))
    assert not re.fullmatch(atomization_grammar(TEXT, claims=True), lines)
    assert re.fullmatch(atomization_grammar(f"{TEXT} " * 40, claims=True), lines)
    assert len(read_units(lines).claims) == 30
    assert atomization_grammar("word " * 100, claims=True) == atomization_grammar("word " * 150, claims=True)


def test_a_guided_revision_is_read_without_its_signs() -> None:
    answer = "###Ice floats on water.###"
    assert re.fullmatch(revision_grammar("It floats on water."), answer)
    assert read_revision(Generation(text=answer), "It floats on water.") == TEXT


@pytest.mark.parametrize("end", ["###", "", "\n", "\n\n"])
def test_a_guided_revision_may_end_where_the_claim_does(end: str) -> None:
    claim = "It holds " + "water, " * 40 + "and ice."
    answer = f"###{claim.replace('It', 'The mill')}{end}"
    assert re.fullmatch(revision_grammar(claim), answer)
    assert read_revision(Generation(text=answer), claim) == answer.strip("#\n")


def test_a_query_is_one_line() -> None:
    assert re.fullmatch(query_grammar(1), "does ice float")
    assert not re.fullmatch(query_grammar(1), "does ice float\nor sink")
    assert re.fullmatch(query_grammar(2), "does ice float\nor sink")
    assert not re.fullmatch(query_grammar(2), "does ice float")


@pytest.mark.parametrize("label", VERDICT_OF)
def test_a_guided_verification_reasons_freely_and_then_decides(label: str) -> None:
    grammar = verification_grammar(VERDICT_OF, 200)
    answer = f"Evidence 1 says so.\nAnd so does Evidence 2.\nDecision: ###{label}###"
    assert re.fullmatch(grammar, answer)
    assert read_verification(answer).label is VERDICT_OF[label]
    assert re.fullmatch(grammar, "Evidence 1 says so.")  # a model that has no more to say
    assert not re.fullmatch(grammar, f"Decision: ###{label}###")
    assert not re.fullmatch(grammar, f"{'so ' * 70}\nDecision: ###{label}###")
