import asyncio
import signal
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from pass_files import ROWS, Engines, Opened, extract, generate, written
from roads import LineExtractor

from localfact.assembling import gold_counts
from localfact.inputs.responses import read_responses
from localfact.records import Extraction, Response
from localfact.runs.progress import Silent


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
        def __call__(self, stack: AsyncExitStack) -> Any:
            signal.raise_signal(signal.SIGINT)  # asyncio would only note it down, for when the model is loaded
            return super().__call__(stack)

    data, out, opened = written(tmp_path, *ROWS), tmp_path / "claims.jsonl", Interrupted()
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(extract(data, out, opened))
    assert opened.opened == 0
    assert asyncio.run(extract(data, out)).rows == 6


async def test_progress_is_told_of_every_row_and_claim(tmp_path: Path) -> None:
    class Told(Silent):
        def __init__(self) -> None:
            self.heard: list[object] = []

        def begin(self, rows: int, done: int) -> None:
            self.heard.append(("begin", rows, done))

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


@pytest.mark.slow
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
