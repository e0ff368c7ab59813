from pathlib import Path
from typing import Any

import pytest
from pass_files import PROMPTS, Engines, generate, rows_of, written

from localfact.api.generate import generate_file
from localfact.errors import RunFolderError
from localfact.inputs.responses import read_responses
from localfact.llm.engine import Chat
from localfact.llm.scripted import ScriptedEngine
from localfact.methods.options import GenerationOptions


async def test_the_responses_are_what_eval_reads(tmp_path: Path) -> None:
    out = tmp_path / "responses.jsonl"
    engines = Engines(lambda chat: "\n\nSo. \x00 \ud800")
    summary = await generate(written(tmp_path, *PROMPTS), out, engines)
    responses = read_responses(out)
    assert [response.id for response in responses] == ["row-1", "q1", "row-4", "row-5"]
    assert [response.prompt for response in responses] == [
        "What is peat?", "Why moss?", None, "Question: Tell me a bio of A. Person."
    ]  # fmt: skip
    assert [response.topic for response in responses] == [None, None, None, "A. Person"]
    assert responses[1].source == "set"
    assert responses[0].text == "\n\nSo. \ufffd \ufffd"
    assert {response.model for response in responses} == {"scripted"}
    assert "no prompt" in (responses[2].problem or "")
    rows = rows_of(out)
    assert rows[0]["canary"] == "keep out"
    assert rows[0]["generation"] == {
        "revision": "0",
        "quantisation": None,
        "temperature": 0.0,
        "max_tokens": 1024,
        "seed": 0,
        "instruction": None,
        "finish": "stop",
        "prompt_tokens": 4,
        "output_tokens": 7,
    }
    assert (summary.rows, summary.failed, summary.exit_code, summary.counts["repeated"]) == (4, 1, 1, 1)
    assert engines.asked() == ["What is peat?", "Why moss?", "Question: Tell me a bio of A. Person."]


async def test_the_options_reach_the_engine_and_the_rows(tmp_path: Path) -> None:
    asked: list[tuple[str, object]] = []

    class Asked(ScriptedEngine):
        async def generate(self, chat: Chat, **options: Any) -> Any:
            asked.append((chat[0].content, options))
            return await super().generate(chat, **options)

    engine = Asked(lambda chat: "yes")
    options = GenerationOptions(temperature=0.7, max_tokens=50, seed=3, instruction="two-paragraphs")
    await generate_file(
        written(tmp_path, {"prompt": "Why?"}),
        tmp_path / "out.jsonl",
        lambda opened: engine,
        identity=engine.identity,
        options=options,
    )
    ((message, sent),) = asked
    assert sent == {"max_tokens": 50, "temperature": 0.7, "seed": 3, "stage": "generate"}
    assert message.startswith("Why?\n")
    assert "two paragraphs" in message
    row = rows_of(tmp_path / "out.jsonl")[0]
    assert row["prompt"] == "Why?"  # as it was given: the instruction is no part of it
    assert {
        name: row["generation"][name] for name in ("temperature", "max_tokens", "seed", "instruction")
    } == options.model_dump()


async def test_a_response_cut_short_an_empty_one_and_a_prompt_too_long_are_told(tmp_path: Path) -> None:
    def answer(chat: Chat) -> str:
        return {"cut": "word " * 50, "none": "", "fine": "Fine."}[chat[0].content.split()[0]]

    data = written(tmp_path, *({"id": text[:4], "prompt": text} for text in ("cut", "none", "fine", "long " * 150)))
    engines = Engines(answer, window=100)
    summary = await generate(data, tmp_path / "out.jsonl", engines, GenerationOptions(max_tokens=10))
    rows = rows_of(tmp_path / "out.jsonl")
    assert [row.get("generation", {}).get("finish") for row in rows] == ["length", "stop", "stop", None]
    assert rows[0]["generation"]["output_tokens"] == 10
    assert "150 tokens" in rows[3]["error_message"]
    assert summary.counts == {"cut": 1, "empty": 1, "repeated": 0}
    assert summary.failed == 1
    assert any("cut at 10 tokens" in warning for warning in summary.warnings)
    assert summary.usage["generate"]["calls"] == 3
    assert summary.usage["generate"]["output_tokens"] == sum(row["generation"]["output_tokens"] for row in rows[:3])
    assert [response.problem is None for response in read_responses(tmp_path / "out.jsonl")] == [True, True, True, False]


async def test_another_window_goes_on_and_another_temperature_is_refused(tmp_path: Path) -> None:
    data, out = written(tmp_path, *PROMPTS), tmp_path / "out.jsonl"
    await generate(data, out, Engines())
    whole, other = out.read_bytes(), Engines(window=999)
    await generate(data, out, other)
    assert (other.opened, out.read_bytes()) == (0, whole)
    with pytest.raises(RunFolderError, match=r"temperature: 0\.0 -> 1\.0"):
        await generate(data, out, Engines(), GenerationOptions(temperature=1.0))
    with pytest.raises(RunFolderError, match="instruction: None -> two-paragraphs"):
        await generate(data, out, Engines(), GenerationOptions(instruction="two-paragraphs"))


async def test_an_entity_list_becomes_responses_about_persons(tmp_path: Path) -> None:
    people = tmp_path / "people.txt"
    people.write_text("A. Person\nB. Person\n")
    engines = Engines()
    await generate_file(people, tmp_path / "out.jsonl", engines, identity=engines.engine.identity, entities=True, limit=1)
    (response,) = read_responses(tmp_path / "out.jsonl")
    assert (response.topic, response.prompt) == ("A. Person", "Question: Tell me a bio of A. Person.")
