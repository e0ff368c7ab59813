"""The scorer and the export beside the real inspect_ai: a log of its mock model, scored both ways, and by `localfact eval`.

What is run are the commands of docs/integrations.md.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from commands import QuickCommandLine
from evaluation_tools import documented, documented_program, run_line, run_tool
from twenty_answers import BRIDGE, QUICK, evaluate_twenty

pytestmark = pytest.mark.tools


class Made(NamedTuple):
    """A folder with twenty answers, a log of them, `answers.eval`, and a run of them; and the run's scores."""

    folder: Path
    scores: dict[str, float]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("inspect")
    scores = evaluate_twenty(folder)
    run_tool("python", "inspect_logs.py", "make", "rows.jsonl", "answers.eval", folder=folder)
    return Made(folder, scores)


def read(folder: Path, log: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run_tool("python", "inspect_logs.py", "read", log, folder=folder))
    return found


def scored(made: Made, command: str) -> dict[str, Any]:
    """What the command, which writes scored.eval, leaves in that log."""
    run_line(f"{command} --overwrite", folder=made.folder)
    return read(made.folder, "scored.eval")


def test_a_log_scored_gives_what_an_evaluation_of_the_same_answers_gives(made: Made) -> None:
    options = " ".join(f"-S {name}={value}" for name, value in QUICK.items())
    log = scored(made, f"{documented('inspect score answers.eval --scorer localfact')} {options}")
    assert log["metrics"] == pytest.approx(made.scores, abs=1e-12)
    assert log["unscored"] == 1
    refusal, bridge = log["samples"]["refusal"], log["samples"]["bridge"]
    assert (refusal["reason"], refusal["metadata"]["method"]) == ("abstained", "builtin-fr2")
    assert (bridge["value"]["Pr"], bridge["value"]["supported"], bridge["value"]["contradicted"]) == (0.5, 1, 1)
    assert bridge["answer"] == BRIDGE["response"]
    for told in ("builtin-fr2", "lexical", "opened in 1956", "opened in 1932", "https://b.example/"):
        assert told in bridge["explanation"]
    assert bridge["metadata"]["assessment"]["response_id"] == "bridge"


#: The statuses of answers: one that an error stopped, one that the model's side refused, and one that says nothing.
STOPPED = """
from inspect_ai.model import ModelOutput
from inspect_ai.solver import TaskState
from localfact.integrations.inspect_ai import row_of
outputs = [ModelOutput(), ModelOutput(error="The quota is used up."), ModelOutput.from_content("mockllm/model", "")]
states = [TaskState("mockllm/model", 1, 1, "Who?", [], output=output) for output in outputs]
for row in map(row_of, states):
    print(row.get("error_message"), "response" in row)
"""


def test_an_answer_that_was_never_given_failed_and_did_not_abstain(tmp_path: Path) -> None:
    stopped, refused, empty = run_tool("python", "-c", STOPPED, folder=tmp_path).splitlines()
    assert stopped == "The sample has no answer. False"
    assert refused == "The sample has no answer, as the model's side said: The quota is used up. False"
    assert empty == "None True"


def test_an_exported_run_scores_the_log_without_localfact(made: Made) -> None:
    done = QuickCommandLine(made.folder)(*documented("localfact export runs/HASH --inspect").split()[1:])
    assert done.returncode == 0, done.stderr
    command = documented("inspect score answers.eval --scorer inspect_ai/precomputed_scores")
    log = scored(made, command)
    assert log["metrics"]["accuracy"] == pytest.approx(made.scores["Pr"], abs=1e-12)
    assert (log["unscored"], log["samples"]["refusal"]["reason"]) == (1, "abstained")
    again = scored(made, f"{command} --metric localfact/factuality")
    assert again["metrics"] == pytest.approx(made.scores, abs=1e-12)


#: What the mock model answers to one question, asked four times.
ANSWERS = """
from inspect_ai.model import ModelOutput, get_model
said = ["The bridge opened in 1932.", "The bridge opened in 1956.", "The bridge opened in 1956.", "I cannot help with that."]
model = get_model("mockllm/model", custom_outputs=[ModelOutput.from_content("mockllm/model", one) for one in said])
"""


def test_the_scorer_stands_in_a_task_and_each_answer_of_several_epochs_counts(made: Made) -> None:
    folder = made.folder
    asked = {
        "id": 1,
        "input": "When did the bridge open?",
        "metadata": {"passages": ["The bridge opened in 1932."], "context": {"level": 1}},
    }
    (folder / "questions.jsonl").write_text(json.dumps({**asked, "target": ""}), encoding="utf-8")
    options = ", ".join(f'{name}="{value}"' for name, value in QUICK.items())
    program = documented_program("from inspect_ai import Task, eval")
    program = program.replace('corpus="index/mine"', f'corpus="index/mine", recall_k=2, {options}')
    program = program.replace('model="mockllm/model"', 'model=model, epochs=4, display="none", log_dir="ran"')
    (folder / "task.py").write_text(ANSWERS + program, encoding="utf-8")
    run_tool("python", "inspect_logs.py", "run", folder / "task.py", folder=folder)
    (file,) = (folder / "ran").glob("*.eval")
    log = read(folder, str(file))
    assert (log["metrics"]["Pr"], log["unscored"]) == (pytest.approx(1 / 3), 1)
    assert "F1@K(2)" in log["metrics"]
