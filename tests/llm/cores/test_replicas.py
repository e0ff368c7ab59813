"""Two replicas of a real model in this process: both are busy, and a passage's prompts meet where it is cached."""

import asyncio
import os
from collections import Counter
from pathlib import Path

import pytest
from engines import NEEDS_VLLM
from tiny_models import settings_of, tiny_llama

from localfact.llm.cores.vllm import VLLMEngine
from localfact.llm.engine import Chat, Choice, Message
from localfact.llm.tokens.token_engine import group_of
from localfact.prompts import Boundary, relation_chat

LABELS = ["entailment", "contradiction", "neutral"]
PASSAGES, CLAIMS = 12, 6


def chats() -> list[Chat]:
    passages = [f"Passage {number}: " + "the lighthouse stands on the island " * 20 for number in range(PASSAGES)]
    return [
        relation_chat(passage, f"Claim {claim} is true.", boundary=Boundary())
        for passage in passages
        for claim in range(CLAIMS)
    ]


def test_chats_of_one_premise_are_one_group_and_those_without_are_told_by_their_text() -> None:
    groups = Counter(group_of(chat) % 2 for chat in chats())
    assert set(groups) == {0, 1}
    assert all(count % CLAIMS == 0 for count in groups.values())
    assert group_of((Message("user", "one"),)) != group_of((Message("user", "two"),))


def workers() -> dict[int, float]:
    """The processes below this one that compute for an engine -> seconds of processor time."""
    parents, seconds = {}, {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        parents[int(folder.name)] = int(fields[1])
        if command.startswith(b"VLLM::Worker"):
            seconds[int(folder.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def ours(process: int | None) -> bool:
        return process == os.getpid() or (process is not None and ours(parents.get(process)))

    return {process: spent for process, spent in seconds.items() if ours(process)}


def asked(folder: Path, replicas: int) -> tuple[list[Choice], list[float]]:
    """What a model says of all chats, and the processor time that each of its workers took for it."""
    others = set(workers())
    engine = VLLMEngine(settings_of(folder, data_parallel_size=replicas) if replicas > 1 else settings_of(folder))

    async def ask() -> list[Choice]:
        return await asyncio.gather(*(engine.choose(chat, LABELS, stage="relate") for chat in chats()))

    try:
        before = workers()
        said = asyncio.run(ask())
        after = workers()
    finally:
        asyncio.run(engine.aclose())
    return said, [after[worker] - before[worker] for worker in before if worker not in others]


@NEEDS_VLLM
@pytest.mark.models
def test_both_replicas_work_and_find_cached_what_one_would(tmp_path: Path) -> None:
    folder = tiny_llama(tmp_path / "tiny", hidden=128, layers=4, window=8192)
    alone, _ = asked(folder, 1)
    shared, busy = asked(folder, 2)
    assert [choice.log_probs for choice in shared] == [pytest.approx(choice.log_probs, abs=1e-4) for choice in alone]
    assert len(busy) == 2
    assert min(busy) > 0.1 * max(busy) > 0

    def cached(choices: list[Choice]) -> float:
        prompt = sum(choice.usage.prompt_tokens for choice in choices)
        return sum(choice.usage.cached_tokens for choice in choices) / prompt

    assert cached(shared) > cached(alone) - 0.05
    assert cached(shared) > 0.5
