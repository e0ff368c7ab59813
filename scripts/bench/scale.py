"""What many responses cost: a run of a hundred thousand, made in a process of its own, whose memory is read at its end."""

import asyncio
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from rich.table import Table

from localfact.pipeline import Costs, Observer
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
from scripts.bench.measure import peak, run_alone, table_of

#: Responses at --size 1.
RESPONSES = 100_000
#: Claims of each, as many as the sample's have on average, and characters of each of its pages.
CLAIMS, PAGE_CHARACTERS = 17, 500
#: Names of what a stage counted.
COUNTED = ("sentences", "passages", "pairs", "pairs_failed", "dropped")


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
    """Made-up responses through one run and its summary, in a process of its own."""
    count = max(200, int(RESPONSES * size))
    with tempfile.TemporaryDirectory() as folder:
        told = run_alone(large_run, count, Path(folder))
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
    yield "one run of many responses: the client's memory and time", table


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
        "peak": peak(),
    }
