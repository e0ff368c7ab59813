"""Makes a log by inspect_ai's mock model: `python inspect_logs.py ROWS.jsonl FOLDER`, in the environment that has inspect_ai.

Each row is a sample, its "response" what the mock model answers; "passages" and "topic" stand in the sample's metadata.
"""

import json
import sys
from pathlib import Path

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import Generate, TaskState, solver


def answer_of(row: dict) -> ModelOutput:
    output = ModelOutput.from_content("mockllm/model", row["response"])
    output.usage = ModelUsage()  # else it is counted with a tokenizer, which is downloaded
    return output


def sample_of(row: dict) -> Sample:
    kept = {name: row[name] for name in ("passages", "topic") if name in row}
    return Sample(id=row["id"], input=row["prompt"], metadata={**kept, "row": row})


@solver
def from_metadata():
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model = get_model("mockllm/model", custom_outputs=[answer_of(state.metadata["row"])], memoize=False)
        state.output = await model.generate(state.messages)
        return state

    return solve


if __name__ == "__main__":
    rows = [json.loads(line) for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()]
    task = Task(dataset=list(map(sample_of, rows)), solver=from_metadata(), epochs=int(sys.argv[3]))
    (log,) = evaluate(task, model="mockllm/model", log_dir=sys.argv[2], display="none", score=False)
    assert log.status == "success", log.error
    print(log.location)
