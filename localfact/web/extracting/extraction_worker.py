"""The worker process that extracts pages: reads one page after the other from a pipe and answers with JSON.

It ends with its parent, however that ends, and kills itself where a page takes too long.
"""

import json
import os
import resource
import select
import signal
import struct
from typing import Any, BinaryIO

from localfact.web.fetching.failures import PageError, PageFailure, Reason

#: A message: the lengths of its JSON and of the bytes behind it, in four bytes each.
LENGTHS = struct.Struct(">II")
READY = b"+"
#: Exit code of a worker that has no memory even for the page's bytes.
OUT_OF_MEMORY_EXIT = 12
#: How often an idle worker checks that its parent is alive; usually the pipe is closed first, unless a fork of the parent holds
#: it open.
PARENT_CHECK_SECONDS = 5.0
#: A worker that holds more than this share of its memory limit between pages ends, so that later pages have all of it.
WORN_SHARE = 0.25


def serve(seconds: float, memory_bytes: int) -> None:
    """Reads requests from standard input and answers on standard output until the input ends.

    Args:
        seconds: for one page, after which the parent gives up; the process itself waits twice as long.
        memory_bytes: for one page, on top of what the libraries take.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = os.fdopen(os.dup(0), "rb", buffering=0), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not get between answers
    from localfact.web.extracting import extraction

    extraction.load_libraries()
    unused = data_bytes()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (unused + memory_bytes,) * 2)
    answers.write(READY)
    answers.flush()
    parent, worn = os.getppid(), False
    while not worn and comes(requests, parent):
        try:
            header, body = received(requests)
        except EOFError:
            return
        except MemoryError:
            os._exit(OUT_OF_MEMORY_EXIT)
        signal.setitimer(signal.ITIMER_REAL, 2 * seconds)
        answer = answered(header, body)
        del body
        signal.setitimer(signal.ITIMER_REAL, 0)
        worn = answer["out_of_memory"] or data_bytes() - unused > WORN_SHARE * memory_bytes
        send(answers, {**answer, "last": worn}, b"")


def answered(header: dict[str, Any], body: bytes) -> dict[str, Any]:
    """The document of a page, or why there is none, as JSON values."""
    from localfact.web.extracting import extraction

    out_of_memory = False
    try:
        document = extraction.extract(body, header["media_type"], header["charset"], header["link"])
        return {"document": document.model_dump(), "out_of_memory": False}
    except PageError as error:
        failure = error.failure
    except MemoryError:
        failure, out_of_memory = PageFailure(reason=Reason.TOO_LARGE, detail="memory"), True
    except Exception as error:  # a bug of ours or of a library concerns this page alone
        failure = PageFailure(reason=Reason.UNREADABLE, detail=type(error).__name__)
    return {"failure": failure.model_dump(), "out_of_memory": out_of_memory}


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


def received(pipe: BinaryIO, most: int | None = None) -> tuple[dict[str, Any], bytes]:
    """Reads one message.

    Raises:
        EOFError: the other side has ended, or announces more than `most` bytes.
    """
    header, body = LENGTHS.unpack(exactly(pipe, LENGTHS.size))
    if most is not None and header + body > most:
        raise EOFError
    return json.loads(exactly(pipe, header)), exactly(pipe, body)


def exactly(pipe: BinaryIO, count: int) -> bytes:
    """Reads `count` bytes from a pipe.

    Raises:
        EOFError: it ended before.
    """
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
