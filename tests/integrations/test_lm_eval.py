"""The task beside the real lm-evaluation-harness, offline: by its dummy model, and by one that gives answers of ours.

The dummy's command is that of docs/integrations.md.
"""

import json
from pathlib import Path

import pytest
from docs_reader import ROOT
from evaluation_tools import documented, run_line, run_tool
from twenty_answers import QUICK, evaluate_twenty

pytestmark = pytest.mark.tools


def test_the_task_gives_what_an_evaluation_of_the_same_answers_gives(tmp_path: Path) -> None:
    scores = evaluate_twenty(tmp_path)
    tasks = run_tool("python", "-m", "localfact.integrations.lm_eval", folder=tmp_path).strip()
    metadata = json.dumps({"localfact": {"data": "rows.jsonl", "corpus": "index/mine", **QUICK}})
    printed = run_tool("python", "answering_harness.py", "rows.jsonl", tasks, metadata, folder=tmp_path)
    done = json.loads(printed.splitlines()[-1])
    found = {name.removesuffix(",none"): value for name, value in done["results"].items()}
    for name, value in scores.items():
        plain = name.partition("(median")[0]
        if "K'" not in name:
            assert found[f"{plain}(median)" if "median" in name else name] == pytest.approx(value, abs=1e-12), name
    assert [found[name] for name in ("scored", "abstained", "unscored", "failed")] == [19, 1, 0, 0]
    bridge = next(sample for sample in done["samples"] if "bridge" in sample["doc"]["prompt"])
    assert (bridge["Pr"], bridge["scored"]["assessment"]["response_id"]) == (0.5, "bridge")
    assert "builtin-fr2" in bridge["scored"]["judged_by"]
    assert "opened in 1932" in bridge["scored"]["explanation"]


def test_the_harness_runs_the_task_with_its_dummy_model_on_the_prompts_of_the_sample(tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    (tmp_path / "index/mine").symlink_to(ROOT / "index/sample")
    rows = map(json.loads, (ROOT / "index/sample-responses.jsonl").read_text(encoding="utf-8").splitlines())
    prompts = "".join(json.dumps({name: row[name] for name in ("id", "prompt", "topic")}) + "\n" for row in rows)
    (tmp_path / "prompts.jsonl").write_text(prompts, encoding="utf-8")
    quick = ", ".join(f'"{name}": "{value}"' for name, value in QUICK.items())
    command = documented("lm_eval run").replace("--model hf --model_args pretrained=MODEL", "--model dummy --limit 3")
    told = run_line(command.replace('"index/mine"', f'"index/mine", {quick}'), folder=tmp_path)
    assert "F1@K(median)" in told
    (file,) = (tmp_path / "out").rglob("results_*.json")
    found = json.loads(file.read_text(encoding="utf-8"))["results"]["localfact_longform"]
    assert (found["scored,none"], found["unscored,none"]) == (0, 3)  # it answers "lol" to everything
