"""A real vLLM server on loopback, as a process that can be killed and begun again."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx

#: Seconds that it may take to begin.
PATIENCE = 180


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


class VLLMServer:
    """A server over a folder of weights, in float32. `at`: its address."""

    def __init__(self, folder: Path, window: int, *options: str, log: Path) -> None:
        # `vllm serve` asks for a package of that name, which the CPU build is not.
        self._words = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(folder)]
        self._words += ["--host", "127.0.0.1", "--served-model-name", folder.name, "--max-model-len", str(window)]
        self._words += ["--dtype", "float32", "--enforce-eager", "--kv-cache-memory-bytes", str(64 * 2**20)]
        self._words += ["--enable-prompt-tokens-details", *options]
        self._log = log
        self.port = free_port()
        self.at = f"http://127.0.0.1:{self.port}"
        self.begin()

    def begin(self) -> None:
        """Starts it and waits until it answers."""
        self.launch()
        until = time.monotonic() + PATIENCE
        while True:
            try:
                if httpx.get(f"{self.at}/health").status_code == 200:
                    return
            except httpx.TransportError:
                pass
            if self.process.poll() is not None or time.monotonic() > until:
                self.kill()
                raise AssertionError(self._log.read_text(errors="replace")[-3000:])
            time.sleep(0.3)

    def launch(self) -> None:
        """Starts it."""
        with self._log.open("ab") as log:
            environment = os.environ | {"VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"}
            self.process = subprocess.Popen(
                [*self._words, "--port", str(self.port)], stdout=log, stderr=log, env=environment, start_new_session=True
            )

    def kill(self) -> None:
        """Ends it and its engine at once."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@contextmanager
def vllm_server(folder: Path, window: int, *options: str, log: Path) -> Iterator[VLLMServer]:
    """A server that is gone afterwards."""
    server = VLLMServer(folder, window, *options, log=log)
    try:
        yield server
    finally:
        server.kill()
