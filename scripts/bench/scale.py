"""What many machines and many responses cost: workers of a cluster, and a run of a hundred thousand.

The workers sleep in place of a model, so that what is measured is handing out, sending back and writing. The run of many is
made in a process of its own, whose memory is read at its end.
"""

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

from rich.table import Table

from localfact.assembling import begin_assessment
from localfact.cluster.worker import Make
from localfact.methods.web import Notes
from localfact.pipeline import Costs, Observer, ResponseAssessor
from localfact.records import Assessment, Response
from localfact.report.run_figures import RunFacts
from localfact.report.summary import summarise
from localfact.runs.assessments import ASSESSMENTS_FILE
from localfact.runs.outlines import read_outlines
from localfact.runs.progress import SILENT
from localfact.runs.run import run
from localfact.runs.run_folder import RunFolder
from localfact.runtime.usage import REPEATABLE
from scripts.bench.large_runs import large_assessments
from scripts.bench.measure import table_of

#: At --size 1: responses that sleeping workers assess, and those of the run whose memory is read.
SLEEPERS, RESPONSES = 400, 100_000
#: Seconds that a worker sleeps for each response; how many it has at work at once.
SLEEP, SLOTS = 0.05, 4
#: Claims of each response of the large run, as many as the sample's have on average, and characters of each of its pages.
CLAIMS, PAGE_CHARACTERS = 17, 500
#: Names of what a stage counted.
COUNTED = ("sentences", "passages", "pairs", "pairs_failed", "dropped")
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Waiting:
    """An assessor with which every response takes the same time."""

    seconds: float

    async def assess(self, index: int, response: Response, costs: Costs, observe: Observer) -> Assessment:
        """Sleeps, and finds no claim."""
        await asyncio.sleep(self.seconds)
        return begin_assessment(index, response).model_copy(update={"status": "abstained"})


def waiting(opened: AsyncExitStack, *, seconds: float) -> tuple[Waiting, Notes]:
    return Waiting(seconds), tuple


class MadeUp:
    """An assessor whose assessments are made up, of the size of real ones, with figures that are another response's nowhere."""

    async def assess(self, index: int, response: Response, costs: Costs, observe: Observer) -> Assessment:
        """Makes the one of that index."""
        (made,) = large_assessments(1, CLAIMS, PAGE_CHARACTERS)
        figures = {name: index + place for place, name in enumerate(REPEATABLE)} | {"choices": CLAIMS, "mass": index + 0.5}
        return made.model_copy(
            update={
                "index": index,
                "response_id": response.id,
                "counts": {stage: dict.fromkeys(COUNTED, index) for stage in ("extract", "retrieve", "relate", "assess")},
                "usage": {stage: dict(figures) for stage in ("extract", "preverify", "verify")},
            }
        )


def tables(size: float) -> Iterator[tuple[str, Table]]:
    """One table for the cluster where Ray is installed, and one for a large run."""
    if find_spec("ray") is not None:
        yield "responses on workers of a Ray cluster that sleep", cluster(max(40, int(SLEEPERS * size)))
    yield "one run of many responses: the client's memory and time", large(max(200, int(RESPONSES * size)))


async def timed(assessor: ResponseAssessor, responses: Sequence[Response], concurrency: int) -> float:
    """Seconds of a run into a folder of its own.

    Raises:
        RuntimeError: a response failed, so that the seconds would be those of nothing.
    """
    with tempfile.TemporaryDirectory() as folder, RunFolder(Path(folder) / "run", {}, {}) as made:
        started = time.perf_counter()
        await run(responses, assessor, made, SILENT, concurrency)
        took = time.perf_counter() - started
        lines = (Path(folder) / "run" / ASSESSMENTS_FILE).read_text(encoding="utf-8").splitlines()
    errors = [assessment["error"] for assessment in map(json.loads, lines) if assessment["status"] == "failed"]
    if errors or len(lines) != len(responses):
        raise RuntimeError(f"{len(errors)} of {len(lines)} responses failed: {errors[:1]}")
    return took


def responses_of(count: int) -> list[Response]:
    """Responses of 1,800 characters."""
    return [Response(id=f"r{number}", text="Nothing. " * 200) for number in range(count)]


@contextmanager
def local_ray() -> Iterator[None]:
    """Ray on this machine alone, for the block."""
    import ray

    from localfact.cluster.joining import leave

    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
        runtime_env={"env_vars": {"PYTHONPATH": str(ROOT)}},
    )
    try:
        yield
    finally:
        leave()


def by_workers(make: Make, responses: Sequence[Response], replicas: int) -> float:
    """Seconds of a run by so many workers, which have joined before it begins."""
    from localfact.cluster.workers import Resources, Workers

    workers = Workers(make, replicas=replicas, slots=SLOTS, resources=Resources())

    async def seconds() -> float:
        try:
            while workers.joined < replicas:
                await timed(workers, responses[: SLOTS * 4], replicas * SLOTS)
            return await timed(workers, responses, replicas * SLOTS)
        finally:
            await workers.aclose()

    return asyncio.run(seconds())


def cluster(count: int) -> Table:
    """Responses a second of one and of two workers, and what one response costs beside its own time."""
    responses = responses_of(count)
    table = table_of("workers", "responses a second", "ratio", "ms a response beside sleep")
    alone = asyncio.run(timed(Waiting(0.0), responses, SLOTS))
    table.add_row("none, without sleep", f"{count / alone:,.0f}", "", f"{1000 * alone / count:.2f}")
    with local_ray():
        first: float | None = None
        for replicas, seconds in ((1, SLEEP), (2, SLEEP), (1, 0.0)):
            took = by_workers(partial(waiting, seconds=seconds), responses, replicas)
            rate = count / took
            first = first or rate
            beside = 1000 * (took - count * seconds / (replicas * SLOTS)) / count
            name = f"{replicas}, {SLOTS} at once, {1000 * seconds:.0f} ms each"
            table.add_row(name, f"{rate:,.1f}", f"{rate / first:.2f}" if seconds else "", f"{beside:.2f}")
    return table


def large(count: int) -> Table:
    """Made-up responses through one run and its summary, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "scripts.bench.scale", str(count), folder]
        told = json.loads(subprocess.run(command, check=True, capture_output=True, cwd=ROOT).stdout)
    columns = ("responses", "claims", "GB of assessments", "peak GB", "ms a response to run", "s to resume", "s to sum up")
    table = table_of(*columns, names=0)
    table.add_row(
        f"{count:,}",
        f"{count * CLAIMS:,}",
        f"{told['bytes'] / 1e9:.2f}",
        f"{told['peak'] / 1e9:.2f}",
        f"{1000 * told['run'] / count:.2f}",
        f"{told['resume']:.1f}",
        f"{told['summary']:.1f}",
    )
    return table


def large_run(count: int, folder: Path) -> dict[str, float]:
    """Bytes and seconds of a run in this process, of opening its folder again and of its summary."""
    responses = [Response(id=f"r{number}", text="Nothing.") for number in range(count)]
    seconds = [time.perf_counter()]
    with RunFolder(folder / "run", {}, {}) as made:
        asyncio.run(run(responses, MadeUp(), made, SILENT, 32))
    seconds.append(time.perf_counter())
    with RunFolder(folder / "run", {}, {}) as made:
        seconds.append(time.perf_counter())
        made.complete(summarise(read_outlines(folder / "run"), RunFacts(method="made-up")).model_dump(mode="json"))
    seconds.append(time.perf_counter())
    run_seconds, resume, summary = (later - earlier for earlier, later in pairwise(seconds))
    return {
        "run": run_seconds,
        "resume": resume,
        "summary": summary,
        "bytes": (folder / "run" / ASSESSMENTS_FILE).stat().st_size,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


if __name__ == "__main__":
    print(json.dumps(large_run(int(sys.argv[1]), Path(sys.argv[2]))))
