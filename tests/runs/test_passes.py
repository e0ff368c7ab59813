import asyncio
import signal
from pathlib import Path
from typing import Any

import pytest
from pass_files import EXTRACTOR, PROMPTS, ROWS, Engines, Opened, extract, generate, rows_of, written
from roads import LineExtractor

from localfact.errors import RunFolderError
from localfact.inputs.responses import read_responses
from localfact.llm.engine import Chat
from localfact.llm.metered import MeteredEngine
from localfact.llm.scripted import ScriptedEngine
from localfact.runs.passes import SilentPass, generate_file
from localfact.runs.pass_rows import GenerationOptions
from localfact.pipeline import gold_counts
from localfact.records import Claim, Extraction, Response, passage_id


async def test_every_response_gets_its_claims_in_the_order_of_the_input_and_bad_rows_say_why(tmp_path: Path) -> None:
    opened = Opened()
    summary = await extract(written(tmp_path, *ROWS), tmp_path / "new/claims.jsonl", opened)
    rows = rows_of(tmp_path / "new/claims.jsonl")
    assert [row["id"] for row in rows] == ["a", "row-2", "b", "b#2", "c", "d"]
    assert [claim["text"] for claim in rows[0]["claims"]] == ["One line.", "Another line."]
    assert {name: rows[0][name] for name in ("prompt", "topic", "source", "model")} == {
        "prompt": "Why?", "topic": "t", "source": "s", "model": "m"
    }  # fmt: skip
    assert rows[0]["extractor"] == EXTRACTOR
    assert "not JSON" in rows[1]["error_message"]
    assert rows[4]["error_message"] == "ZeroDivisionError: a bug"
    assert rows[4]["response"] == "boom"
    assert (summary.rows, summary.failed, summary.exit_code) == (6, 2, 1)
    assert (summary.counts["claims"], summary.counts["abstained"]) == (6, 1)
    assert any("2 rows failed. row-2: " in warning for warning in summary.warnings)
    assert (opened.opened, opened.closed) == (1, 1)
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["claims.jsonl", "claims.jsonl.run.yaml"]


async def test_the_claims_file_is_what_eval_reads(tmp_path: Path) -> None:
    await extract(written(tmp_path, *ROWS), tmp_path / "claims.jsonl")
    before, after = read_responses(tmp_path / "data.jsonl"), read_responses(tmp_path / "claims.jsonl")
    assert [response.id for response in after] == [response.id for response in before]
    assert [response.text for response in after] == [response.text for response in before]
    assert [response.problem is None for response in after] == [True, False, True, True, False, True]
    assert after[4].problem == "ZeroDivisionError: a bug"
    expected = (await LineExtractor().extract(after[0])).claims
    assert after[0].claims == expected
    assert after[3].claims == ()


async def test_annotated_claims_and_passages_are_kept_and_claims_are_taken_anew(tmp_path: Path) -> None:
    row = {
        "response": "One.\nTwo.",
        "claims": [
            {"id": "g1", "text": "One.", "label": "S", "in_corpus": True, "passages": ["p1", "p2"]},
            {"id": "g2", "text": "Elsewhere.", "label": "NS"},
            {"id": "g3", "text": "Two.", "label": "IR"},
        ],
        "passages": [
            {"id": "p1", "title": "T", "link": "https://h.example/1", "date": "2001", "text": "same"},
            {"id": "p2", "link": "https://h.example/2", "text": "same"},
            {"id": "p3", "text": "other"},
        ],
    }
    data = written(tmp_path, row)
    await extract(data, tmp_path / "claims.jsonl")
    (before,), (after,) = read_responses(data), read_responses(tmp_path / "claims.jsonl")
    assert [claim.text for claim in after.claims or ()] == ["One.", "Two."]
    assert after.annotation == before.claims
    assert gold_counts(after) == gold_counts(before) == (1, 1)
    assert before.evidence is not None
    assert after.evidence is not None
    assert after.evidence.passages == before.evidence.passages
    assert rows_of(tmp_path / "claims.jsonl")[0]["annotation"][0]["passages"] == [passage_id("same")] * 2
    await extract(tmp_path / "claims.jsonl", tmp_path / "again.jsonl")
    (again,) = read_responses(tmp_path / "again.jsonl")
    assert (again.annotation, again.claims) == (after.annotation, after.claims)


async def test_what_the_extractor_said_and_spent_is_kept_and_added_up(tmp_path: Path) -> None:
    class Talkative:
        def __init__(self) -> None:
            self.engine = MeteredEngine(ScriptedEngine(lambda chat: "two words"))

        async def extract(self, response: Response) -> Extraction:
            from localfact.llm.engine import Message

            answer = await self.engine.generate([Message("user", response.text)], max_tokens=9, stage="extract")
            claim = Claim(id="c1", text=answer.text)
            return Extraction(claims=(claim,), unparsed=("what?",), counts={"chunks": 2}, warnings=("Mind the gap.",))

    data = written(tmp_path, {"response": "one"}, {"response": "two three"})
    summary = await extract(data, tmp_path / "claims.jsonl", Opened(Talkative()))
    row = rows_of(tmp_path / "claims.jsonl")[0]
    assert row["extraction"]["unparsed"] == ["what?"]
    assert row["extraction"]["usage"] == {"extract": {"calls": 1, "requests": 1, "prompt_tokens": 1, "output_tokens": 2}}
    assert summary.usage == {"extract": {"calls": 2, "requests": 2, "prompt_tokens": 3, "output_tokens": 4}}
    assert summary.counts == {"chunks": 4, "claims": 2, "abstained": 0, "lines_unparsed": 2}
    assert summary.warnings == ("Mind the gap. (2 responses)",)


async def test_rows_are_at_work_together_but_never_more_than_the_bound(tmp_path: Path) -> None:
    class Crowd(LineExtractor):
        now = most = 0

        async def extract(self, response: Response) -> Extraction:
            self.now += 1
            self.most = max(self.most, self.now)
            for _ in range(5):
                await asyncio.sleep(0)
            self.now -= 1
            return await super().extract(response)

    crowd = Crowd()
    data = written(tmp_path, *({"response": str(number)} for number in range(9)))
    await extract(data, tmp_path / "claims.jsonl", Opened(crowd), concurrency=3)
    assert crowd.most == 3


def test_ctrl_c_while_a_model_loads_is_heard_at_once_and_the_pass_can_go_on(tmp_path: Path) -> None:
    class Interrupted(Opened):
        def __call__(self) -> Any:
            signal.raise_signal(signal.SIGINT)  # asyncio would only note it down, for when the model is loaded
            return super().__call__()

    data, out, opened = written(tmp_path, *ROWS), tmp_path / "claims.jsonl", Interrupted()
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(extract(data, out, opened))
    assert opened.opened == 0
    assert asyncio.run(extract(data, out)).rows == 6


async def test_progress_is_told_of_every_row_and_claim(tmp_path: Path) -> None:
    class Told(SilentPass):
        def __init__(self) -> None:
            self.heard: list[object] = []

        def begin(self, responses: int, done: int) -> None:
            self.heard.append(("begin", responses, done))

        def count(self, stage: str, number: int) -> None:
            self.heard.append((stage, number))

        def row_done(self) -> None:
            self.heard.append("row")

    told, data = Told(), written(tmp_path, {"response": "one\ntwo"}, {"response": 5})
    await extract(data, tmp_path / "claims.jsonl", progress=told)
    assert told.heard == [("begin", 2, 0), "row", ("claims", 2), "row"]
    again = Told()
    await extract(data, tmp_path / "claims.jsonl", progress=again)
    assert again.heard == [("begin", 2, 1), "row"]
    prompts, asked = written(tmp_path, {"prompt": "one two"}, name="prompts.jsonl"), Told()
    await generate(prompts, tmp_path / "responses.jsonl", Engines(lambda chat: "yes."), progress=asked)
    assert asked.heard == [("begin", 1, 0), ("prompt_tokens", 2), ("cached_tokens", 0), ("output_tokens", 2), "row"]


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
        written(tmp_path, {"prompt": "Why?"}), tmp_path / "out.jsonl", lambda: engine, identity=engine.identity, options=options
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


async def test_public_prompts_and_biographies_go_through_both_passes(shared: Path, tmp_path: Path) -> None:
    engines = Engines(lambda chat: "It is old.\nIt is large.")
    prompts = shared / "data/fastfact_bench/data_sample2.jsonl"
    await generate(prompts, tmp_path / "responses.jsonl", engines)
    summary = await extract(tmp_path / "responses.jsonl", tmp_path / "claims.jsonl")
    assert (summary.rows, summary.failed, summary.counts["claims"]) == (6, 0, 12)
    bios = shared / "data/factscore_bios/ChatGPT.jsonl"
    await extract(bios, tmp_path / "bios.jsonl")
    before, after = read_responses(bios), read_responses(tmp_path / "bios.jsonl")
    assert [gold_counts(response) for response in after] == [gold_counts(response) for response in before]
