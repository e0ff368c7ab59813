"""Makes logs by the tools themselves, in their environment: `python make_real_logs.py FOLDER`, of the rows below.

FOLDER/inspect/*.eval, *.json    two epochs of each row; the second of the last one is stopped by an error
FOLDER/harness/**/samples_*      two answers to each row, and two filters
FOLDER/saved                     a dictionary of data sets with the rows
"""

import json
import sys
from pathlib import Path

ROWS = [
    {"id": "ice", "prompt": "What of ice?", "response": "Ice floats on water, as it is lighter."},
    {"id": "7", "prompt": "What of snow?", "response": "Snow falls in winter, and melts in spring." * 20},
]
TASK = """
task: frozen_things
dataset_path: json
dataset_kwargs: {{data_files: {{test: {file}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{prompt}}}}"
doc_to_target: ""
generation_kwargs: {{until: ["\\n\\n"]}}
repeats: 2
filter_list:
  - {{name: first, filter: [{{function: take_first}}]}}
  - {{name: digits, filter: [{{function: regex, regex_pattern: "(\\\\d+)"}}, {{function: take_first}}]}}
metric_list: [{{metric: bypass}}]
"""


def make_inspect_logs(folder: Path) -> None:
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessageAssistant, ContentReasoning, ContentText, ModelOutput, ModelUsage, get_model
    from inspect_ai.solver import Generate, TaskState, solver

    @solver
    def answer_from_row():
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            if state.sample_id == 7 and state.epoch == 2:
                raise RuntimeError("no route to the model")
            parts = [ContentReasoning(reasoning="It is cold."), ContentText(text=state.metadata["response"])]
            output = ModelOutput.from_message(ChatMessageAssistant(content=parts))
            output.usage = ModelUsage()  # else it is counted with a tokenizer, which is downloaded
            model = get_model("mockllm/model", custom_outputs=[output], memoize=False)
            state.output = await model.generate(state.messages)
            state.messages.append(state.output.message)
            return state

        return solve

    ids = {row["id"]: int(row["id"]) if row["id"].isdigit() else row["id"] for row in ROWS}
    samples = [Sample(id=ids[row["id"]], input=row["prompt"], metadata={"response": row["response"]}) for row in ROWS]
    for form in ("eval", "json"):
        task = Task(name="frozen_things", dataset=samples, solver=answer_from_row(), epochs=2)
        made = {"log_dir": str(folder), "log_format": form, "display": "none", "fail_on_error": False}
        evaluate(task, model="mockllm/model", **made)


def make_harness_samples(folder: Path) -> None:
    import lm_eval
    from lm_eval.api.model import LM
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    class Answering(LM):
        """Answers each prompt by its row, the second time in capitals."""

        def generate_until(self, requests, disable_tqdm=False):
            given, said = {row["prompt"]: row["response"] for row in ROWS}, []
            for request in requests:
                answer = given[request.args[0]]
                said.append(answer.upper() if answer in said else answer)
            return said

        def loglikelihood(self, requests, disable_tqdm=False):
            raise NotImplementedError

        def loglikelihood_rolling(self, requests, disable_tqdm=False):
            raise NotImplementedError

    (folder / "tasks").mkdir(parents=True)
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    (folder / "tasks" / "task.yaml").write_text(TASK.format(file=folder / "rows.jsonl"), encoding="utf-8")
    tracker = EvaluationTracker(output_path=str(folder / "out"))
    found = lm_eval.simple_evaluate(
        Answering(),
        tasks=["frozen_things"],
        task_manager=TaskManager(include_path=str(folder / "tasks"), include_defaults=False),
        evaluation_tracker=tracker,
        bootstrap_iters=0,
    )
    samples = found.pop("samples")
    tracker.general_config_tracker.model_name = "org/answering"
    tracker.general_config_tracker.model_name_sanitized = "org__answering"
    tracker.save_results_aggregated(results=found, samples=samples)
    for task, rows in samples.items():
        tracker.save_results_samples(task_name=task, samples=rows)


def save_data_sets(folder: Path) -> None:
    from datasets import Dataset, DatasetDict

    shuffled = Dataset.from_list([*ROWS, *ROWS]).select([3, 0])
    DatasetDict({"train": Dataset.from_list(ROWS), "test": shuffled}).save_to_disk(folder, num_shards={"train": 2, "test": 1})


if __name__ == "__main__":
    made = Path(sys.argv[1])
    make_inspect_logs(made / "inspect")
    make_harness_samples(made / "harness")
    save_data_sets(made / "saved")
