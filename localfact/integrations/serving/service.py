"""`localfact serve`: the routes, and what each answers: JSON that says which method judged and what a verdict is not.

What `Guarded` refuses before (another host or origin, no token, too long a body) is answered by a plain sentence.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from localfact.annotation.safety import LOOPBACK, AccessControl, Guarded
from localfact.annotation.serving import listen_at, serve_application
from localfact.api.shared_assessor import SharedAssessor
from localfact.errors import CorpusError, InputError, LocalFactError
from localfact.integrations.serving.bodies import (
    LONGEST_CHECK,
    LONGEST_EVALUATION,
    CheckBody,
    EvaluateBody,
    RequestRefusedError,
    read_body,
    read_number,
)
from localfact.integrations.serving.jobs import EvaluationJob, Jobs
from localfact.integrations.serving.openapi import description, page

#: Rows of a job in one answer: how many where the request does not say, and the most.
ROWS_SHOWN, MOST_ROWS_SHOWN = 100, 1_000
#: Seconds between two looks at a job that is watched, and after which silence is broken, so that no proxy ends the stream.
LOOK, LONGEST_SILENCE = 0.2, 15.0

#: What is told as JSON.
TOLD = (RequestRefusedError, LocalFactError, OSError)


def serve(shared: SharedAssessor, jobs_folder: Path, host: str, port: int, *, ready: Callable[[str], None]) -> None:
    """Answers requests until Ctrl-C, or a signal that ends the process. What jobs have done by then is kept, and they go on.

    Args:
        shared: assesses; opened here.
        jobs_folder: where jobs are kept.
        host, port: where it listens; port 0 for a free one. Where others can reach it, everybody must show the token.
        ready: told the link, once models and corpus are loaded.

    Raises:
        MissingError: weights or a corpus are missing. InputError: nobody can listen there. RunFolderError: another process
            serves these jobs.
    """
    with listen_at(host, port) as listening, Jobs(jobs_folder, shared) as jobs:
        shared.open()  # last, as it may take minutes
        service = Service(shared, jobs)
        access = AccessControl(
            host, "" if host in LOOPBACK else jobs.token, jobs.token, longest_body=LONGEST_EVALUATION, programs=True
        )
        serve_application(Guarded(service.app, access), host, listening, ready=ready, stopping=service.stop)


class Service:
    """The application."""

    def __init__(self, shared: SharedAssessor, jobs: Jobs) -> None:
        self.shared, self.jobs = shared, jobs
        self.judged_by = shared.judged_by.model_dump(mode="json")
        self._stopping = False
        self._checks = 0
        self.app = Starlette(
            routes=[
                Route("/", self._page),
                Route("/openapi.json", self._describe),
                Route("/healthz", self._told(self._health)),
                Route("/check", self._told(self._check), methods=["POST"]),
                Route("/evaluate", self._told(self._evaluate), methods=["POST"]),
                Route("/jobs/{job}", self._told(self._job)),
                Route("/jobs/{job}/rows", self._told(self._rows)),
                Route("/jobs/{job}/events", self._told(self._events)),
            ],
            exception_handlers={404: self._no_page, 405: self._no_page},
        )

    def stop(self) -> None:
        """Ends the streams of events, which would keep the server from ending."""
        self._stopping = True

    def _told(self, answer: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        """The same, where what cannot be done is told as JSON."""

        async def respond(request: Request) -> Response:
            try:
                return await answer(request)
            except TOLD as error:
                return self._json({"error": str(error)}, status_of(error, request.method))

        return respond

    def _json(self, content: dict[str, Any], status: int = 200, **headers: str) -> JSONResponse:
        return JSONResponse({"judged_by": self.judged_by, **content}, status, headers)

    async def _no_page(self, request: Request, error: Exception) -> Response:
        status = getattr(error, "status_code", 404)
        said = "There is no such page." if status == 404 else "That is asked in another way."
        return self._json({"error": f"{said} /openapi.json says what there is."}, status)

    async def _page(self, request: Request) -> Response:
        return HTMLResponse(page(self.judged_by))

    async def _describe(self, request: Request) -> Response:
        return JSONResponse(description(self.judged_by))

    async def _health(self, request: Request) -> Response:
        return self._json({"status": "ok", "checks": self._checks, "jobs": self.jobs.open_ones})

    async def _check(self, request: Request) -> Response:
        asked = await read_body(request, CheckBody, LONGEST_CHECK)
        self._checks += 1
        try:
            assessment = await self.shared.check(asked.row())
        finally:
            self._checks -= 1
        return self._json({"assessment": assessment.model_dump(mode="json")})

    async def _evaluate(self, request: Request) -> Response:
        asked = await read_body(request, EvaluateBody, LONGEST_EVALUATION)
        job = await run_in_threadpool(self.jobs.add, asked.rows)
        if job is None:
            raise RequestRefusedError(503, "Too many jobs wait. Ask again when some are done.")
        place = f"/jobs/{job.folder.name}"
        told = {**await run_in_threadpool(told_of, job), "events": f"{place}/events", "results": f"{place}/rows"}
        return self._json(told, 202, location=place)

    async def _job(self, request: Request) -> Response:
        job = self._found(request)
        return self._json(await run_in_threadpool(told_of, job))

    async def _rows(self, request: Request) -> Response:
        job = self._found(request)
        start = read_number(request, "start", 1, 10**9 - 1)
        most = read_number(request, "most", ROWS_SHOWN, MOST_ROWS_SHOWN)

        def found() -> dict[str, Any]:
            state = job.state  # before the rows are read: "done" promises that all are there
            rows = [one.model_dump(mode="json") for one in job.results(start, most)]
            return {"state": state, "rows": rows, "judged_by": job.judged_by().model_dump(mode="json")}

        return self._json(await run_in_threadpool(found))

    async def _events(self, request: Request) -> Response:
        now = await run_in_threadpool(told_of, self._found(request))
        return StreamingResponse(self._watch(request, now), media_type="text/event-stream")

    async def _watch(self, request: Request, now: dict[str, Any]) -> AsyncIterator[str]:
        """Server-sent events: `progress` whenever it changed, at the end `done` or `failed`."""
        told: dict[str, Any] = {}
        silent_since = time.monotonic()
        while not self._stopping:
            if now != told:
                told, silent_since = now, time.monotonic()
                name = now["state"] if now["state"] in ("done", "failed") else "progress"
                yield f"event: {name}\ndata: {json.dumps(now)}\n\n"
                if name != "progress":
                    return
            elif time.monotonic() - silent_since > LONGEST_SILENCE:
                silent_since = time.monotonic()
                yield ": nothing new\n\n"
            await asyncio.sleep(LOOK)
            try:
                now = await run_in_threadpool(told_of, self._found(request))
            except TOLD as error:  # its folder was deleted, or damaged, meanwhile
                now = {"judged_by": self.judged_by, "state": "failed", "error": str(error)}

    def _found(self, request: Request) -> EvaluationJob:
        job = self.jobs.find(request.path_params["job"])
        if job is None:
            raise RequestRefusedError(404, "There is no such job.")
        return job


def status_of(error: Exception, method: str) -> int:
    """The status of the answer that tells an error of TOLD: who only asks (GET) sent nothing that could be wrong."""
    if isinstance(error, RequestRefusedError):
        return error.status
    return 422 if method == "POST" and isinstance(error, InputError) and not isinstance(error, CorpusError) else 500


def told_of(job: EvaluationJob) -> dict[str, Any]:
    """How far a job is, as plain values."""
    return job.progress().model_dump(mode="json")
