"""Browsers that never finish what they began: their connections are ended, and shut nobody out."""

import os
import re
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
import psutil
import pytest
from annotation_projects import make_project

ROOT = Path(__file__).resolve().parents[2]
SERVE = """
import sys
from pathlib import Path
from localfact.annotation.project import Project
from localfact.annotation.serving import serve_project
with Project(Path(sys.argv[1])) as project:
    how = {"patience": float(sys.argv[2])} if sys.argv[2] else {}
    serve_project(project, "127.0.0.1", 0, blind=False, ready=lambda link: print(link, flush=True), **how)
"""
DESCRIPTORS = 256
POST = b"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nOrigin: http://%s\r\nContent-Length: 50\r\n\r\nname="
#: What is sent at the beginning, and again and again: of a request that never ends, and of answers that nobody reads.
STALLED = {
    "nothing": (b"", b""),
    "a line that never ends": (b"GET /", b"a"),
    "a head that never ends": (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n", b"X: y\r\n"),
    "a slow body": (POST.replace(b"%s", b"127.0.0.1:%d"), b"a"),
    "a body after its answer": (POST.replace(b"%s", b"elsewhere"), b"a"),
    "answers that nobody reads": (b"GET /static/htmx.min.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 400, b""),
}


@contextmanager
def serving(folder: Path, patience: str = "") -> Iterator[int]:
    """The port of a server with few descriptors."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, folder, patience],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS)),
    )
    assert process.stdout is not None
    try:
        yield int(re.search(r":(\d+)/", process.stdout.readline())[1])  # type: ignore[index]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def stall(port: int, how: str) -> socket.socket:
    """A connection that sent the beginning."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", port))
    connection.setblocking(False)
    begun = STALLED[how][0]
    # A full buffer takes no more: then there are answers enough that nobody reads.
    connection.send(begun.replace(b"%d", b"%d" % port))
    return connection


def is_ended(connection: socket.socket, how: str) -> bool:
    """Whether the server ended it; else some more is sent."""
    try:
        connection.send(STALLED[how][1])
        while connection.recv(65536):
            pass
        return True
    except BlockingIOError:
        return False
    except OSError:
        return True


def wait_for_the_end(stalled: dict[str, socket.socket]) -> None:
    deadline = time.monotonic() + 60
    while stalled := {how: one for how, one in stalled.items() if not is_ended(one, how)}:
        assert time.monotonic() < deadline, stalled
        time.sleep(0.02)


def wait_until_closed(connection: socket.socket) -> None:
    """Waits for the server to end a connection whose answers are still on their way, without reading any."""
    client, server = connection.getsockname()[1], connection.getpeername()[1]
    deadline = time.monotonic() + 60
    while any(
        one.status == psutil.CONN_ESTABLISHED and (one.laddr.port, one.raddr.port) == (server, client)
        for one in psutil.net_connections("tcp4")
    ):
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.slow
def test_a_connection_that_does_not_get_on_is_ended_however_it_stalls(tmp_path: Path) -> None:
    with serving(make_project(tmp_path / "project"), "0.7") as port, ExitStack() as opened:
        left = {how: opened.enter_context(stall(port, how)) for how in STALLED}
        unread = left.pop("answers that nobody reads")
        wait_for_the_end(left)
        wait_for_the_end({"nothing": opened.enter_context(stall(port, "nothing"))})
        wait_until_closed(unread)
        unread.settimeout(60)
        answers = 0
        with suppress(ConnectionResetError):
            while taken := unread.recv(2**20):
                answers += taken.count(b"HTTP/1.1 200 OK")
        assert 0 < answers < 300
        # Whoever asks and reads is not ended, however long the connection lasts.
        client = opened.enter_context(httpx.Client(base_url=f"http://127.0.0.1:{port}"))
        assert {client.get("/").status_code for _ in range(20)} == {200}


@pytest.mark.slow
@pytest.mark.parametrize("hows", [["nothing"], ["answers that nobody reads"], list(STALLED)], ids=["nothing", "unread", "all"])
def test_more_stalled_connections_than_descriptors_shut_nobody_out(tmp_path: Path, hows: list[str]) -> None:
    with serving(make_project(tmp_path / "project")) as port, ExitStack() as opened:
        for number in range(DESCRIPTORS + 50):
            opened.enter_context(stall(port, hows[number % len(hows)]))
        # Less than the server waits before it ends the stalled ones.
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=20) as client:
            assert client.get("/").status_code == 200
            assert client.get("/guide", follow_redirects=True).status_code == 200
