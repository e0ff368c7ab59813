"""Runs other evaluation tools, in the environment that `make setup-tools` makes for them, without a network's help."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from docs_reader import ROOT

TOOLS = Path(sys.prefix) / "tools" / "bin"
SUPPORT = Path(__file__).parent


def run_tool(*words: str | Path, folder: Path) -> str:
    """The output of a program of that environment, which has to succeed; a file of tests/support is named by its name."""
    return run_line(shlex.join(str(SUPPORT / word if str(word).endswith(".py") else word) for word in words), folder=folder)


def run_line(line: str, *, folder: Path) -> str:
    """The same for a line of a shell."""
    path = f"{TOOLS}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "HF_HUB_OFFLINE": "1", "NO_COLOR": "1", "COLUMNS": "200"}
    done = subprocess.run(["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def documented(start: str) -> str:
    """The one command of docs/integrations.md that begins so, on one line."""
    page = (ROOT / "docs/integrations.md").read_text(encoding="utf-8")
    (command,) = re.findall(rf"^    ({re.escape(start)}(?:.*\\\n)*.*)$", page, re.MULTILINE)
    return re.sub(r"\\\n\s*", "", str(command))


def documented_program(start: str) -> str:
    """The one program in Python of that page whose first line is this."""
    page = (ROOT / "docs/integrations.md").read_text(encoding="utf-8")
    (lines,) = re.findall(rf"^    {re.escape(start)}\n(?:    .*\n|\n)+", page, re.MULTILINE)
    return re.sub("^    ", "", lines, flags=re.MULTILINE)
