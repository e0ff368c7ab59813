"""The process in which pages are extracted: reads one page after the other from a pipe, answers with JSON.

It ends with its parent, however that ends, and kills itself where a page takes more than its time.
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
#: How a worker ends that has no memory even for the page's bytes.
OUT_OF_MEMORY_EXIT = 12
#: How often an idle worker looks whether its parent is still there; the pipe's end tells it sooner, unless a fork of the parent
#: holds the pipe open.
PARENT_CHECK_SECONDS = 5.0
#: A worker that has gathered so much of its memory ends, so that no page is refused for what others left.
WORN_SHARE = 0.25


def serve(seconds: float, memory_bytes: int) -> None:
    """Answers on the first standard output to what comes in on standard input, until that ends.

    Args:
        seconds: of a page, after which the parent gives up; the process itself waits twice as long.
        memory_bytes: what a page may take over what the libraries take.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = os.fdopen(os.dup(0), "rb", buffering=0), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
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
    """The document of a page, or why there is none."""
    from localfact.web.extracting import extraction

    out_of_memory = False
    try:
        document = extraction.extract(body, header["media_type"], header["charset"], header["link"])
        return {"document": document.model_dump(), "out_of_memory": False}
    except PageError as error:
        failure = error.failure
    except MemoryError:
        failure, out_of_memory = PageFailure(reason=Reason.TOO_LARGE, detail="memory"), True
    except Exception as error:  # a fault of ours or of a library: it concerns this page alone
        failure = PageFailure(reason=Reason.UNREADABLE, detail=type(error).__name__)
    return {"failure": failure.model_dump(), "out_of_memory": out_of_memory}


def comes(requests: BinaryIO, parent: int) -> bool:
    """Waits for the next request; False once the parent is gone."""
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
    """One message.

    Raises:
        EOFError: the other side is gone, or says more than `most` bytes.
    """
    header, body = LENGTHS.unpack(exactly(pipe, LENGTHS.size))
    if most is not None and header + body > most:
        raise EOFError
    return json.loads(exactly(pipe, header)), exactly(pipe, body)


def exactly(pipe: BinaryIO, count: int) -> bytes:
    """So many bytes from a pipe.

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
    """What this process has for data, as the kernel counts it against RLIMIT_DATA."""
    with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123 -- Path.read_text asks for the size first
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData:"))
