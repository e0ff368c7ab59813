"""inspect_ai's side of localfact: a scorer and its metrics, found by the entry point `inspect_ai` of the package.

    inspect score LOG.eval --scorer localfact/localfact -S corpus=index/mine

Loaded by inspect_ai alone, which need not be installed for anything else.
"""

import threading
from functools import cache
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState

from localfact.api.shared_assessor import SharedAssessor
from localfact.inputs.logs.inspect_logs import reason_unanswered
from localfact.inputs.passages import CONTEXT_KEYS, PASSAGE_KEYS
from localfact.inputs.responses import MAX_WORDS
from localfact.integrations.explanation import describe_judge, explain
from localfact.integrations.inspect_records import metadata_of
from localfact.records import Assessment
from localfact.report.summary import count_verdicts
from localfact.scoring import KPolicy, score, standard_scores
from localfact.scoring.aggregate import contribution_of
from localfact.scoring.scores import F1AtK
from localfact.scoring.tally import Unscored, reason_unscored, tally

#: What is taken from a sample's metadata where it is there in a form that a row may have it in, by the names of docs/inputs.md.
TAKEN = {**dict.fromkeys((*PASSAGE_KEYS, *CONTEXT_KEYS), str | list), "topic": str, "source": str}
#: Options that name a file or a folder: relative to where the scorer was made, wherever the evaluation runs.
PATHS = ("corpus", "relations_cache", "prompts", "transcript", "replay", "prior_map")


@metric(scores="unreduced")
def factuality(recall_k: str | None = None) -> Metric:
    """The scores that `localfact eval` prints, over the answers that have one; each answer of several epochs counts.

    Args:
        recall_k: K of R@K and F1@K: median, max, gold or a number; what the scorer was given, or the median, when None.
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        kept = [one.score.metadata for one in scores if one.score.metadata and "assessment" in one.score.metadata]
        read = [Assessment.model_validate(one["assessment"]) for one in kept]
        assessments = [one.model_copy(update={"index": index}) for index, one in enumerate(read)]
        given = recall_k or next((one["recall_k"] for one in kept if "recall_k" in one), "median")
        results = score(assessments, standard_scores(assessments, KPolicy.parse(str(given)))) if assessments else ()
        return {result.name: result.value for result in results if result.value is not None}

    return compute


@scorer(metrics=[factuality()])
def localfact(
    method: str | None = None,
    corpus: str | None = None,
    model: str | None = None,
    recall_k: str = "median",
    max_words: int = MAX_WORDS,
    **options: Any,
) -> Scorer:
    """Scores how factual an answer is: a claim at a time, against a corpus or the passages in the sample's metadata.

    An answer that states nothing, or has no claim that could be judged, is unscored, as is one that failed.

    Args:
        method: as `localfact methods` lists them; builtin-fr2, which asks no language model, unless a model is named.
        corpus: a folder made by `localfact corpus build`; None where samples bring passages.
        model: the language model that judges; it is not the one that is evaluated.
        recall_k: K of R@K and F1@K: median, max, gold or a number. Samples have an F1@K where it is a number; of the median
            only the metrics know.
        max_words: longer answers fail.
        options: any other of `localfact eval`, with _ for each -: embedder="none".

    Raises:
        InputError: an option that cannot be used.
    """
    k = KPolicy.parse(str(recall_k))
    chosen = {"corpus": corpus, "model": model, **options}
    given = {name: absolute(name, value) for name, value in chosen.items() if value is not None}
    shared = cache(lambda: SharedAssessor.of_names(method, given, int(max_words)))
    limiter = cache(anyio.CapacityLimiter)
    making = threading.Lock()

    def open_assessor() -> SharedAssessor:
        with making:  # once for all samples, whose scorers run at the same time
            return shared()

    async def judge(state: TaskState, target: Target) -> Score:
        settings = (await anyio.to_thread.run_sync(open_assessor)).settings
        waiting = limiter(shared().at_once)
        assessment = await anyio.to_thread.run_sync(
            shared().check_or_fail, row_of(state), limiter=waiting, abandon_on_cancel=True
        )
        told = explain(assessment, who := describe_judge(settings))
        kept = {**metadata_of(assessment, settings, who), "recall_k": str(recall_k)}
        if reason := reason_unscored(assessment):
            return Score.unscored(reason=reason, answer=assessment.text, explanation=told, metadata=kept)
        return Score(value=value_of(assessment, k), answer=assessment.text, explanation=told, metadata=kept)

    return judge


def row_of(state: TaskState) -> dict[str, Any]:
    """A sample and its answer as a row of a file of responses; why it has none where an error or a limit stopped it."""
    metadata = state.metadata or {}
    taken = {name: metadata[name] for name, form in TAKEN.items() if isinstance(metadata.get(name), form)}
    name = str(state.sample_id)
    logged = {"id": name, "epoch": state.epoch}
    output = state.output
    reason = None if output.choices else reason_unanswered({}, {"error": output.error})
    said = {"response": output.completion} if reason is None else {"error_message": reason}
    return {**taken, "id": name, "sample": logged, "prompt": state.input_text, **said}


def value_of(assessment: Assessment, k: KPolicy) -> dict[str, float | int]:
    """The precision, F1@K where K does not depend on the other answers, and how many claims have which verdict."""
    measure = F1AtK(k)
    reached = contribution_of(measure, assessment)
    own = {} if isinstance(reached, Unscored) else {str(measure): reached}
    return {"Pr": tally(assessment).precision, **own, **count_verdicts([assessment])}


def absolute(name: str, value: Any) -> Any:
    """An option's value, with a path that is there made independent of the folder that the process is in."""
    return str(Path(value).absolute()) if name in PATHS and isinstance(value, str) and Path(value).exists() else value
