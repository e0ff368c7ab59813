"""Ctrl-C with a real engine: one sentence, exit code 130, no process left, and what was done is kept.

It is sent as a terminal sends it, to the command and to all processes it has started. The engine is started three times.
"""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from commands import CommandLine
from engines import FAST_START, NEEDS_VLLM
from tiny_models import tiny_llama

pytestmark = [NEEDS_VLLM, pytest.mark.models]

PROMPTS = 200
#: A hang must fail the test, not stop it.
PATIENCE_SECONDS = 120


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_llama(tmp_path_factory.mktemp("models") / "tiny", window=512)


def started(user: CommandLine, model: Path) -> subprocess.Popen[str]:
    """`localfact generate` in a process group of its own, as a shell starts it."""
    rows = (json.dumps({"prompt": f"What is river {number} called?"}) + "\n" for number in range(PROMPTS))
    (user.folder / "prompts.jsonl").write_text("".join(rows))
    words = ("generate", "--data", "prompts.jsonl", "--out", "responses.jsonl", "--model", model, "--max-tokens", "60")
    small = ("--engine-arg", "enforce_eager=true", "--engine-arg", f"kv_cache_memory_bytes={64 * 2**20}")
    return subprocess.Popen(
        user.arguments((*words, *small)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=user.folder,
        env=user.environment | FAST_START,
        start_new_session=True,
    )


def read_until(process: subprocess.Popen[str], words: str) -> str:
    assert process.stderr is not None
    said = ""
    while words not in said:
        line = process.stderr.readline()
        assert line, said
        said += line
    return said


def interrupted(process: subprocess.Popen[str]) -> str:
    """What is said after Ctrl-C."""
    os.killpg(process.pid, signal.SIGINT)
    return all_said(process)


def all_said(process: subprocess.Popen[str]) -> str:
    """The rest of what is said. It has an end only when all processes have ended that could still say something."""
    try:
        _, rest = process.communicate(timeout=PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return rest


def test_ctrl_c_while_the_model_answers_keeps_what_is_done_and_says_one_sentence(localfact: CommandLine, model: Path) -> None:
    process = started(localfact, model)
    read_until(process, " responses, ")
    rest = interrupted(process)
    assert process.returncode == 130, rest
    (sentence,) = [line for line in rest.splitlines() if " responses, " not in line]
    assert sentence == "Interrupted. What is done is kept beside responses.jsonl; the same command goes on from there."
    done = [json.loads(line) for line in (localfact.folder / "responses.jsonl.part").read_text().splitlines()]
    assert PROMPTS // 10 <= len(done) < PROMPTS
    assert all(row["response"] and "error_message" not in row for row in done)


def test_ctrl_c_while_the_model_loads_is_an_interruption_and_no_failed_start(localfact: CommandLine, model: Path) -> None:
    """The user has asked for vLLM's own messages, which tell when its process is at work."""
    localfact.environment["VLLM_LOGGING_LEVEL"] = "INFO"
    process = started(localfact, model)
    said = read_until(process, "EngineCore")
    rest = interrupted(process)
    assert process.returncode == 130, rest
    assert "Interrupted. What is done is kept" in rest
    assert "Traceback" not in said + rest
    assert "could not start" not in rest
    assert not (localfact.folder / "responses.jsonl").exists()


def test_a_killed_command_leaves_no_engine_behind(localfact: CommandLine, model: Path) -> None:
    process = started(localfact, model)
    read_until(process, " responses, ")
    os.kill(process.pid, signal.SIGKILL)
    assert "Traceback" not in all_said(process)
    assert process.returncode == -signal.SIGKILL
