"""Drives the real command line as a user would: in a process of its own, or, quicker, in this one where that is the same."""

import contextlib
import io
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

from engines import Engines

from localfact.cli.main import main


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
            # Else Python would leave a part of a compiled module, which every later process fails to read.
            env=self.environment | ({} if largest_file is None else {"PYTHONDONTWRITEBYTECODE": "1"}),
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


class QuickCommandLine(CommandLine):
    """Runs a command in this process, which has its libraries loaded. What needs a process of its own gets one.

    That is what shall be killed, meets a full disk, or has in its environment what is read at import: where modules are found,
    and, by the hub's library, which `models pull` alone asks, the hub. `--offline` is taken, but does not cut this process off
    for good: `tests/e2e/test_offline.py` has processes that are.
    """

    def __init__(self, folder: Path, engines: Engines | None = None) -> None:
        """Commands that ask a language model share these engines; without them each starts its own."""
        super().__init__(folder)
        self.engines = engines

    def __call__(
        self, *words: str | Path, stdin: str = "", largest_file: int | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command to its end."""
        if largest_file is not None or self.changed("PYTHON") or ("pull" in words and self.changed("HF_")):
            return super().__call__(*words, stdin=stdin, largest_file=largest_file)
        arguments = ["localfact", *map(str, words)]
        output, errors, code = io.StringIO(), io.StringIO(), 0
        with (
            patch.dict(os.environ, self.environment, clear=True),
            patch.multiple(sys, argv=arguments, stdin=io.TextIOWrapper(io.BytesIO(stdin.encode()))),
            contextlib.chdir(self.folder),
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(errors),
            patch("localfact.llm.cores.vllm.VLLMEngine", self.engines.lent) if self.engines else contextlib.nullcontext(),
            patch("localfact.cli.evaluate.go_offline"),
        ):
            try:
                main()
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 1
        return subprocess.CompletedProcess(arguments, code, output.getvalue(), errors.getvalue())

    def changed(self, beginning: str) -> bool:
        """Whether the command has other variables than this process of those that begin so."""
        own, given = (
            {name: value for name, value in variables.items() if name.startswith(beginning)}
            for variables in (os.environ, self.environment)
        )
        return own != given
