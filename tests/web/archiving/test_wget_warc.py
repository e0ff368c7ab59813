"""Files that wget wrote are read: a real one, asked for the pages of a server on loopback."""

import gzip
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from warc_checks import PAGE, exchanges, problems

GZIPPED = gzip.compress(PAGE, mtime=0)


class Pages(BaseHTTPRequestHandler):
    """A page, one in chunks, one compressed, a redirect, and nothing else."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answers."""
        body = {"/page": PAGE, "/chunked": PAGE * 3, "/gzipped": GZIPPED}.get(self.path)
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/page")
        else:
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
        body = body or b"nothing here"
        if self.path == "/gzipped":
            self.send_header("Content-Encoding", "gzip")
        if self.path == "/chunked":
            self.send_header("Transfer-Encoding", "chunked")
            body = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:100], body[100:])) + b"0\r\n\r\n"
        else:
            self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")  # said, or whoever asks takes it for open
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def serving() -> Iterator[str]:
    """The address of a server of those pages on loopback."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.skipif(shutil.which("wget") is None, reason="wget is not installed")
@pytest.mark.parametrize("option", [[], ["--no-warc-compression"]])
def test_what_wget_wrote_is_read(tmp_path: Path, option: list[str]) -> None:
    paths = ["/moved", "/missing", "/chunked", "/gzipped"]
    with serving() as server:
        command = ["wget", "--quiet", "--no-config", "--no-proxy", "--tries=1", "--timeout=10", "--warc-file=crawl", *option]
        environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
        done = subprocess.run(
            [*command, *(server + path for path in paths)], cwd=tmp_path, env=environment, timeout=60, check=False
        )
    assert done.returncode == 8  # "the server issued an error response": the 404
    (file,) = tmp_path.glob("crawl.warc*")
    found = exchanges(file)
    assert {exchange.url: exchange.payload for exchange in found} == {
        f"{server}/page": PAGE,
        f"{server}/chunked": PAGE * 3,
        f"{server}/gzipped": GZIPPED,
    }
    compressed = next(exchange for exchange in found if exchange.url.endswith("/gzipped"))
    assert compressed.header("Content-Encoding") == "gzip"
    assert all((exchange.status, exchange.reason, exchange.address) == (200, "OK", "127.0.0.1") for exchange in found)
    assert {exchange.media_type for exchange in found} == {"text/html"}
    assert all(abs((datetime.now(UTC) - exchange.time).total_seconds()) < 3_600 for exchange in found)
    told = {problem.why: problem.count for problem in problems(file)}
    assert told.pop("The answer has status 302.") == 1
    assert told.pop("The answer has status 404.") == 1
    # wget adds its manifest, its arguments and its log as records that are not of the web.
    assert set(told) <= {"The record has no address of the web."}
