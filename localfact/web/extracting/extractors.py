"""Extraction in worker processes, so that a page that takes too long or too much memory, or crashes a parser, fails alone.

The worker is `extraction_worker.py`; how one is started, timed and ended is `worker_process.py`'s.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor
from queue import LifoQueue
from typing import Any, BinaryIO, Protocol, Self, cast

from localfact.errors import MissingError
from localfact.web.extracting.extraction import Document
from localfact.web.extracting.extraction_worker import OUT_OF_MEMORY_EXIT, READY
from localfact.web.extracting.worker_process import Deadline, end, exactly, name_of_end, receive, send, start
from localfact.web.fetching.failures import PageError, PageFailure, Reason

SECONDS = 20.0
MEMORY_BYTES = 200_000_000
#: Loading the libraries takes a second, and longer on a busy machine.
START_SECONDS = 120.0
#: The largest answer: a document of MAX_PAGE_CHARACTERS, each escaped in JSON.
MOST_ANSWER_BYTES = 100_000_000
WORKER = "localfact.web.extracting.extraction_worker"


class PageExtractors(Protocol):
    """What extracts pages: processes of this machine, or those of many.

    Attributes:
        at_once: how many pages at once.
    """

    at_once: int

    async def extract(self, body: bytes, media_type: str, charset: str | None, link: str) -> Document:
        """Extracts the text of a page; see `Extractors.extract`."""

    def extract_now(self, body: bytes, media_type: str, charset: str | None, link: str) -> Document:
        """The blocking form of `extract`, for callers without an event loop."""

    def close(self) -> None:
        """Ends what was begun."""


class Extractors:
    """Worker processes that extract pages, started when first needed. Any thread and any event loop may use them.

    Args:
        workers: how many pages at once; one for each core by default.
        seconds: of wall-clock time for one page.
        memory_bytes: for one page, on top of what the libraries take (some 60 MB).
    """

    def __init__(self, workers: int | None = None, seconds: float = SECONDS, memory_bytes: int = MEMORY_BYTES) -> None:
        self.at_once = max(1, workers if workers is not None else len(os.sched_getaffinity(0)))
        self._workers = [ExtractionProcess(seconds, memory_bytes) for _ in range(self.at_once)]
        # The worker used last comes first, so that few pages start few processes.
        self._idle: LifoQueue[ExtractionProcess] = LifoQueue()
        for worker in self._workers:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(self.at_once, thread_name_prefix="extraction")

    async def extract(self, body: bytes, media_type: str, charset: str | None, link: str) -> Document:
        """Extracts the text of a page; see `extraction.extract`.

        Raises:
            PageError: as there; TIMED_OUT ("extraction"), TOO_LARGE ("memory") or UNREADABLE past a limit or after a crash.
            MissingError: no process can be started.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self.extract_now, body, media_type, charset, link)

    def extract_now(self, body: bytes, media_type: str, charset: str | None, link: str) -> Document:
        """The blocking form of `extract`, for callers without an event loop."""
        worker = self._idle.get()
        try:
            return worker.extract(body, {"media_type": media_type, "charset": charset, "link": link})
        finally:
            self._idle.put(worker)

    def close(self) -> None:
        """Ends all processes. Open extractions are cancelled, not failed: their pages can be extracted another time."""
        for worker in self._workers:
            worker.close()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class ExtractionProcess:
    """One process, started for the first page and again after each end.

    One thread at a time may call `extract`; any thread may call `close`.
    """

    def __init__(self, seconds: float, memory_bytes: int) -> None:
        self._seconds, self._memory_bytes = seconds, memory_bytes
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._lock = threading.Lock()
        self._in_use = threading.Lock()

    def extract(self, body: bytes, header: dict[str, Any]) -> Document:
        """Extracts one page.

        Raises:
            PageError: see `Extractors.extract`. CancelledError: closed meanwhile.
        """
        with self._in_use:
            return self._extract(body, header)

    def close(self) -> None:
        """Ends the process for good; a thread that waits for it is woken."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                self._process.kill()
                self._process.wait()
        # Its pipes are closed when nobody reads them any more.
        with self._in_use, contextlib.suppress(CancelledError):
            self._stop()

    def _extract(self, body: bytes, header: dict[str, Any]) -> Document:
        end = None
        # Something else may have ended the process, the kernel for want of memory for example, so a page is tried twice.
        for _ in range(2):
            process = self._running()
            deadline = Deadline(process, self._seconds)
            try:
                with deadline:
                    send(cast(BinaryIO, process.stdin), header, body)
                    answer, _ = receive(cast(BinaryIO, process.stdout), MOST_ANSWER_BYTES)
            except (EOFError, OSError, ValueError):
                end = self._stop()
            else:
                return self._document(answer)
            if deadline.passed:
                raise PageError(Reason.TIMED_OUT, "extraction")
        if end in {-signal.SIGKILL, OUT_OF_MEMORY_EXIT}:
            raise PageError(Reason.TOO_LARGE, "memory")
        raise PageError(Reason.UNREADABLE, f"extraction ended ({name_of_end(end)})")

    def _document(self, answer: dict[str, Any]) -> Document:
        if answer["last"]:
            self._stop()
        if "failure" in answer:
            failure = PageFailure.model_validate(answer["failure"])
            raise PageError(failure.reason, failure.detail)
        return Document.model_validate(answer["document"])

    def _running(self) -> subprocess.Popen[bytes]:
        """The process, ready for a page."""
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._stop()
        with self._lock:
            if self._closed:
                raise CancelledError
            try:
                process = self._process = start(WORKER, self._seconds, self._memory_bytes)
            except OSError as error:
                raise MissingError(f"No process for extraction can be started: {error}. Free memory or processes.") from error
        try:
            with Deadline(process, START_SECONDS):
                if exactly(cast(BinaryIO, process.stdout), len(READY)) == READY:
                    return process
        except EOFError:
            pass
        end = name_of_end(self._stop())
        raise MissingError(
            f"The process for extraction does not start ({end}). Try `python -c 'import localfact.web.extracting.extraction'`."
        )

    def _stop(self) -> int | None:
        """Ends the process; returns its exit code, or the negative number of the signal that ended it.

        Raises:
            CancelledError: `close` was called.
        """
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return None
        code = end(process)
        if self._closed:
            raise CancelledError
        return code
