"""How a response is cut and asked about where window or answer is too short for it, seen through FastFact's extractor."""

import asyncio
import re

import pytest
from asked_models import LastFirstEngine, shown
from chunked_extractions import TEXT, echo, extract, frame, texts

from localfact.claims.asking import SMALLEST_ROOM
from localfact.claims.chunked import ChunkedExtractor
from localfact.errors import InputError, PromptTooLongError, UnreadableAnswerError
from localfact.llm.engine import Chat, Generation
from localfact.llm.scripted import ScriptedEngine
from localfact.prompts.grammars import LONGEST
from localfact.records import Response


@pytest.mark.parametrize(("stride", "chunks"), [(1, 4), (2, 2), (3, 2), ("max", 1)])
async def test_every_chunk_is_asked_once_with_its_context_and_claims_keep_the_order_of_the_text(
    stride: object, chunks: int
) -> None:
    engine = ScriptedEngine(echo())
    extraction = await extract(engine, stride=stride)
    assert texts(extraction) == ["Kepler was born in 1571.", "He studied in Tübingen.", "He moved to Graz.", "He died in 1630."]
    assert [claim.id for claim in extraction.claims] == ["c1", "c2", "c3", "c4"]
    assert " ".join(shown(call) for call in engine.calls) == TEXT
    assert extraction.counts["chunks"] == len(engine.calls) == chunks
    assert all(shown(call, "question") == "Who was Kepler?" for call in engine.calls)
    if chunks == 4:
        assert shown(engine.calls[2], "before") == "Kepler was born in 1571. He studied in Tübingen."
        assert shown(engine.calls[2], "after") == "He died in 1630."


async def test_chunks_are_asked_at_the_same_time_and_a_late_answer_keeps_its_place() -> None:
    engine = LastFirstEngine(echo(), 4)
    extraction = await extract(engine, stride=1)
    assert shown(engine.calls[0]) == "He died in 1630."
    assert texts(extraction)[-1] == "He died in 1630."


async def test_a_prompt_that_leaves_no_room_for_the_answer_is_split_and_nothing_is_lost() -> None:
    text = " ".join(f"In {1500 + number} Kepler counted {number} stars." for number in range(32))
    response = Response(id="r", text=text, prompt="Who was Kepler?")
    window = await asyncio.to_thread(frame, response) + 600
    engine = ScriptedEngine(echo(), window=window)
    extraction = await extract(engine, text, max_tokens=400)
    assert texts(extraction) == re.findall(r"In .*?\.", text)
    assert extraction.counts["chunks_split"] == extraction.counts["chunks"] - 1 > 0
    assert len(engine.calls) == extraction.counts["chunks"]
    assert extraction.warnings == ()


async def test_a_single_sentence_makes_do_with_the_room_that_is_left() -> None:
    response = Response(id="r", text="Kepler died.", prompt="Who was Kepler?")
    window = await asyncio.to_thread(frame, response) + 200
    extraction = await extract(ScriptedEngine(echo(), window=window), "Kepler died.", max_tokens=2048)
    assert texts(extraction) == ["Kepler died."]
    assert extraction.counts["chunks_split"] == 0


async def test_a_single_sentence_too_long_for_the_window_is_split_between_words() -> None:
    text = " ".join(f"word{number}" for number in range(400)) + "."
    response = Response(id="r", text=text, prompt="Who was Kepler?")
    window = await asyncio.to_thread(frame, response) + SMALLEST_ROOM + 200
    engine = ScriptedEngine(lambda chat: "No verifiable claim.", window=window)
    extraction = await extract(engine, text)
    assert " ".join(sorted(map(shown, engine.calls), key=text.index)) == text
    assert len(engine.calls) == extraction.counts["chunks"] > 1
    assert extraction.claims == ()
    assert extraction.warnings == ()


async def test_a_short_sentence_between_long_ones_is_asked_about_without_them_where_they_fill_the_window() -> None:
    long = " ".join(f"word{number}" for number in range(200))
    text = f"It began with {long}. He died. It ended with {long}."
    response = Response(id="r", text=text, prompt="Who was Kepler?")
    window = await asyncio.to_thread(frame, response) + SMALLEST_ROOM + 60
    engine = ScriptedEngine(echo(), window=window)
    extraction = await extract(engine, text)
    assert "He died." in texts(extraction)
    assert [shown(call) for call in engine.calls].count("He died.") == 1


async def test_an_error_of_one_chunk_is_raised_once_all_were_asked() -> None:
    class Refusing(ScriptedEngine):
        async def generate(self, chat, **options):  # type: ignore[no-untyped-def]
            if "1571" in shown(chat):
                raise InputError("This one not.")
            await asyncio.sleep(0)
            return await super().generate(chat, **options)

    engine = Refusing(echo())
    with pytest.raises(InputError, match="This one not"):
        await extract(engine, stride=1)
    assert len(engine.calls) == 3


async def test_a_window_in_which_not_even_one_character_fits_is_an_error_that_says_so() -> None:
    class Bytewise(ScriptedEngine):
        async def count(self, chat: Chat, *, prefix: str = "") -> int:
            """A letter of the Gothic script is four tokens more, as where each byte is one."""
            return await super().count(chat, prefix=prefix) + 4 * sum(message.content.count("𐍈") for message in chat)

    response = Response(id="r", text="𐍈𐍈𐍈𐍈", prompt="Who was Kepler?")
    window = await asyncio.to_thread(frame, response) + SMALLEST_ROOM + 2
    engine = Bytewise(echo(), window=window)
    with pytest.raises(PromptTooLongError, match=rf"Not one character .* window of {window:,} tokens"):
        await extract(engine, response.text)
    assert engine.calls == []


async def test_a_window_that_instructions_and_question_fill_is_an_error_with_the_numbers_and_no_call() -> None:
    engine = ScriptedEngine(echo(), window=500)
    with pytest.raises(PromptTooLongError, match=r"take 1,\d\d\d tokens .* at least 128; .* has 500"):
        await extract(engine)
    assert engine.calls == []


async def test_an_answer_cut_at_its_longest_is_thrown_away_and_the_chunk_asked_in_halves() -> None:
    engine = ScriptedEngine(echo())
    extraction = await extract(engine, max_tokens=35)
    assert texts(extraction) == re.findall(r"[A-Z].*?\.", TEXT)
    assert extraction.counts["chunks_split"] == extraction.counts["answers_cut"] == 1
    assert extraction.counts["chunks"] == 2
    assert [shown(call) for call in engine.calls] == [TEXT, TEXT[:48], TEXT[49:]]
    assert extraction.warnings == ()


async def test_of_a_single_sentences_cut_answer_the_whole_lines_are_kept_with_a_warning() -> None:
    answer = "- Kepler lived. ###SUPPORTED###\n- Kepler died. ###SUPPORTED###"
    extraction = await extract(ScriptedEngine(lambda chat: answer), "Kepler died.", max_tokens=16)
    assert texts(extraction) == ["Kepler lived."]
    assert extraction.unparsed == ("- Kepler died. ###SUPPORTED",)
    assert extraction.counts["answers_cut"] == 1
    assert extraction.counts["chunks_split"] == 0
    assert len(extraction.warnings) == 1


async def test_a_model_that_only_talks_is_asked_about_quarters_at_the_least_and_what_it_says_is_shown() -> None:
    engine = ScriptedEngine(lambda chat: "Let me think about it. " * 100)
    with pytest.raises(UnreadableAnswerError, match="Let me think about it"):
        await extract(engine, " ".join([TEXT] * 4), max_tokens=50)
    assert len(engine.calls) == 1 + 2 + 4


async def test_a_chunk_that_is_too_much_for_a_model_to_answer_about_is_split_until_it_is_not() -> None:
    answers = echo()
    engine = ScriptedEngine(lambda chat: "Hm. " * 100 if len(shown(chat)) > 40 else answers(chat))
    extraction = await extract(engine, max_tokens=50)
    assert texts(extraction) == re.findall(r"[A-Z].*?\.", TEXT)
    assert extraction.warnings == ()


async def test_an_empty_response_is_asked_nothing() -> None:
    engine = ScriptedEngine(echo())
    assert (await extract(engine, " \n")).claims == ()
    assert engine.calls == []


async def test_an_answer_that_only_repeats_itself_keeps_its_whole_lines_and_is_not_asked_again() -> None:
    class RepeatingEngine(ScriptedEngine):
        async def generate(self, chat: Chat, **settings: object) -> Generation:  # type: ignore[override]
            answer = await super().generate(chat, **settings)  # type: ignore[arg-type]
            return answer.model_copy(update={"finish": "repetition"})

    engine = RepeatingEngine(lambda chat: "- Ice floats. ###SUPPORTED###\n- Ice floats. ###SUPPORTED###\n- Ice flo")
    found = await ChunkedExtractor(engine).extract(Response(id="r", text="Ice floats. Iron does not. Wood does."))
    assert texts(found) == ["Ice floats."]
    assert found.unparsed == ("- Ice flo",)
    assert found.counts["answers_repeating"] == 1
    assert len(engine.calls) == 1


async def test_claims_that_the_grammar_cut_are_counted_and_told() -> None:
    class GuidedEngine(ScriptedEngine):
        async def generate(self, chat: Chat, **settings: object) -> Generation:  # type: ignore[override]
            answer = await super().generate(chat, **settings)  # type: ignore[arg-type]
            return answer.model_copy(update={"masked": True})

    cut, whole = "Ice floats on water, " * 9 + "nobody", "Ice floats on water. " * 9 + "It does."
    said = f"- {cut} ###SUPPORTED###\n- {whole} ###SUPPORTED###"
    assert len(cut) < len(whole) <= LONGEST
    for kind, counted in ((GuidedEngine, 1), (ScriptedEngine, 0)):
        found = await ChunkedExtractor(kind(lambda chat: said)).extract(Response(id="r", text="Ice floats."))
        assert found.counts.get("claims_cut", 0) == counted
        assert any("were cut at" in warning for warning in found.warnings) == bool(counted)
