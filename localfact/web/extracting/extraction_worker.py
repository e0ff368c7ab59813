"""The worker process that extracts pages: reads one page after the other from a pipe and answers with JSON.

It ends with its parent, however that ends, and kills itself where a page takes too long.
"""

import os
import signal
from typing import Any

from localfact.web.extracting.worker_process import comes, data_bytes, limit_memory, pipes, receive, send
from localfact.web.fetching.failures import PageError, PageFailure, Reason

READY = b"+"
#: Exit code of a worker that has no memory even for the page's bytes.
OUT_OF_MEMORY_EXIT = 12
#: A worker that holds more than this share of its memory limit between pages ends, so that later pages have all of it.
WORN_SHARE = 0.25


def serve(seconds: float, memory_bytes: int) -> None:
    """Runs the worker process: reads pages from standard input and answers each with JSON on standard output.

    Args:
        seconds: the time limit for one page, after which the parent kills the worker; in case it does not, the worker is ended
            by its own alarm after twice as long.
        memory_bytes: the memory limit for one page, not counting what the loaded libraries take.
    """
    requests, answers = pipes()
    from localfact.web.extracting import extraction

    extraction.load_libraries()
    unused = limit_memory(memory_bytes)
    answers.write(READY)
    answers.flush()
    parent, worn = os.getppid(), False
    while not worn and comes(requests, parent):
        try:
            header, body = receive(requests)
        except EOFError:
            return
        except MemoryError:
            os._exit(OUT_OF_MEMORY_EXIT)
        signal.setitimer(signal.ITIMER_REAL, 2 * seconds)
        answer = answer_message(header, body)
        del body
        signal.setitimer(signal.ITIMER_REAL, 0)
        worn = answer["out_of_memory"] or data_bytes() - unused > WORN_SHARE * memory_bytes
        send(answers, {**answer, "last": worn}, b"")


def answer_message(header: dict[str, Any], body: bytes) -> dict[str, Any]:
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
