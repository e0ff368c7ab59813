"""Logs and data sets that the real tools made, read by ours: with inspect_ai's own reader beside us, and without it."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from make_real_logs import ROWS

from localfact.inputs.responses import read_response_file
from localfact.records import Response, Sample

pytestmark = pytest.mark.tools

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv/tools/bin/python"
READ = """
import sys
from pathlib import Path
from localfact.inputs.logs.inspect_reader import is_installed
from localfact.inputs.responses import read_response_file
assert is_installed()
for file in sys.argv[1:]:
    responses, warnings = read_response_file(Path(file))
    assert warnings == (), warnings
    for response in responses:
        print(response.model_dump_json())
"""


def run_tools(*arguments: str | Path, **environment: str) -> str:
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", **environment}
    done = subprocess.run([PYTHON, *arguments], capture_output=True, text=True, env=os.environ | offline, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    run_tools(ROOT / "tests/support/make_real_logs.py", folder, HF_HOME=str(folder / "home"))
    return folder


def test_both_readers_of_inspects_logs_see_the_same_rows(logs: Path) -> None:
    files = sorted((logs / "inspect").iterdir())
    assert [file.suffix for file in files] == [".eval", ".json"]
    theirs = [Response.model_validate_json(line) for line in run_tools("-c", READ, *files).splitlines()]
    ours = [response for file in files for response in read_response_file(file).responses]
    assert ours == theirs
    assert ours[:4] == ours[4:]
    ice, snow = (row["response"] for row in ROWS)
    assert [(one.id, one.sample, one.text) for one in ours[:4]] == [
        ("ice", Sample(id="ice", task="frozen_things", epoch=1), ice),
        ("ice/epoch-2", Sample(id="ice", task="frozen_things", epoch=2), ice),
        ("7", Sample(id="7", task="frozen_things", epoch=1), snow),
        ("7/epoch-2", Sample(id="7", task="frozen_things", epoch=2), ""),
    ]
    assert ours[3].problem == "The sample ended with an error: RuntimeError('no route to the model')."
    assert {(one.model, one.source) for one in ours} == {("mockllm/model", "frozen_things")}


def test_the_samples_of_the_harness_are_read_once_with_their_task_and_model(logs: Path) -> None:
    (file,) = (logs / "harness").rglob("samples_*.jsonl")
    lines: list[Mapping[str, Any]] = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 4  # two documents by two filters
    responses, warnings = read_response_file(file)
    texts = [text for row in ROWS for text in (row["response"], row["response"].upper())]
    prompts = [row["prompt"] for row in ROWS for _ in (1, 2)]
    assert [(one.prompt, one.text) for one in responses] == list(zip(prompts, texts, strict=True))
    assert [one.sample for one in responses] == [
        Sample(id=name, task="frozen_things", epoch=epoch) for name in "01" for epoch in (1, 2)
    ]
    assert {(one.model, one.source) for one in responses} == {("org/answering", "frozen_things")}
    assert warnings == ("Rows of further filters, whose answers are read once: 2.",)


def test_a_saved_dictionary_of_data_sets_gives_all_its_rows(logs: Path) -> None:
    responses, _ = read_response_file(logs / "saved")
    assert [one.text for one in responses] == [ROWS[place]["response"] for place in (0, 1, 1, 0)]
