"""Evaluations that a service was asked for: each a run folder with its rows beside it, so that a restart loses none.

    jobs/
        token                       what others than this machine must show, its owner's alone
        000001-5f1c9a2e/            a job, in the order in which they came
            rows.jsonl              what was sent, on the disk before the job was promised
            run/                    the run folder of `localfact eval --data rows.jsonl`, which goes on after a kill

A job is finished when its run has a summary. There is no other record of it: what is not finished goes on at the next start.
"""

import asyncio
import json
import os
import queue
import re
import secrets
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

from localfact.api.judged_by import JudgedBy, judged_by
from localfact.api.rescore import read_finished_summary
from localfact.api.shared_assessor import SharedAssessor
from localfact.errors import InputError, LocalFactError, MissingError
from localfact.records import Assessment, Record
from localfact.report.summary import Summary
from localfact.runs.assessments import assessments_in_order
from localfact.runs.journal import lock
from localfact.runs.record import read_run
from localfact.runs.run_folder import LOCK_FILE, SUMMARY_FILE
from localfact.runtime.files import replace, sync, write_errors
from localfact.runtime.links import refuse_links
from localfact.text import path_text, readable

ROWS_FILE, RUN_FOLDER, TOKEN_FILE = "rows.jsonl", "run", "token"
JOB_NAME = re.compile(r"([0-9]{6,})-[0-9a-f]{8}")
#: The most jobs that wait or run at a time.
MOST_OPEN = 100

State = Literal["waiting", "running", "done", "failed"]


class JobProgress(Record):
    """How far a job is.

    Attributes:
        id: of the job. state: failed says that the whole of it stopped, not that rows of it failed; a restart tries it again.
        rows, rows_done: how many there are, and how many are on the disk. claims: found since this start.
        error: why it stopped.
        summary: of a job that is done: its counts and scores, as in summary.json.
        judged_by: who judged, which an earlier start may have chosen; and what a verdict is not.
    """

    id: str
    state: State
    rows: int
    rows_done: int = 0
    claims: int = 0
    error: str | None = None
    summary: Summary | None = None
    judged_by: JudgedBy


class EvaluationJob:
    """One job, and how far it is. It counts what its run reports (runs.progress.Progress)."""

    def __init__(self, folder: Path, shared: SharedAssessor) -> None:
        self.folder, self._shared = folder, shared
        self.rows_file, self.run = folder / ROWS_FILE, folder / RUN_FOLDER
        self.state: State = "done" if (self.run / SUMMARY_FILE).is_file() else "waiting"
        self.error: str | None = None
        self._rows_done = self._claims = 0

    @cached_property
    def rows(self) -> int:
        """How many rows were sent."""
        return self.rows_file.read_bytes().count(b"\n")

    def begin(self, rows: int, done: int) -> None:
        """Notes how many rows an earlier start has done."""
        self._rows_done = done

    def count(self, what: str, number: int) -> None:
        """Counts claims."""
        self._claims += number if what == "claims" else 0

    def row_done(self) -> None:
        """Counts a row that is on the disk."""
        self._rows_done += 1

    def progress(self) -> JobProgress:
        """How far the job is; with its summary when it is done.

        Raises:
            InputError: the summary is damaged. MissingError: the run is done and gone.
        """
        return JobProgress(
            id=self.folder.name,
            state=self.state,
            rows=self.rows,
            rows_done=self.rows if self.state == "done" else self._rows_done,
            claims=self._claims,
            error=self.error,
            summary=read_finished_summary(self.run) if self.state == "done" else None,
            judged_by=self.judged_by(),
        )

    def judged_by(self) -> JudgedBy:
        """Who judged the rows that are done; before there are any, who will.

        Raises:
            InputError: the run's settings are damaged. MissingError: the run is done and gone.
        """
        try:
            return judged_by(read_run(self.run).settings)
        except MissingError:
            if self.state == "done":
                raise
            return self._shared.judged_by

    def results(self, start: int, most: int) -> list[Assessment]:
        """Assessments in the order of the rows, from number `start`, counted from 1; those that are there.

        Raises:
            InputError: a damaged line. MissingError: the run is done and gone.
        """
        try:
            return list(assessments_in_order(self.run, start - 1, most))
        except MissingError:
            if self.state == "done":
                raise
            return []


class Jobs:
    """The jobs of a folder, which this process alone works on, one after the other, in a thread of its own.

    Args:
        folder: where they are kept; made if missing.
        shared: assesses their responses.

    Attributes:
        token: of this folder, for those who reach the service from elsewhere; it stays.

    Raises:
        RunFolderError: another process serves that folder. InputError: it holds a symbolic link. WriteError: as for any file.
    """

    def __init__(self, folder: Path, shared: SharedAssessor) -> None:
        self.folder, self._shared = folder, shared
        with write_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            refuse_links(folder)
            self._lock = lock(folder / LOCK_FILE, folder, ", or name another folder with --jobs")
            self.token = _kept_token(folder / TOKEN_FILE)
            names = sorted(path.name for path in folder.iterdir() if JOB_NAME.fullmatch(path.name))
        self._jobs = {name: EvaluationJob(folder / name, shared) for name in names if (folder / name / ROWS_FILE).is_file()}
        self._waiting: queue.SimpleQueue[EvaluationJob | None] = queue.SimpleQueue()
        for job in self._jobs.values():
            if job.state != "done":
                self._waiting.put(job)
        self._adding = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._running: asyncio.Task[Any] | None = None
        self._ended = False
        self._thread = threading.Thread(target=self._work, name="jobs", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended = True
        self._waiting.put(None)
        if self._loop is not None and self._running is not None:
            with suppress(RuntimeError):  # it has just ended
                self._loop.call_soon_threadsafe(self._running.cancel)
        self._thread.join()
        self._lock.close()

    @property
    def open_ones(self) -> int:
        """How many wait or run."""
        return sum(job.state in ("waiting", "running") for job in self._jobs.values())

    def find(self, name: str) -> EvaluationJob | None:
        """The job of that name; None where there is none, or where somebody deleted its folder."""
        job = self._jobs.get(name)
        return job if job is not None and job.rows_file.is_file() else None

    def add(self, rows: Sequence[str | Mapping[str, Any]]) -> EvaluationJob | None:
        """Puts rows on the disk as a job, and the job at the end of the queue; None where too many wait.

        Raises:
            InputError: nothing in the rows can be evaluated. WriteError: the disk is full, for example; there is no job then.
        """
        lines = [json.dumps({"response": row} if isinstance(row, str) else row, ensure_ascii=False) for row in rows]
        with self._adding, write_errors(self.folder):
            if self.open_ones >= MOST_OPEN:
                return None
            number = 1 + max((int(name.partition("-")[0]) for name in self._jobs), default=0)
            folder = self.folder / f"{number:06}-{secrets.token_hex(4)}"
            folder.mkdir()
            rows_file = folder / ROWS_FILE
            try:
                replace(rows_file, readable("".join(f"{line}\n" for line in lines)).encode())
                self._shared.job_of(rows_file, folder / RUN_FOLDER)
            except BaseException:
                rows_file.unlink(missing_ok=True)
                folder.rmdir()
                raise
            sync(folder)
            sync(self.folder)
            job = self._jobs[folder.name] = EvaluationJob(folder, self._shared)
        self._waiting.put(job)
        return job

    def _work(self) -> None:
        while (job := self._waiting.get()) is not None and not self._ended:
            with suppress(asyncio.CancelledError):
                asyncio.run(self._run(job))

    async def _run(self, job: EvaluationJob) -> None:
        self._loop, self._running = asyncio.get_running_loop(), asyncio.current_task()
        if self._ended:
            return
        job.state = "running"
        try:
            await self._shared.evaluate(self._shared.job_of(job.rows_file, job.run), job)
            job.state = "done"
        except asyncio.CancelledError:
            job.state = "waiting"
            raise
        except Exception as error:  # of any class: the next job must run
            said = str(error) if isinstance(error, LocalFactError) else f"{type(error).__name__}: {error}"
            job.error, job.state = path_text(said), "failed"


def _kept_token(file: Path) -> str:
    """The token in a file that is its owner's alone; made where there is none.

    Raises:
        InputError: what is there is no token.
    """
    if not file.exists():
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "w") as made:
            made.write(secrets.token_urlsafe(24))
    file.chmod(0o600)
    token = file.read_text(encoding="utf-8", errors="replace").strip()
    if not re.fullmatch(r"[A-Za-z0-9_-]{20,200}", token):
        raise InputError(f"{file} holds no token. Remove it: another is made, and everybody needs the new link.")
    return token
