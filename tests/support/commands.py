"""Drives the real command line in a process of its own, as a user would."""

import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


class CommandLine:
    """Runs `localfact WORDS...` in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        #: The user's own environment, with wide output so that tables are not folded.
        self.environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}

    def __call__(
        self, *words: str | Path, stdin: str = "", largest_file: int | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command to its end; with `largest_file` no file of its may grow beyond so many bytes, as on a full disk."""

        def limit() -> None:
            if largest_file is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

        return subprocess.run(
            self.arguments(words),
            input=stdin,
            capture_output=True,
            text=True,
            cwd=self.folder,
            env=self.environment,
            preexec_fn=limit,  # in the child alone: our own output may be a file too
        )

    def start(self, *words: str | Path) -> subprocess.Popen[str]:
        """Starts a command; what it says on standard error can be read while it runs."""
        return subprocess.Popen(
            self.arguments(words),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env=self.environment,
        )

    def arguments(self, words: Sequence[str | Path]) -> list[str]:
        return [sys.executable, "-m", "localfact", *map(str, words)]
