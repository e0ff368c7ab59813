"""Makes and reads logs of inspect_ai, in the environment that has it: `python inspect_logs.py make ROWS.jsonl FOLDER`, `read LOG`.

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
from inspect_ai.solver import Generate, TaskState, solver


def output_of(answer: str) -> ModelOutput:
    output = ModelOutput.from_content("mockllm/model", answer)
    output.usage = ModelUsage()  # else tokens are counted, with a tokenizer that is downloaded
    return output


def sample_of(row: dict) -> Sample:
    kept = {name: row[name] for name in ("passages", "topic") if name in row}
    return Sample(id=row["id"], input=row["prompt"], metadata={**kept, "answers": row["response"]})


@solver
def answering():
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model = get_model("mockllm/model", custom_outputs=[output_of(state.metadata["answers"])], memoize=False)
        state.output = await model.generate(state.messages)
        return state

    return solve


def make(rows: Path, folder: str) -> str:
    samples = [sample_of(json.loads(line)) for line in rows.read_text(encoding="utf-8").splitlines()]
    task = Task(dataset=samples, solver=answering())
    (log,) = evaluate(task, model="mockllm/model", log_dir=folder, display="none", score=False)
    assert log.status == "success", log.error
    return log.location


def read(file: str) -> str:
    log = read_eval_log(file)
    (result,) = log.results.scores
    samples = {sample.id: score.model_dump(mode="json") for sample in log.samples for score in sample.scores.values()}
    metrics = {metric.name: metric.value for metric in result.metrics.values()}
    return json.dumps({"metrics": metrics, "unscored": result.unscored_samples, "samples": samples})


if __name__ == "__main__":
    print(make(Path(sys.argv[2]), sys.argv[3]) if sys.argv[1] == "make" else read(sys.argv[2]))
