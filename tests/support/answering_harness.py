"""Runs the task for lm-evaluation-harness, in its environment: `python answering_harness.py ROWS.jsonl TASKS METADATA`.

A model that answers each prompt as its row does stands in for one that is evaluated. Prints the results and samples as JSON.
"""

import json
import sys
from pathlib import Path

from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager


class Answering(LM):
    def __init__(self, answers: dict[str, str]) -> None:
        super().__init__()
        self.answers = answers

    def generate_until(self, requests, **_):
        return [self.answers[request.arguments[0]] for request in requests]

    def loglikelihood(self, requests, **_):
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


if __name__ == "__main__":
    rows = [json.loads(line) for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()]
    model = Answering({row["prompt"]: row["response"] for row in rows})
    tasks = TaskManager(include_path=sys.argv[2], metadata=json.loads(sys.argv[3]))
    done = simple_evaluate(model=model, tasks=["localfact_longform"], task_manager=tasks)
    print(json.dumps({name: done[name]["localfact_longform"] for name in ("results", "samples")}, default=str))
