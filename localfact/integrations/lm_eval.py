"""lm-evaluation-harness's side of localfact: what the task in `lm_eval_tasks/` calls. Run as a module, it prints where that is.

    lm_eval run --include_path "$(python -m localfact.integrations.lm_eval)" --tasks localfact_longform ...

Under `localfact` in its --metadata: `data`, a file of prompts; `method`; `max_words`; and options of `localfact eval`.
"""

import argparse
import json
import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean, median
from typing import Any

from localfact.api.sample import sample_corpus, sample_responses
from localfact.api.shared_assessor import SharedAssessor
from localfact.errors import InputError
from localfact.inputs.passages import CONTEXT_KEYS, PASSAGE_KEYS
from localfact.inputs.prompts import PLAIN_SUFFIX, PROMPTS, lines_as_rows, prompt_of
from localfact.inputs.responses import MAX_WORDS
from localfact.inputs.row_files import read_rows
from localfact.integrations.explanation import describe_judge, explain
from localfact.scoring.aggregate import contribution_of
from localfact.scoring.recall import f1, recall_at_k
from localfact.scoring.scores import Entropy
from localfact.scoring.tally import Unscored, reason_unscored, tally

#: The folder to name with --include_path.
TASKS = Path(__file__).with_name("lm_eval_tasks")
#: A value of an answer in the harness's log of samples; None where it has none.
Item = float | None
#: How many claims of an answer are supported, and how many were judged.
Counts = tuple[int, int] | None

log = logging.getLogger(f"lm_eval.{__name__}")


def load_prompts(localfact: Mapping[str, Any] | None = None, **_: Any) -> dict[str, Any]:
    """The prompts of a file in a form of `localfact generate`, as the harness's data set, with the passages of their rows.

    Args:
        localfact: what stands under that name in the metadata; the sample's prompts and corpus where it names no data.

    Raises:
        InputError: the file cannot be used, or none of its rows is a prompt.
    """
    from datasets import Dataset

    if not isinstance(localfact or {}, Mapping):
        raise InputError('Give the metadata an object under localfact: {"localfact": {"corpus": "index/mine"}}.')
    given = dict(localfact or {})
    data = given.pop("data", None)
    if data is None:
        given = {"corpus": str(sample_corpus()), **given}
    judge = json.dumps(given, sort_keys=True)
    path = sample_responses() if data is None else Path(data)
    docs = [{**doc, "judge": judge} for doc in docs_of(path)]
    if not docs:
        raise InputError(f"No row of {path} has a prompt.")
    return {"test": Dataset.from_list(docs)}


def docs_of(path: Path) -> Iterator[dict[str, str]]:
    """A document a prompt; what an answer's row takes from the prompt's is JSON in it, as rows differ in form."""
    rows = lines_as_rows(path, "prompt") if path.suffix.lower() == PLAIN_SUFFIX else read_rows(path, PROMPTS)
    for number, row in enumerate(rows, start=1):
        prompt = prompt_of(row, number)
        if prompt.problem is not None or not isinstance(row, Mapping):
            log.warning("Row %s is passed over: %s", number, prompt.problem)
            continue
        kept = {name: row[name] for name in (*PASSAGE_KEYS, *CONTEXT_KEYS) if row.get(name) is not None}
        kept |= {"id": prompt.id, "topic": prompt.topic, "source": prompt.source}
        yield {"prompt": prompt.text, "row": json.dumps(kept)}


@cache
def assessor_of(judge: str) -> SharedAssessor:
    """The one that judges by these settings, opened once for all answers."""
    chosen = json.loads(judge)
    method, max_words = chosen.pop("method", None), chosen.pop("max_words", MAX_WORDS)
    shared = SharedAssessor.of_names(method, chosen, max_words)
    log.info("Answers are judged by localfact, %s.", describe_judge(shared.settings))
    return shared


def judge_answer(doc: Mapping[str, str], results: Sequence[str]) -> dict[str, Any]:
    """What the harness keeps of an answer: its values, and under "scored" who judged, why, and the whole assessment."""
    shared = assessor_of(doc["judge"])
    assessment = shared.check_or_fail({**json.loads(doc["row"]), "prompt": doc["prompt"], "response": results[0]})
    reason, counts, judge = reason_unscored(assessment), tally(assessment), describe_judge(shared.settings)
    has_score = reason is None
    entropy = contribution_of(Entropy(), assessment)
    both: Counts = (counts.supported, counts.judged) if has_score else None
    return {
        "Pr": counts.precision if has_score else None,
        "R@K(median)": both,
        "F1@K(median)": both,
        "E(log10)": None if isinstance(entropy, Unscored) else entropy,
        "#S": counts.supported if has_score else None,
        "#C": counts.contradicted if has_score else None,
        "#U": counts.undecided if has_score else None,
        "scored": {
            "status": assessment.status,
            "judged_by": judge,
            "explanation": explain(assessment, judge),
            "assessment": assessment.model_dump(mode="json"),
        },
        **{name: int(reason == name) for name in ("abstained", "unscored", "failed")},
    }


def mean_of_scored(items: Sequence[Item]) -> float:
    """The mean over answers that have a score; not a number where none has."""
    values = [item for item in items if item is not None]
    return fmean(values) if values else math.nan


def mean_recall(items: Sequence[Counts]) -> float:
    """The mean R@K of the answers that have a score, K being the median number of their claims."""
    return mean_of_scored([recall_at_k(supported, k_of(items)) for supported, _ in filter(None, items)])


def mean_f1(items: Sequence[Counts]) -> float:
    """The mean F1@K, likewise."""
    scored = [one for one in items if one is not None]
    return mean_of_scored([f1(supported / judged, recall_at_k(supported, k_of(items))) for supported, judged in scored])


def k_of(items: Sequence[Counts]) -> float:
    """The median S + N over the answers that have a score."""
    return float(median(judged for _, judged in filter(None, items)))


def count_scored(items: Sequence[Mapping[str, Any]]) -> int:
    """How many answers have a score."""
    return sum(item["status"] == "scored" for item in items)


def total(items: Sequence[int]) -> int:
    """The sum."""
    return sum(items)


if __name__ == "__main__":
    argparse.ArgumentParser(description="Print the folder to name with --include_path.").parse_args()
    print(TASKS)
