"""Many responses down the road at once: bounded concurrency, one synced line each, progress."""

import asyncio
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any, Protocol

from localfact.errors import CorpusError, EngineError, LocalFactError, MissingError, OfflineError, WriteError
from localfact.pipeline import Journey, Pipeline, failed
from localfact.records import Assessment, Response
from localfact.runs.run_folder import RunFolder, pending
from localfact.runtime.tasks import Result, for_each

#: How many responses are on the road at once unless told. More keep a GPU busy; on a CPU a few hide the reading and writing.
CONCURRENCY = 4
#: The same where a language model answers: its engine batches whatever is open, and an idle place in a batch is lost.
CONCURRENCY_WITH_MODEL = 32
#: Errors that no other response would escape.
CONCERN_ALL = (MissingError, CorpusError, EngineError, OfflineError, WriteError)


class Progress(Protocol):
    """Who is told how far a run is."""

    def begin(self, responses: int, done: int) -> None:
        """There are so many responses, of which so many were done before."""
        ...

    def count(self, stage: str, number: int) -> None:
        """A stage ("claims", "relations") handled so many more."""
        ...

    def response_done(self, assessment: Assessment) -> None:
        """One more response is on the disk."""
        ...


class Silent:
    """Progress that nobody watches: for the Python interface and for tests."""

    def begin(self, responses: int, done: int) -> None:
        """Nothing is shown."""

    def count(self, stage: str, number: int) -> None:
        """Nothing is shown."""

    def response_done(self, assessment: Assessment) -> None:
        """Nothing is shown."""


SILENT = Silent()


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
        assessment = await assess_or_fail(index, responses[index], pipeline, journey, progress)
        timing = {
            "index": index,
            "finished": datetime.now(UTC).isoformat(),
            "seconds": journey.seconds,
            "usage": journey.ledger.varying(),
            **({"sent": dict(journey.ledger.sent)} if journey.ledger.sent else {}),
        }
        folder.append(assessment, timing)
        progress.response_done(assessment)

    await for_each(pending(len(responses), folder.done), one, concurrency)


async def assess_or_fail(
    index: int, response: Response, pipeline: Pipeline, journey: Journey, progress: Progress
) -> Assessment:
    """One response down the road; whatever happens to it is its own failure, named, unless it would happen to all."""
    try:
        return await pipeline.assess(index, response, journey, progress.count)
    except CONCERN_ALL:
        raise
    except LocalFactError as error:
        reason = str(error)
    except Exception as error:  # one bad response must never stop the rest
        reason = f"{type(error).__name__}: {error}"
    return failed(index, response, reason).model_copy(update={"usage": journey.ledger.repeatable()})


async def run_and_close(
    responses: Sequence[Response], pipeline: Pipeline, folder: RunFolder, progress: Progress, concurrency: int = CONCURRENCY
) -> None:
    """As `run`; then, however that ended, closes the pipeline, in the event loop that its strategies worked in."""
    try:
        await run(responses, pipeline, folder, progress, concurrency)
    finally:
        await pipeline.close()


def complete(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Runs a coroutine to its end from plain code, also where an event loop is running already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
