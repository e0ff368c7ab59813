"""Makes and reads logs of inspect_ai, in its environment: `inspect_logs.py make ROWS.jsonl LOG`, `run PROGRAM`, `read LOG`.

Each row is a sample, its "response" what the mock model answers; "passages" and "topic" stand in the sample's metadata.
"""

import json
import sys
from pathlib import Path

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.model._providers.mockllm import MockLLM
from inspect_ai.solver import Generate, TaskState, solver


async def no_usage(model: MockLLM, output: ModelOutput, *_: object) -> None:
    output.usage = ModelUsage()


# Else tokens are counted, with a tokenizer that is downloaded.
MockLLM._ensure_default_usage = no_usage


def sample_of(row: dict) -> Sample:
    kept = {name: row[name] for name in ("passages", "topic") if name in row}
    return Sample(id=row["id"], input=row["prompt"], metadata={**kept, "answers": row["response"]})


@solver
def answering():
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        said = ModelOutput.from_content("mockllm/model", state.metadata["answers"])
        model = get_model("mockllm/model", custom_outputs=[said], memoize=False)
        state.output = await model.generate(state.messages)
        return state

    return solve


def make(rows: Path, file: Path) -> None:
    samples = [sample_of(json.loads(line)) for line in rows.read_text(encoding="utf-8").splitlines()]
    task = Task(dataset=samples, solver=answering())
    (log,) = evaluate(task, model="mockllm/model", log_dir="logs", display="none", score=False)
    assert log.status == "success", log.error
    Path(log.location).replace(file)


def read(file: str) -> str:
    log = read_eval_log(file)
    (result,) = log.results.scores
    samples = {sample.id: score.model_dump(mode="json") for sample in log.samples for score in sample.scores.values()}
    metrics = {metric.name: metric.value for metric in result.metrics.values()}
    return json.dumps({"metrics": metrics, "unscored": result.unscored_samples, "samples": samples})


if __name__ == "__main__":
    what, *named = sys.argv[1:]
    if what == "make":
        make(*map(Path, named))
    elif what == "run":
        exec(Path(named[0]).read_text(encoding="utf-8"))
    else:
        print(read(named[0]))
