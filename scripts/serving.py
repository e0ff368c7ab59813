"""A server of localfact in a process of its own, for as long as a block lasts."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def serve(*words: str, told: str) -> Iterator[str]:
    """Starts `localfact WORDS`; yields the address that follows what is told once it listens.

    Raises:
        RuntimeError: it ended before.
    """
    process = subprocess.Popen([sys.executable, "-m", "localfact", *words], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        found = next(filter(None, (re.search(rf"{told} (http://\S+/)", line) for line in process.stderr)), None)
        if found is None:
            raise RuntimeError(f"localfact {words[0]} does not start")
        yield found[1]
    finally:
        process.terminate()
        process.wait()
        process.stderr.close()
