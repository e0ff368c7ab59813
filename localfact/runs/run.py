"""Assesses many responses at once: bounded concurrency, one synced line each, progress."""

from collections.abc import Sequence
from datetime import UTC, datetime

from localfact.pipeline import Costs, ResponseAssessor, failed_assessment
from localfact.records import Failure, Response
from localfact.runs.failures import or_failure
from localfact.runs.progress import Progress
from localfact.runs.run_folder import RunFolder, pending_indices
from localfact.runtime.tasks import for_each
from localfact.text import word_count

#: The default number of responses that are assessed at once: on a CPU a few hide the time for reading and writing.
CONCURRENCY = 4
#: The same with a language model, for each of its replicas: an engine batches all open calls, and a response makes many.
CONCURRENCY_WITH_MODEL = 32
#: The same where a row makes few calls: generate, extract.
CONCURRENCY_OF_CALLS = 256


async def run(
    responses: Sequence[Response],
    assessor: ResponseAssessor,
    folder: RunFolder,
    progress: Progress,
    concurrency: int = CONCURRENCY,
    indices: Sequence[int] | None = None,
) -> None:
    """Assesses every response that the folder does not have yet, and appends each result.

    Args:
        indices: which of the responses are this run's; all when None.

    A response whose assessment fails is recorded as failed, with the reason; the others go on.

    Raises:
        LocalFactError: one that stops all responses: something missing or damaged, a full disk. What was appended stays.
    """
    mine = range(len(responses)) if indices is None else indices
    progress.begin(len(mine), len(folder.done))

    left = {index: responses[index] for index in pending_indices(mine, folder.done)}
    words = {index: 0 if response.problem else word_count(response.text) for index, response in left.items()}
    progress.count("words_to_do", sum(words.values()))

    async def one(index: int) -> None:
        costs = Costs()
        progress.count("words_begun", words[index])
        assessment = await or_failure(assessor.assess(index, responses[index], costs, progress.count))
        if isinstance(assessment, Failure):
            assessment = failed_assessment(index, responses[index], assessment.reason, costs)
        timing = {
            "index": index,
            "finished": datetime.now(UTC).isoformat(),
            "seconds": costs.seconds,
            "usage": costs.ledger.varying(),
            **({"sent": dict(costs.ledger.sent)} if costs.ledger.sent else {}),
        }
        folder.append(assessment, timing)
        progress.count("words_done", words[index])
        progress.row_done()

    await for_each(list(words), one, concurrency)
