"""A random model in real vLLM, from the command line: its probabilities are exact, and what it babbles is no abstention."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from commands import CommandLine
from engines import NEEDS_VLLM

pytestmark = NEEDS_VLLM

LABELS = ["entailment", "contradiction", "neutral"]
QUESTION = "Does “Kraków lies on the Vistula” follow from the café's menu? 🌦"
#: Responses that a random model is asked about: questions or none, several sentences, another script, nothing to claim.
RESPONSES = (
    {"prompt": "Where is Kraków?", "response": "Kraków lies on the Vistula. It was the capital of Poland until 1596."},
    {"response": "1. Water boils at 100 °C.\n2. Ice floats.\n\nThat is all (as far as I know)."},
    {"prompt": "富士山の高さは?", "response": "富士山は日本で一番高い山です。高さは3776メートルです。"},
    {"prompt": "Hello!", "response": "Hello! How can I help you?"},
)


def judged(localfact: CommandLine, random_llama: Path, data: Path, *more: str) -> list[dict[str, Any]]:
    lengths = ("--extraction-tokens", "64", "--verification-tokens", "32")
    evidence = ("--corpus", Path(__file__).parents[2] / "index/sample", "--embedder", "none")
    method = ("--method", "fastfact", "--model", random_llama, *lengths)
    done = localfact("eval", *method, "--data", data, *evidence, "--out", "out", *more)
    rows = [json.loads(line) for line in (localfact.folder / "out/assessments.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {row["status"] for row in rows} <= {"abstained", "scored", "unscored", "failed"}
    assert all(row["error"].startswith("No claim can be read") for row in rows if row["status"] == "failed")
    assert done.returncode == any(row["status"] == "failed" for row in rows), done.stderr
    return rows


def test_choose_prints_what_transformers_computes(localfact: CommandLine, random_llama: Path, tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    (tmp_path / "question.txt").write_text(QUESTION, encoding="utf-8")
    asked = ("--labels", ",".join(LABELS), "--prompt-file", "question.txt", "--json")
    done = localfact("choose", "--model", random_llama, *asked)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    tokenizer = AutoTokenizer.from_pretrained(random_llama)
    plain = AutoModelForCausalLM.from_pretrained(random_llama, dtype="float32").eval()
    chat = [{"role": "user", "content": QUESTION}]
    begun = tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
    ids = [tokenizer(begun + label, add_special_tokens=False)["input_ids"] for label in LABELS]
    length = len(tokenizer(begun, add_special_tokens=False)["input_ids"])
    with torch.no_grad():
        said = torch.log_softmax(plain(torch.tensor([ids[0][:length]])).logits[0, -1], dim=-1)
    log_probs = [float(said[each[length]]) for each in ids]
    assert len(set(log_probs)) == 3
    mass = math.fsum(map(math.exp, log_probs))
    assert [told["log_probs"][label] for label in LABELS] == pytest.approx(log_probs, abs=1e-4)
    assert told["mass"] == pytest.approx(mass, abs=1e-4)
    shares = [math.exp(log_prob) / mass for log_prob in log_probs]
    assert [told["distribution"][label] for label in LABELS] == pytest.approx(shares, abs=1e-4)


def test_every_response_is_judged_or_says_that_nothing_could_be_read_and_a_replay_is_the_same(
    localfact: CommandLine, random_llama: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in RESPONSES), encoding="utf-8")
    rows = judged(localfact, random_llama, data, "--transcript", "calls.sqlite")
    assert len(rows) == len(RESPONSES)
    assert all(len(row["claims"]) == len(row["verdicts"]) for row in rows)
    assert all(row["usage"]["extract"]["calls"] > 0 for row in rows)
    first = (tmp_path / "out/assessments.jsonl").read_bytes()
    (tmp_path / "out").rename(tmp_path / "recorded")
    replayed = localfact(
        *("eval", "--method", "fastfact", "--replay", "calls.sqlite", "--data", data, "--embedder", "none"),
        *("--corpus", Path(__file__).parents[2] / "index/sample", "--out", "out"),
        *("--extraction-tokens", "64", "--verification-tokens", "32"),
    )
    assert replayed.returncode == any(row["status"] == "failed" for row in rows), replayed.stderr
    assert (tmp_path / "out/assessments.jsonl").read_bytes() == first


def test_public_questions_end_all(localfact: CommandLine, random_llama: Path, shared: Path) -> None:
    assert len(judged(localfact, random_llama, shared / "data/fastfact_bench/data_sample2.jsonl")) == 6
