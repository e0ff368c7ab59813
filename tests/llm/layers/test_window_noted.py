"""Wherever the window decides something, the ledger of the response says so; and nowhere else."""

from typing import Any

import pytest

from localfact.assess.fitting import fit_passages
from localfact.claims.chunked import ChunkedExtractor
from localfact.errors import PromptTooLongError
from localfact.llm.calls import GenerateCall
from localfact.llm.engine import Chat, Generation, Message
from localfact.llm.layers.metering import MeteringLayer
from localfact.llm.scripted import ScriptedEngine
from localfact.records import Passage, Response
from localfact.runtime.usage import Ledger, Usage, usage_counted_in

CHAT: Chat = (Message("user", "one two three four five"),)
WIDE = 100_000


@pytest.mark.parametrize("window", [5, WIDE])
async def test_a_prompt_that_is_too_long(window: int) -> None:
    with usage_counted_in(ledger := Ledger()):
        try:
            await MeteringLayer(ScriptedEngine(window=window)).choose(CHAT, ["yes", "no"], stage="relate")
        except PromptTooLongError:
            assert window == 5
    assert ledger.window == (5 if window == 5 else None)


@pytest.mark.parametrize(("tokens", "noted"), [(3, 64), (20, None)])
async def test_an_answer_that_ends_before_as_many_tokens_as_it_might_have(tokens: int, noted: int | None) -> None:
    class Cut(ScriptedEngine):
        async def answer_generate(self, call: GenerateCall) -> Generation:
            return Generation(text="", finish="length", usage=Usage(output_tokens=tokens))

    with usage_counted_in(ledger := Ledger()):
        await MeteringLayer(Cut(window=64)).generate(CHAT, max_tokens=20, stage="extract")
    assert ledger.window == noted


async def prompt_tokens(response: Response) -> int:
    engine = ScriptedEngine(lambda chat: "No verifiable claim.")
    await ChunkedExtractor(engine).extract(response)
    return await engine.count(engine.calls[0])


@pytest.mark.parametrize(("room", "noted"), [(0, False), (-1, True)])
async def test_an_extraction_with_less_room_for_its_answer_than_it_may_have(room: int, noted: bool) -> None:
    response = Response(id="r", text="Ice floats on water.")
    extractor = ChunkedExtractor(ScriptedEngine(lambda chat: "No verifiable claim."))
    window = await prompt_tokens(response) + extractor.max_tokens + room
    with usage_counted_in(ledger := Ledger()):
        await ChunkedExtractor(ScriptedEngine(lambda chat: "No verifiable claim.", window=window)).extract(response)
    assert ledger.window == (window if noted else None)


@pytest.mark.parametrize(("window", "left_out"), [(WIDE, 0), (12, 1)])
async def test_passages_that_are_left_out_of_a_verification(window: int, left_out: int) -> None:
    passages = [Passage(id=name, text="word " * 8) for name in ("first", "second")]

    def chat_of(shown: Any) -> Chat:
        return (Message("user", "".join(passage.text for passage in shown)),)

    with usage_counted_in(ledger := Ledger()):
        found = await fit_passages(ScriptedEngine(window=window), passages, chat_of, decision="", max_tokens=2)
    assert found.left_out == left_out
    assert ledger.window == (window if left_out else None)
