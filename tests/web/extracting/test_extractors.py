"""Extraction in processes: what a hostile page costs is its own failure, and no process outlives its use."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import CancelledError
from functools import cache
from pathlib import Path

import pytest
from pdf_files import assembled

from localfact.web.extracting.extractors import Extractors
from localfact.web.fetching.failures import PageError, Reason

pytestmark = pytest.mark.pages

PAGE = b"<html><body><p>Its lamp was first lit on 3 May 1862.</p></body></html>"
#: Takes many seconds.
SLOW = b"<table><tr><td>" * 180_000


@cache
def bomb() -> bytes:
    """A page that takes all memory: a gibibyte in a megabyte."""
    return assembled([b" " * (1 << 30)])


@pytest.fixture
def extractors() -> Iterator[Extractors]:
    with Extractors(1) as opened:
        yield opened


def processes(extractors: Extractors) -> list[int]:
    return [worker._process.pid for worker in extractors._workers if worker._process is not None]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone(pids: list[int], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while any(is_alive(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(is_alive(pid) for pid in pids)


async def failure(extractors: Extractors, body: bytes, media_type: str = "text/html") -> tuple[Reason, str]:
    with pytest.raises(PageError) as error:
        await extractors.extract(body, media_type, None, "https://a.example/")
    return error.value.failure.reason, error.value.failure.detail


async def begun(extractors: Extractors) -> None:
    """Waits until a process has a page."""
    while extractors._idle.qsize() == len(extractors._workers):
        await asyncio.sleep(0.01)


async def works(extractors: Extractors) -> bool:
    return "3 May 1862" in (await extractors.extract(PAGE, "text/html", "utf-8", "https://a.example/")).text


async def test_a_page_is_extracted_as_in_the_same_process(extractors: Extractors) -> None:
    from localfact.web.extracting.extraction import extract

    document = await extractors.extract(PAGE, "text/html", None, "https://a.example/orm")
    assert document == extract(PAGE, "text/html", None, "https://a.example/orm")
    assert document == extractors.extract_now(PAGE, "text/html", None, "https://a.example/orm")
    assert (await failure(extractors, b""))[0] == Reason.NO_TEXT


async def test_nothing_is_started_before_it_is_needed_and_few_pages_start_few_processes() -> None:
    with Extractors(4) as extractors:
        assert processes(extractors) == []
        for _ in range(3):
            assert await works(extractors)
        assert len(processes(extractors)) == 1


async def test_a_page_that_takes_all_time_is_given_up_and_the_next_one_is_read() -> None:
    with Extractors(1, seconds=1) as extractors:
        assert await works(extractors)
        assert await failure(extractors, SLOW) == (Reason.TIMED_OUT, "extraction")
        assert await works(extractors)


async def test_a_page_that_takes_all_memory_is_given_up_and_the_next_one_is_read() -> None:
    with Extractors(1, memory_bytes=60_000_000) as extractors:
        assert (await failure(extractors, b"<p>x y z " * 330_000))[0] in {Reason.TOO_LARGE, Reason.UNREADABLE}
        reason, detail = await failure(extractors, bomb(), "application/pdf")
        assert reason in {Reason.TOO_LARGE, Reason.UNREADABLE}
        assert detail
        assert await works(extractors)


async def test_a_page_larger_than_the_memory_is_too_large() -> None:
    with Extractors(1, memory_bytes=20_000_000) as extractors:
        assert await failure(extractors, b"word " * 10_000_000, "text/plain") == (Reason.TOO_LARGE, "memory")
        assert await works(extractors)


@pytest.mark.parametrize(
    "page",
    [
        b"<div>" * 100_000,
        os.urandom(10_000_000),
        b"<a b=c>" * 100_000,
        b"<" * 1_000_000,
        b"<p>" + b"a" * 3_000_000,
        b"<p " + b"a" * 10_000_000 + b"=x>",
        b"<b><i>" * 300_000,
    ],
    ids=["deep", "random", "attributes", "brackets", "word", "attribute", "unclosed"],
)
async def test_a_hostile_page_gives_text_or_a_reason_within_the_limits(extractors: Extractors, page: bytes) -> None:
    try:
        reason = None if (await extractors.extract(page, "text/html", None, "https://a.example/")).text else "empty"
    except PageError as error:
        reason = error.failure.reason
    assert reason in {None, Reason.NO_TEXT, Reason.UNREADABLE, Reason.TOO_LARGE}
    assert await works(extractors)


async def test_a_process_that_is_killed_while_idle_costs_nothing(extractors: Extractors) -> None:
    assert await works(extractors)
    os.kill(processes(extractors)[0], signal.SIGKILL)
    assert await works(extractors)


async def test_a_page_that_crashes_its_process_costs_that_page_alone() -> None:
    with Extractors(2) as extractors:
        crashing = [failure(extractors, bomb(), "application/pdf") for _ in range(2)]
        ended = await asyncio.gather(*crashing, *(works(extractors) for _ in range(6)))
        assert [end[0] for end in ended[:2] if isinstance(end, tuple)] == [Reason.UNREADABLE] * 2
        assert ended[2:] == [True] * 6


async def test_a_page_whose_process_is_killed_from_outside_is_tried_again(extractors: Extractors) -> None:
    assert await works(extractors)
    first = processes(extractors)
    large = asyncio.create_task(extractors.extract(b"<p>Word word.</p>" * 10_000, "text/html", None, "https://a.example/"))
    await begun(extractors)
    os.kill(first[0], signal.SIGKILL)
    assert (await large).text.startswith("Word")
    assert processes(extractors) != first


async def test_closing_leaves_no_process_and_cancels_what_is_at_work() -> None:
    extractors = Extractors(2)
    assert all(await asyncio.gather(works(extractors), works(extractors)))
    at_work = asyncio.create_task(extractors.extract(SLOW, "text/html", None, ""))
    await begun(extractors)
    pids = processes(extractors)
    await asyncio.to_thread(extractors.close)
    assert gone(pids, 5)
    with pytest.raises((CancelledError, asyncio.CancelledError)):
        await at_work
    extractors.close()


PARENT = """
import asyncio, sys, threading
from localfact.web.extracting.extractors import Extractors
extractors = Extractors(2, seconds=5)
async def main():
    one = await extractors.extract(b"<p>Some words here.</p>", "text/html", None, "")
    busy = asyncio.create_task(extractors.extract(b"<table><tr><td>" * 180_000, "text/html", None, ""))
    while extractors._idle.qsize() == 2:
        await asyncio.sleep(0.01)
    await extractors.extract(b"<p>Some words here.</p>", "text/html", None, "")
    print(*(worker._process.pid for worker in extractors._workers), flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""


async def test_closing_leaves_no_pipe_of_an_idle_process() -> None:
    gc.collect()  # what other tests left
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Extractors(1) as extractors:
            assert await works(extractors)
        del extractors
        gc.collect()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_processes_end_with_a_parent_that_is_killed_or_interrupted(how: signal.Signals, tmp_path: Path) -> None:
    # A script without a guard: what starts a process must not run it again.
    script = tmp_path / "script.py"
    script.write_text(PARENT)
    root = Path(__file__).resolve().parents[3]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    command = [sys.executable, str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2
        parent.send_signal(how)
        parent.wait(30)
    assert gone(pids, 30)


async def test_it_works_beside_torch_with_threads_of_its_own(extractors: Extractors) -> None:
    import torch

    assert float(torch.ones(200, 200).mm(torch.ones(200, 200)).sum()) > 0
    assert await works(extractors)


def test_importing_it_loads_no_heavy_library() -> None:
    program = (
        "import sys, localfact.web.extracting.extractors, localfact.web.pages\n"
        "heavy = 'trafilatura lxml tinycss2 w3lib pypdfium2 charset_normalizer'.split()\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    root = Path(__file__).resolve().parents[3]
    command = [sys.executable, "-c", program]
    assert subprocess.run(command, capture_output=True, text=True, check=True, cwd=root).stdout.strip() == "[]"
