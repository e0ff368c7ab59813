"""The annotators' server as a process of its own, which can be killed."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: How long it may take to begin, in seconds; importing is slow on a busy machine.
PATIENCE = 60


class Served:
    """A running server: its address, and its process."""

    def __init__(self, data: Path | str, *options: str, port: int = 0, inside: Path | None = None) -> None:
        words = [sys.executable, "-m", "localfact", "annotate", str(data), "--port", str(port), *options]
        environment = os.environ | {"COLUMNS": "200"}
        self.process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment, cwd=inside)
        assert self.process.stderr is not None
        said = ""
        for line in self.process.stderr:
            said += line
            if found := re.search(r"Open (http://\S+/)(\S*)", line):
                self.at, self.query = found[1], found[2]
                return
        raise AssertionError(f"no server: {said}")

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.at.rstrip("/").rpartition(":")[2])

    def end(self, how: signal.Signals = signal.SIGINT) -> int:
        """Ends it; returns its exit status."""
        self.process.send_signal(how)
        return self.process.wait(PATIENCE)


@contextmanager
def serving(data: Path | str, *options: str, inside: Path | None = None) -> Iterator[Served]:
    """A server that is gone afterwards. `inside`: the folder in which the command is given."""
    served = Served(data, *options, inside=inside)
    try:
        yield served
    finally:
        if served.process.poll() is None:
            served.end(signal.SIGKILL)
        if served.process.stderr is not None:
            served.process.stderr.close()


def killed_and_begun_again(served: Served, folder: Path, *options: str) -> Served:
    """The same server after a SIGKILL, at the same port."""
    port = served.port
    served.end(signal.SIGKILL)
    if served.process.stderr is not None:
        served.process.stderr.close()
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return Served(folder, *options, port=port)
        except AssertionError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
