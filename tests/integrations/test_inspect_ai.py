"""The scorer and the export beside the real inspect_ai: a log of its mock model, scored both ways, and by `localfact eval`."""

import json
from pathlib import Path
from typing import Any

import pytest
from commands import QuickCommandLine
from docs_reader import ROOT
from evaluation_tools import run_tool

from localfact.scoring.aggregate import ScoreResult

pytestmark = pytest.mark.tools

QUICK = {"relations": "lexical", "embedder": "none", "corpus": str(ROOT / "index/sample")}
BRIDGE = {
    "id": "bridge",
    "prompt": "When did the Halden bridge open?",
    "response": "The Halden bridge opened in 1956. The Halden bridge has two lanes.",
    "passages": [{"text": "The Halden bridge opened in 1932. The Halden bridge has two lanes.", "link": "https://b.example/"}],
}
REFUSAL = {"id": "refusal", "prompt": "Who is my neighbour?", "response": "I'm sorry, but I can't help with that."}


def rows() -> list[dict[str, Any]]:
    """The beginnings of the sample's first answers, one with passages of its own, one that states nothing: twenty."""
    lines = (ROOT / "index/sample-responses.jsonl").read_text(encoding="utf-8").splitlines()[:18]
    taken = [{name: row[name] for name in ("id", "prompt", "topic", "response")} for row in map(json.loads, lines)]
    return [*({**row, "response": ". ".join(row["response"].split(". ")[:2])} for row in taken), BRIDGE, REFUSAL]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder with the rows, a log of them, and a run of them in `run`; and the log's path."""
    folder = tmp_path_factory.mktemp("inspect")
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows()), encoding="utf-8")
    log = run_tool("python", "inspect_logs.py", "make", "rows.jsonl", "logs", folder=folder).strip()
    quick = [word for name, value in QUICK.items() for word in (f"--{name}", value)]
    done = QuickCommandLine(folder)("eval", "--data", "rows.jsonl", *quick, "--out", "run")
    assert done.returncode == 0, done.stderr
    return folder, log


def scored(made: tuple[Path, str], *words: str) -> dict[str, Any]:
    """What `inspect score` with these words leaves in the log."""
    folder, log = made
    out = str(folder / "scored.eval")
    run_tool("inspect", "score", log, *words, "--action", "overwrite", "--overwrite", "--output-file", out, folder=folder)
    read: dict[str, Any] = json.loads(run_tool("python", "inspect_logs.py", "read", out, folder=folder))
    return read


def scores_of_run(folder: Path) -> dict[str, float]:
    summary = json.loads((folder / "run/summary.json").read_text(encoding="utf-8"))
    results = [ScoreResult.model_validate(one) for one in summary["scores"]]
    return {result.name: result.value for result in results if result.value is not None}


def test_a_log_scored_gives_what_an_evaluation_of_the_same_answers_gives(made: tuple[Path, str]) -> None:
    options = [word for name, value in QUICK.items() for word in ("-S", f"{name}={value}")]
    log = scored(made, "--scorer", "localfact/localfact", *options)
    assert log["metrics"] == pytest.approx(scores_of_run(made[0]), abs=1e-12)
    assert log["unscored"] == 1
    refusal, bridge = log["samples"]["refusal"], log["samples"]["bridge"]
    assert (refusal["reason"], refusal["metadata"]["method"]) == ("abstained", "builtin-fr2")
    assert (bridge["value"]["Pr"], bridge["value"]["supported"], bridge["value"]["contradicted"]) == (0.5, 1, 1)
    assert bridge["answer"] == BRIDGE["response"]
    for told in ("builtin-fr2", "lexical", "opened in 1956", "opened in 1932", "https://b.example/"):
        assert told in bridge["explanation"]
    assert bridge["metadata"]["assessment"]["response_id"] == "bridge"


def test_an_exported_run_scores_the_log_without_localfact(made: tuple[Path, str]) -> None:
    folder, _ = made
    done = QuickCommandLine(folder)("export", "run", "--inspect", "--out", "scores.jsonl")
    assert done.returncode == 0, done.stderr
    taken = ("--scorer", "inspect_ai/precomputed_scores", "-S", "scores=scores.jsonl")
    log = scored(made, *taken)
    assert log["metrics"]["accuracy"] == pytest.approx(scores_of_run(folder)["Pr"], abs=1e-12)
    assert (log["unscored"], log["samples"]["refusal"]["reason"]) == (1, "abstained")
    again = scored(made, *taken, "--metric", "localfact/factuality")
    assert again["metrics"] == pytest.approx(scores_of_run(folder), abs=1e-12)
