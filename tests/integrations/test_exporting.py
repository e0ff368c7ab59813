"""A run in the forms of other tools, without those tools."""

import json
from pathlib import Path

import pytest
from commands import QuickCommandLine

PASSAGES = ["The Halden bridge opened in 1932."]
ROWS = [
    {"id": "a", "response": "The Halden bridge opened in 1932.", "passages": PASSAGES},
    {"id": "a", "response": "The Halden bridge opened in 1956.", "passages": PASSAGES},
    {"id": "b#2", "response": "", "passages": PASSAGES},
]


@pytest.mark.slow
def test_a_run_is_exported_for_inspect_with_the_epochs_of_repeated_samples(tmp_path: Path) -> None:
    user = QuickCommandLine(tmp_path)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    quick = ("--relations", "lexical", "--embedder", "none", "--out", "runs/one")
    assert user("eval", "--data", "rows.jsonl", *quick).returncode == 0
    done = user("export", "--inspect", "--out", "scores.jsonl", "--json")
    assert (done.returncode, json.loads(done.stdout)) == (0, {"file": "scores.jsonl", "lines": 3})
    first, second, third = map(json.loads, (tmp_path / "scores.jsonl").read_text(encoding="utf-8").splitlines())
    assert [(one["id"], one.get("epoch"), one["value"]) for one in (first, second)] == [("a", 1, 1.0), ("a", 2, 0.0)]
    assert "opened in 1932" in second["explanation"]
    assert (third["id"], third.get("epoch"), third["metadata"]["unscored_reason"]) == ("b#2", None, "abstained")
    assert third["value"] != third["value"]


def test_an_export_takes_one_form_and_a_file(tmp_path: Path) -> None:
    user = QuickCommandLine(tmp_path)
    for words, told in ((("--out", "scores.jsonl"), "--inspect"), (("--inspect",), "--out")):
        refused = user("export", *words)
        assert (refused.returncode, told in refused.stderr) == (2, True)
