"""action.yml: it is what GitHub reads, no input gets into a script, and its steps do what they say.

No runner is asked: the steps are given to bash as a runner gives them. What installs is read, not run.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
#: As a runner starts it.
BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail")
PAGE = {"link": "https://pages.example/ada", "text": "Ada Lovelace was born in London in 1815. She wrote notes."}
WRONG = {"id": "wrong", "response": "Ada Lovelace was born in Paris.", "passages": [PAGE]}
#: Its message, which is a note, would be a command.
BROKEN = {"id": "x", "response": "A text.", "error_message": "no\n::error::injected"}
#: What a shell would run where it read it as a script.
HOSTILE = '"; touch taken; echo "$(touch taken)`touch taken`\' && touch taken #'


class Runner:
    """What a step has of the machine it runs on: folders, files, and localfact where the first step puts it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "temp/localfact/bin").mkdir(parents=True)
        program = folder / "temp/localfact/bin/localfact"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m localfact "$@"\n')
        program.chmod(0o755)
        self.files = {name: folder / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}

    def evaluate(self, **inputs: str) -> subprocess.CompletedProcess[str]:
        """Runs the step that evaluates, with the inputs by the names of its variables."""
        (step,) = (step for step in STEPS if step.get("id") == "evaluate")
        script = self.folder / "step.sh"
        script.write_text(step["run"])
        given = {name: ACTION["inputs"][input_of(value)].get("default", "") for name, value in step["env"].items()}
        files = {name: str(file) for name, file in self.files.items()}
        environment = {**os.environ, **files, "RUNNER_TEMP": str(self.folder / "temp"), **given, **inputs}
        return subprocess.run([*BASH, script], cwd=self.folder, env=environment, capture_output=True, text=True)


def input_of(expression: str) -> str:
    found = re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", expression)
    assert found is not None, expression
    return found[1]


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    (tmp_path / "answers.jsonl").write_text(f"{json.dumps(WRONG)}\n{json.dumps(BROKEN)}\n")
    return Runner(tmp_path)


def test_inputs_reach_scripts_as_variables_alone_and_every_one_does() -> None:
    assert ACTION["runs"]["using"] == "composite"
    variables = {value for step in STEPS for value in step["env"].values()}
    assert variables == {"${{ github.action_path }}", *(f"${{{{ inputs.{name} }}}}" for name in ACTION["inputs"])}
    for step in STEPS:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]
        subprocess.run([*BASH, "-n", "-c", step["run"]], check=True)
        assert all(re.search(rf"\$(\{{)?{name}\b", step["run"]) for name in step["env"])


def test_the_workflow_of_the_page_gives_inputs_that_there_are() -> None:
    page = (ROOT / "docs/integrations.md").read_text(encoding="utf-8")
    workflow = yaml.safe_load(page.partition("```yaml\n")[2].partition("```")[0])
    (given,) = (step["with"] for step in workflow["jobs"]["factuality"]["steps"] if step["uses"].startswith("localfact/"))
    assert given.keys() <= ACTION["inputs"].keys()


@pytest.mark.slow
def test_a_wrong_text_fails_the_step_and_is_annotated(runner: Runner) -> None:
    done = runner.evaluate(DATA="answers.jsonl", ARGUMENTS="--embedder\nnone\n", OUT=f"run{HOSTILE}", JUNIT=f"junit{HOSTILE}")
    assert done.returncode == 4, done.stderr
    lines = [line for line in done.stdout.splitlines() if line]
    token = lines[0].removeprefix("::stop-commands::")
    assert lines[1] == f"::{token}::"
    assert lines[2].startswith("::error file=answers.jsonl,line=1,title=wrong%3A contradicted::Ada Lovelace was born in Paris.")
    assert all(line.startswith("::error ") for line in lines[2:])
    assert runner.files["GITHUB_OUTPUT"].read_text() == "exit-code=4\n"
    assert "Ada Lovelace was born in Paris" in runner.files["GITHUB_STEP_SUMMARY"].read_text()
    assert ElementTree.parse(runner.folder / f"junit{HOSTILE}").getroot().get("failures") == "2"
    assert not (runner.folder / "taken").exists()


@pytest.mark.slow
def test_no_input_is_run(runner: Runner) -> None:
    done = runner.evaluate(**dict.fromkeys(("DATA", "CORPUS", "FAIL_UNDER", "ARGUMENTS", "OUT", "JUNIT"), HOSTILE))
    assert done.returncode == 2
    assert not (runner.folder / "taken").exists()
