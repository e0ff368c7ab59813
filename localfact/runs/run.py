"""Many responses down the road at once: bounded concurrency, one synced line each, progress."""

from collections.abc import Sequence
from datetime import UTC, datetime

from localfact.pipeline import Journey, Pipeline, failed
from localfact.records import Failure, Response
from localfact.runs.failures import or_failure
from localfact.runs.progress import Progress
from localfact.runs.run_folder import RunFolder, pending
from localfact.runtime.tasks import for_each

#: How many responses are on the road at once unless told. More keep a GPU busy; on a CPU a few hide the reading and writing.
CONCURRENCY = 4
#: The same where a language model answers: its engine batches whatever is open, and an idle place in a batch is lost.
CONCURRENCY_WITH_MODEL = 32


async def run(
    responses: Sequence[Response],
    pipeline: Pipeline,
    folder: RunFolder,
    progress: Progress,
    concurrency: int = CONCURRENCY,
) -> None:
    """Assesses every response that the folder has not yet, and appends each as it ends.

    A response whose assessment fails is recorded as failed, with the reason, and stops nobody else.

    Raises:
        LocalFactError: what stops all of them: something missing or damaged, a full disk. What was appended stays.
    """
    progress.begin(len(responses), len(folder.done))

    async def one(index: int) -> None:
        journey = Journey()
        assessment = await or_failure(pipeline.assess(index, responses[index], journey, progress.count))
        if isinstance(assessment, Failure):
            assessment = failed(index, responses[index], assessment.reason, journey)
        timing = {
            "index": index,
            "finished": datetime.now(UTC).isoformat(),
            "seconds": journey.seconds,
            "usage": journey.ledger.varying(),
            **({"sent": dict(journey.ledger.sent)} if journey.ledger.sent else {}),
        }
        folder.append(assessment, timing)
        progress.row_done()

    await for_each(pending(len(responses), folder.done), one, concurrency)
