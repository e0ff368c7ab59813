"""Reads ZIM files through a process of their own, so that a hostile one costs no more than its entries."""

import subprocess
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

from localfact.corpus.importing.imported import Problem, Progress, RawPage
from localfact.errors import InputError, LocalFactError, MissingError
from localfact.web.extracting.worker_process import Deadline, end, name_of_end, receive, send, start
from localfact.web.pages import MAX_FILE_BYTES

#: For one entry, and for opening the file.
SECONDS = 60.0
#: A cluster of entries has a few megabytes, and libzim keeps the last ones.
MEMORY_BYTES = 1_000_000_000
#: The largest answer: an entry with its address and title.
MOST_ANSWER_BYTES = MAX_FILE_BYTES + 1_000_000
WORKER = "localfact.corpus.importing.zim_worker"


def read_zim(file: Path, name: str, progress: Progress) -> Iterator[RawPage | Problem]:
    """Yields every HTML entry of the content namespace in the order of the paths; redirects and other kinds are skipped.

    An entry that takes more than SECONDS or MEMORY_BYTES, or crashes its reader, is a problem. The total given to `progress`
    counts entries of all kinds.

    Args:
        file: the archive.
        name: its name in messages about problems.

    Raises:
        MissingError: libzim is not installed. InputError: the file is no ZIM archive, or is damaged.
    """
    with closing(ZimProcess(file, name)) as process:
        total = process.total()
        for number in range(total):
            found = process.entry(number)
            if found is not None:
                yield found
            progress(name, number + 1, total)


def check_zim(file: Path) -> None:
    """Raises MissingError or InputError if the file cannot be read as a ZIM archive."""
    with closing(ZimProcess(file, file.name)) as process:
        process.total()


class ZimProcess:
    """The process that has a ZIM file open; started when first asked, and again after each end.

    Args:
        file: the archive.
        name: its name in messages.
        seconds: for one answer.
        memory_bytes: for all of the process, on top of what the libraries take.
    """

    def __init__(self, file: Path, name: str, seconds: float = SECONDS, memory_bytes: int = MEMORY_BYTES) -> None:
        self._file, self._name = file, name
        self._seconds, self._memory_bytes = seconds, memory_bytes
        self._process: subprocess.Popen[bytes] | None = None
        self._total = 0

    def total(self) -> int:
        """How many entries of all kinds there are.

        Raises:
            MissingError: libzim is not installed. InputError: the file is no ZIM archive, or is damaged.
        """
        self._running()
        return self._total

    def entry(self, number: int) -> RawPage | Problem | None:
        """The article in this entry; None where it is no article. Raises what `total` raises."""
        process = self._running()
        deadline = Deadline(process, self._seconds)
        try:
            with deadline:
                send(cast(BinaryIO, process.stdin), {"number": number}, b"")
                answer, body = receive(cast(BinaryIO, process.stdout), MOST_ANSWER_BYTES)
        except (EOFError, OSError, ValueError):
            end = name_of_end(self._stop())
            why = f"it takes more than {self._seconds:g} s" if deadline.passed else f"its reader ended ({end})"
            return Problem(f"{self._name}, entry {number}", f"The entry cannot be read: {why}.")
        if "page" in answer:
            return RawPage(**answer["page"], body=body)
        return Problem(**answer["problem"]) if answer else None

    def close(self) -> None:
        """Ends the process."""
        self._stop()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None:
            return self._process
        try:
            process = self._process = start(WORKER, str(self._file.absolute()), self._name, self._memory_bytes)
        except OSError as error:
            raise MissingError(f"No process for reading can be started: {error}. Free memory or processes.") from error
        try:
            with Deadline(process, self._seconds):
                answer: dict[str, Any] = receive(cast(BinaryIO, process.stdout), MOST_ANSWER_BYTES)[0]
        except (EOFError, ValueError):
            end = name_of_end(self._stop())
            raise InputError(f"{self._file} cannot be read as a ZIM archive: its reader ended ({end}).") from None
        if "error" in answer:
            self._stop()
            kinds: dict[int, type[LocalFactError]] = {kind.exit_code: kind for kind in (InputError, MissingError)}
            raise kinds[answer["exit_code"]](answer["error"])
        self._total = answer["total"]
        return process

    def _stop(self) -> int | None:
        """Ends the process; returns how it ended, None where none ran."""
        process, self._process = self._process, None
        if process is None:
            return None
        with suppress(OSError):  # what was not sent any more
            cast(BinaryIO, process.stdin).close()  # upon which it ends
        return end(process)
