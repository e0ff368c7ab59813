"""Runs other evaluation tools, in the environment that `make setup-tools` makes for them, without a network's help."""

import os
import subprocess
import sys
from pathlib import Path

TOOLS = Path(sys.prefix) / "tools" / "bin"
SUPPORT = Path(__file__).parent


def run_tool(*words: str | Path, folder: Path) -> str:
    """The output of a program of that environment, which has to succeed; a file of tests/support is named by its name."""
    words = (TOOLS / words[0], *(SUPPORT / word if str(word).endswith(".py") else word for word in words[1:]))
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "NO_COLOR": "1", "COLUMNS": "200"}
    done = subprocess.run(list(map(str, words)), cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
