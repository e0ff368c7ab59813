"""Every method with a local language model, and the built-in ones, on claims that other people labelled.

    python -m scripts.benchmark_models --write docs/results.md                        the tables of what was measured: seconds
    python -m scripts.benchmark_models DATA --model qwen2.5-coder-1.5b --minutes 60   measures for an hour, then the tables

DATA is the folder of public data sets; without --model only the built-in methods are measured. All methods judge the claims of
the annotators in the same draw of responses, by the passages that came with them (of the sample: by its pages). Cells that tell
most come first. Interrupted, killed or out of time, the same command goes on: runs and the model's answers are kept in --work,
and an open call is all that is lost. A cell that fails is told, and the next one begins. A complete one becomes a file in
--cells, without anybody's text; it is measured again where its data or settings changed since, or where its file was removed.
"""

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from localfact.api.evaluate import Job, execute, name_as_recorded, prepare
from localfact.api.reckoning import reckon
from localfact.api.sample import sample_corpus
from localfact.errors import EngineError
from localfact.llm.calls import Call, CallResult
from localfact.llm.client import CallingEngine
from localfact.llm.cores.sharing import EngineOwner
from localfact.llm.engine import Choice, Generation
from localfact.llm.layers.layer import Layer
from localfact.llm.placing.settings import EngineSettings
from localfact.methods.options import Options
from localfact.report.console import errors, note
from localfact.report.progress import TerminalProgress
from localfact.runs.run_folder import CALLS_FILE, RELATIONS_FILE, read_timings
from localfact.runtime.files import replace as write
from localfact.runtime.tasks import complete
from localfact.runtime.usage import count
from scripts.benchmark_cells import (
    ASKED,
    FOLDER,
    Cell,
    at_pace_of,
    busy_seconds,
    family_of,
    read_cells,
    read_run,
    tables,
    write_cell,
)
from scripts.labelled_sets import digest, labelled_rows
from scripts.tables import put_between

BEGIN, END = "<!-- models: begin -->", "<!-- models: end -->"
#: After the name of a method: relations, or True and False, without the model's own bias; and how relations count then.
CALIBRATED, SOFT = "-calibrated", {"factors": "soft", "tables": "balanced"}
#: Methods and sets, those that tell most first. The first of several forms of a method asks all that the others ask.
METHODS = (
    *("builtin-fr2", "builtin-fr1", "factreasoner-fr2-calibrated", "factreasoner-fr2", "factreasoner-fr1-calibrated"),
    *("factreasoner-fr1", "factscore", "factscore-calibrated", "localfact", "factool", "safe", "veriscore", "fastfact"),
)
SETS = ("openfactcheck", "factcheck_gpt", "sample", "biographies", "flaherty")
#: The most responses of methods that read thousands of tokens a claim.
FEWER = {"veriscore": 12, "fastfact": 12}
#: Responses at work at once: a model on a CPU gains little by more.
AT_ONCE = 4


class TimeOverError(EngineError):
    """The time that was given is over."""


class Timed(TerminalProgress):
    """Progress that ends the run when the time is over: once the model has answered, or a response is done."""

    until = float("inf")

    def count(self, stage: str, number: int) -> None:
        """Adds to a count; "output_tokens" is counted when an answer is on the disk."""
        super().count(stage, number)
        if stage == "output_tokens":
            self._end_in_time()

    def row_done(self) -> None:
        """Called when a response is on the disk."""
        super().row_done()
        self._end_in_time()

    def _end_in_time(self) -> None:
        if time.monotonic() > self.until:
            raise TimeOverError("The time is over.")


class AskedLayer(Layer):
    """Counts for the timings of a run which tokens the model was asked now."""

    async def answer(self, call: Call[CallResult]) -> CallResult:
        """Hands the call on, and counts what it read and wrote."""
        answer = await self._inner.answer(call)
        if isinstance(answer, Generation | Choice):
            count(ASKED, answer.usage.prompt_tokens + answer.usage.output_tokens)
        return answer


class Planned(NamedTuple):
    """A cell to be measured. reckoned: seconds for all of it, by the rates of localfact's plans."""

    about: dict[str, Any]
    job: Job
    reckoned: float

    def __str__(self) -> str:
        return f"{self.about['method']}/{self.about['set']}"

    @property
    def share(self) -> float:
        """How much of it is done, in [0, 1]."""
        return len(read_timings(self.job.out)) / len(self.job.responses)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", help="the folder of public data sets; without it only tables are made")
    parser.add_argument("--model", help="a language model, as localfact eval takes it")
    parser.add_argument(
        "--responses", type=int, default=60, help="drawn of each set (60; at most 12 for veriscore and fastfact)"
    )
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so many")
    parser.add_argument("--only", action="append", metavar="METHOD/SET", help="these cells alone; METHOD/ and /SET are wider")
    parser.add_argument("--plan", action="store_true", help="name what is left and about how long it takes; measure nothing")
    parser.add_argument("--work", type=Path, default=Path("runs/benchmark-models"), help="keeps runs and answers")
    parser.add_argument("--cells", type=Path, default=FOLDER, help="keeps complete cells")
    parser.add_argument("--write", type=Path, help="put the tables between the marks in this file")
    chosen = parser.parse_args()
    if chosen.data:
        cells = list(planned(chosen))
        for cell in cells if chosen.plan else ():
            note(f"{cell}: {cell.share:.0%} done, {left_in_words([cell], chosen.cells)}")
        note(f"In all {left_in_words(cells, chosen.cells)}")
        if not chosen.plan:
            measure(cells, chosen)
    text = tables(read_cells(chosen.cells), SETS, METHODS)
    print(text)
    if chosen.write:
        write(chosen.write, put_between(chosen.write.read_text(encoding="utf-8"), text, BEGIN, END).encode())


def planned(chosen: argparse.Namespace) -> Iterator[Planned]:
    """The cells that are not measured, in their order; why one cannot be is told."""
    known = {cell.name: cell.about for cell in read_cells(chosen.cells)}
    every = labelled_rows(chosen.data)
    for method, name in in_order(chosen.only or ["/"]):
        builtin = method.startswith("builtin")
        if not (builtin or chosen.model):
            continue
        rows = draw(every[name], min(chosen.responses, FEWER.get(method, chosen.responses)))
        file = chosen.work / f"{name}-{len(rows)}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        write(file, "".join(json.dumps(row) + "\n" for row in rows).encode())
        about = {"set": name, "method": method, "model": "" if builtin else Path(chosen.model).name}
        try:
            job = prepare(file, method=method.removesuffix(CALIBRATED), options=options_of(method, name, chosen))
        except Exception as error:  # another one may do
            note(f"{method}/{name} cannot be measured: {error}")
            continue
        settings = job.out.name  # a hash of all that decides results
        out = chosen.work / f"{name}.{method}" / settings
        recorded = name_as_recorded(job.chosen.settings, out)  # with the map that was fitted when the run began
        job = replace(job, chosen=replace(job.chosen, settings=recorded), out=out)
        before = known.get(Cell(about, ()).name, {"settings": "", "responses": 0})
        if before["settings"] != settings and before["responses"] <= len(rows):
            first = next(one for one in METHODS if family_of(one) == family_of(method))
            seconds = 3600 * reckon(job.chosen, job.responses).get("hours", 0.0) if method == first else 0.0
            made = {"settings": settings, "version": version("localfact"), "reckoned": seconds}
            yield Planned(about | made, job, seconds)


def in_order(only: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Methods with sets: the first with the first, then those that follow on either side, two methods for each set."""
    places = {(method, name): (i + 2 * j, j) for i, method in enumerate(METHODS) for j, name in enumerate(SETS)}
    wanted = [one.partition("/") for one in only]
    for method, name in sorted(places, key=lambda one: places[one]):
        if any(one in ("", method) and other in ("", name) for one, _, other in wanted):
            yield method, name


def draw(rows: Sequence[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """At most so many of the rows that have a labelled claim, by a hash: a smaller draw is part of a larger one."""
    labelled = [row for row in rows if any(one.get("label") in ("S", "NS") for one in row.get("claims", row.get("atoms")))]
    return sorted(labelled, key=lambda row: digest(f"drawn {row['id']}"))[:most]


def options_of(method: str, name: str, chosen: argparse.Namespace) -> Options:
    """The options of a method on a set. All with one model share a transcript: what several ask is asked once."""
    changes: dict[str, Any] = {"claims": "given", "corpus": sample_corpus() if name == "sample" else None}
    if not method.startswith("builtin"):
        answers = chosen.work / Path(chosen.model).name / CALLS_FILE
        answers.parent.mkdir(parents=True, exist_ok=True)
        changes |= {"model": chosen.model, "transcript": answers}
    if method.endswith(CALIBRATED):
        changes |= {"calibrated": True, **(SOFT if family_of(method) == "factreasoner" else {})}
    return Options(**changes)


def measure(cells: Sequence[Planned], chosen: argparse.Namespace) -> None:
    """Runs the cells until the time is over, and writes each that is complete."""
    until, owner, failed = time.monotonic() + 60 * chosen.minutes, EngineOwner(), []
    before = {cell.name: cell for cell in read_cells(chosen.cells)}

    def start(settings: EngineSettings) -> CallingEngine:
        return AskedLayer(owner.share_started(settings))

    try:
        for place, cell in enumerate(cells):
            note(f"{cell}, {cell.share:.0%} done; {left_in_words(cells[place:], chosen.cells)}")
            # The transcript has these relations, too, and counts those of a response that is begun again.
            for file in cell.job.out.glob(f"{RELATIONS_FILE}*") if cell.about["model"] else ():
                file.unlink()
            try:
                with Timed(errors()) as progress:
                    progress.until = until
                    execute(cell.job, concurrency=AT_ONCE, progress=progress, start=start)
                found = read_run(cell.job.out, cell.about)
                write_cell(chosen.cells, at_pace_of(found, before.get(found.name)))
            except TimeOverError:
                note("The time is over; the same command goes on.")
                break
            except KeyboardInterrupt:
                raise SystemExit("Interrupted; the same command goes on.") from None
            except Exception as error:  # whatever it is, the next one may do
                note(f"{cell} failed: {type(error).__name__}: {error}")
                failed.append(str(cell))
                complete(owner.keep_only(None))
    finally:
        complete(owner.keep_only(None))
    note(f"Failed: {', '.join(failed) or 'none'}.")


def left_in_words(cells: Sequence[Planned], folder: Path) -> str:
    """How many cells are left, and about how long they take at the pace of what is done: of the same method, else of all."""
    done = [(one.about["method"], one.about["seconds"], one.about["reckoned"]) for one in read_cells(folder)]
    done += [(one.about["method"], busy_seconds(one.job.out), one.share * one.reckoned) for one in cells]
    known = [(family_of(method), seconds, reckoned) for method, seconds, reckoned in done if reckoned]
    left = 0.0
    for one in cells:
        alike = [each for each in known if each[0] == family_of(one.about["method"])] or known
        pace = sum(each[1] for each in alike) / sum(each[2] for each in alike) if alike else 1.0
        left += pace * (1 - one.share) * one.reckoned
    return f"{len(cells)} left, about {left / 3600:.1f} hours{'' if known else ' by data sheets alone'}"


if __name__ == "__main__":
    main()
