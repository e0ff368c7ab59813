"""`localfact serve` as a process of its own, which can be killed."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

#: How long it may take to begin, or to end, in seconds; importing is slow on a busy machine.
PATIENCE = 120
#: Without vectors and with word overlap, which loads nothing.
QUICK = ("--embedder", "none", "--relations", "lexical")


class Service:
    """A running service: its link, its process, its folder of jobs, and a client that asks it."""

    def __init__(self, jobs: Path, *options: str) -> None:
        self.jobs = jobs
        words = [sys.executable, "-m", "localfact", "serve", "--jobs", str(jobs), "--port", "0", *QUICK, *options]
        self.process = subprocess.Popen(
            words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=os.environ | {"COLUMNS": "200"}
        )
        assert self.process.stderr is not None
        said = ""
        for line in self.process.stderr:
            said += line
            if found := re.search(r"Listening at (http://\S+)", line):
                self.link = found[1]
                port = httpx.URL(self.link).port
                self.client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE)
                return
        raise AssertionError(f"no service: {said}")

    def end(self, how: signal.Signals = signal.SIGINT) -> str:
        """Ends it; returns what it said then."""
        self.client.close()
        self.process.send_signal(how)
        _, said = self.process.communicate(timeout=PATIENCE)
        return said


@contextmanager
def serving(jobs: Path, *options: str) -> Iterator[Service]:
    """A service that is gone afterwards."""
    service = Service(jobs, *options)
    try:
        yield service
    finally:
        if service.process.poll() is None:
            service.end(signal.SIGKILL)
