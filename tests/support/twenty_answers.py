"""Twenty short answers that other tools' logs are made of, and how `localfact eval` scores them."""

import json
from pathlib import Path
from typing import Any

from commands import QuickCommandLine
from docs_reader import ROOT

from localfact.scoring.aggregate import ScoreResult

#: Options that judge quickly, by word overlap.
QUICK = {"relations": "lexical", "embedder": "none"}
BRIDGE: dict[str, Any] = {
    "id": "bridge",
    "prompt": "When did the Halden bridge open?",
    "response": "The Halden bridge opened in 1956. The Halden bridge has two lanes.",
    "passages": [{"text": "The Halden bridge opened in 1932. The Halden bridge has two lanes.", "link": "https://b.example/"}],
}
REFUSAL = {"id": "refusal", "prompt": "Who is my neighbour?", "response": "I'm sorry, but I can't help with that."}


def twenty_answers() -> list[dict[str, Any]]:
    """The beginnings of the sample's first answers, one with passages of its own, one that states nothing."""
    lines = (ROOT / "index/sample-responses.jsonl").read_text(encoding="utf-8").splitlines()[:18]
    taken = [{name: row[name] for name in ("id", "prompt", "topic", "response")} for row in map(json.loads, lines)]
    return [*({**row, "response": ". ".join(row["response"].split(". ")[:2])} for row in taken), BRIDGE, REFUSAL]


def evaluate_twenty(folder: Path) -> dict[str, float]:
    """Makes rows.jsonl, a corpus index/mine and a run runs/HASH of the rows, and returns the run's scores by name."""
    (folder / "index").mkdir()
    (folder / "index/mine").symlink_to(ROOT / "index/sample")
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in twenty_answers()), encoding="utf-8")
    quick = [word for name, value in QUICK.items() for word in (f"--{name}", value)]
    done = QuickCommandLine(folder)("eval", "--data", "rows.jsonl", "--corpus", "index/mine", *quick, "--out", "runs/HASH")
    assert done.returncode == 0, done.stderr
    summary = json.loads((folder / "runs/HASH/summary.json").read_text(encoding="utf-8"))
    results = [ScoreResult.model_validate(one) for one in summary["scores"]]
    return {result.name: result.value for result in results if result.value is not None}
