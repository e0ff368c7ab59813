"""Processes that read what is untrusted for their parent: how one is started, asked, timed and ended; and what it does itself.

They are started as new interpreters, not by multiprocessing, which would run a caller's unguarded script again in each of them,
and unpickle what a process sends that has read hostile bytes.
"""

import json
import os
import resource
import select
import signal
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any, BinaryIO, Self

#: How long a process has to end by itself before it is killed.
END_SECONDS = 5.0
#: A message: the lengths of its JSON and of the bytes behind it, in four bytes each.
LENGTHS = struct.Struct(">II")
#: How often an idle worker checks that its parent is alive; usually the pipe is closed first, unless a fork of the parent holds
#: it open.
PARENT_CHECK_SECONDS = 5.0

_PROGRAM = """\
import importlib, json, sys
sys.path[:], module, *settings = json.loads(sys.argv[1])
importlib.import_module(module).serve(*settings)
"""


def start(module: str, *settings: object) -> subprocess.Popen[bytes]:
    """Starts a process that calls `serve` of a module with these settings (in JSON's types), and is asked through its pipes.

    Raises:
        OSError: none can be started.
    """
    path = [os.path.abspath(place) for place in sys.path]  # noqa: PTH100 -- "" is the working directory
    command = [sys.executable, "-I", "-c", _PROGRAM, json.dumps([path, module, *settings])]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )


def end(process: subprocess.Popen[bytes]) -> int:
    """Waits for a process to end, kills it if need be, and closes its pipes; returns its exit code, negative for a signal."""
    try:
        # A crashing process closes its pipes a moment before it ends.
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
    code = process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # what was not sent any more
            if pipe is not None:
                pipe.close()
    return code


class Deadline:
    """Kills a process if the block takes longer than `seconds`.

    Attributes:
        passed: whether it did.
    """

    def __init__(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        self.passed = False
        self._process = process
        self._done = False
        self._lock = threading.Lock()
        self._timer = threading.Timer(seconds, self._pass)
        self._timer.daemon = True

    def _pass(self) -> None:
        with self._lock:
            if not self._done:
                self.passed = True
                self._process.kill()

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._done = True
        self._timer.cancel()


def name_of_end(code: int | None) -> str:
    """How a process ended, in words."""
    return signal.Signals(-code).name if code is not None and code < 0 else f"exit code {code}"


def pipes() -> tuple[BinaryIO, BinaryIO]:
    """In the worker: the pipes for requests and answers. Ctrl-C is left to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = os.fdopen(os.dup(0), "rb", buffering=0), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not get between answers
    return requests, answers


def limit_memory(more: int) -> int:
    """In the worker: limits its data memory to `more` bytes on top of what it has now, which is returned."""
    unused = data_bytes()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (unused + more,) * 2)
    return unused


def comes(requests: BinaryIO, parent: int) -> bool:
    """Waits for the next request; False once the parent has ended."""
    while not select.select([requests], [], [], PARENT_CHECK_SECONDS)[0]:
        if os.getppid() != parent:
            return False
    return True


def send(pipe: BinaryIO, header: dict[str, Any], body: bytes) -> None:
    """Sends one message."""
    text = json.dumps(header).encode()
    pipe.write(LENGTHS.pack(len(text), len(body)) + text)
    pipe.write(body)
    pipe.flush()


def receive(pipe: BinaryIO, most: int | None = None) -> tuple[dict[str, Any], bytes]:
    """Reads one message. Raises EOFError where the other side has ended, or announces more than `most` bytes."""
    header, body = LENGTHS.unpack(exactly(pipe, LENGTHS.size))
    if most is not None and header + body > most:
        raise EOFError
    return json.loads(exactly(pipe, header)), exactly(pipe, body)


def exactly(pipe: BinaryIO, count: int) -> bytes:
    """Reads `count` bytes from a pipe. Raises EOFError where it ended before."""
    pieces = []
    while count:
        piece = pipe.read(min(count, 1 << 20))
        if not piece:
            raise EOFError
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)


def data_bytes() -> int:
    """The bytes of data memory of this process, as the kernel counts them against RLIMIT_DATA."""
    with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123 -- Path.read_text asks for the size first
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData:"))
