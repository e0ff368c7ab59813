"""Claims are taken from the answer alone, wherever a reasoning trace ends."""

import pytest

from localfact.claims.answer_only import TRACES, WARNING, AnswerOnly
from localfact.claims.rules.extractor import RuleExtractor
from localfact.records import Response


@pytest.mark.parametrize("between", ["\n</think>\n\n", "</think>", "\n</think> "])
async def test_no_claim_is_taken_from_a_reasoning_trace_and_traces_are_counted(between: str) -> None:
    text = f"<think>\nAda Morel was born in Rome.{between}Ada Morel was born in Lyon.\n\nWhat a life!\n\nWhat a town!"
    found = await AnswerOnly(RuleExtractor()).extract(Response(id="r", text=text))
    assert [(claim.text, text[claim.spans[0].start : claim.spans[0].end]) for claim in found.claims] == [
        ("Ada Morel was born in Lyon.", "Ada Morel was born in Lyon")
    ]
    assert found.counts == {TRACES: 1}
    assert found.warnings == (WARNING,)


async def test_a_response_that_never_stops_thinking_states_nothing() -> None:
    found = await AnswerOnly(RuleExtractor()).extract(Response(id="r", text="<think>\nAda Morel was born in Rome."))
    assert found.claims == ()
    assert found.counts == {TRACES: 1}


async def test_a_response_without_a_trace_is_handed_on_as_it_is() -> None:
    response = Response(id="r", text="Ada Morel was born in Lyon.")
    assert await AnswerOnly(RuleExtractor()).extract(response) == await RuleExtractor().extract(response)
