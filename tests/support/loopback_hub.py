"""A Hugging Face hub on loopback: as much of its HTTP as downloading a model takes, with refusals and broken connections."""

import hashlib
import json
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TOKEN = "hf_loopback"
#: Files from this size on are kept as "large files", known by SHA-256, and sent from elsewhere.
LARGE = 1000


@dataclass
class Repository:
    """A model on the hub."""

    files: dict[str, bytes]
    commit: str = COMMIT
    gated: bool = False


@dataclass
class LoopbackHub:
    """What it holds, what goes wrong, what it was asked.

    Attributes:
        cut: file name -> after how many bytes of an answer the connection breaks, each time taken from the front of the list.
        spoilt: names of files whose bytes arrive changed. cdn: where large files are redirected to.
        asked: (method, path, range, authorization) of every request.
    """

    repositories: dict[str, Repository]
    cut: dict[str, list[int]] = field(default_factory=dict)
    spoilt: set[str] = field(default_factory=set)
    cdn: str = ""
    asked: list[tuple[str, str, str, str]] = field(default_factory=list)
    url: str = ""

    def downloads(self, name: str) -> list[str]:
        """The ranges in which a file was asked for."""
        return [wanted for method, path, wanted, _ in self.asked if method == "GET" and path.endswith(f"/{name}")]


def entry(name: str, content: bytes) -> dict[str, object]:
    """A file as the hub's API describes it."""
    blob = hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()
    large = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 130}
    return {"rfilename": name, "size": len(content), "blobId": blob} | ({"lfs": large} if len(content) >= LARGE else {})


def tree_entry(name: str, content: bytes) -> dict[str, object]:
    """A file as huggingface_hub's listing of a tree has it."""
    described = entry(name, content)
    large = described.get("lfs")
    listed = {"type": "file", "path": name, "size": len(content), "oid": described["blobId"]}
    return listed | ({"lfs": {**large, "oid": large["sha256"]}} if isinstance(large, dict) else {})


class Handler(BaseHTTPRequestHandler):
    """Answers like the hub."""

    hub: LoopbackHub
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: object) -> None:
        """Says nothing."""

    def do_HEAD(self) -> None:
        self.answer()

    def do_GET(self) -> None:
        self.answer()

    def answer(self) -> None:
        path = unquote(urlsplit(self.path).path)
        authorization = self.headers.get("authorization", "")
        self.hub.asked.append((self.command, path, self.headers.get("range", ""), authorization))
        api = re.fullmatch(r"/api/models/([^/]+/[^/]+)/(revision|tree)/(.+)", path)
        file = re.fullmatch(r"(/cdn)?/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
        if api:
            self.describe(*api.groups())
        elif file:
            self.send_content(file[1] is not None, file[2], file[3], file[4], authorization)
        else:
            self.refuse(404, "")

    def describe(self, name: str, what: str, revision: str) -> None:
        repository = self.hub.repositories.get(name)
        if repository is None:
            self.refuse(401, "RepoNotFound")
        elif revision not in ("main", repository.commit):
            self.refuse(404, "RevisionNotFound")
        elif what == "tree":
            self.send_json([tree_entry(*item) for item in repository.files.items()])
        else:
            siblings = [entry(*item) for item in repository.files.items()]
            gated = "manual" if repository.gated else False
            self.send_json({"id": name, "sha": repository.commit, "gated": gated, "siblings": siblings})

    def send_content(self, elsewhere: bool, name: str, revision: str, file: str, authorization: str) -> None:
        repository = self.hub.repositories[name]
        content = repository.files.get(file)
        if content is None or revision not in ("main", repository.commit):
            return self.refuse(404, "EntryNotFound")
        if repository.gated and not elsewhere and authorization != f"Bearer {TOKEN}":
            return self.refuse(403 if authorization else 401, "GatedRepo")
        described = entry(file, content)
        large = described.get("lfs")
        etag = large["sha256"] if isinstance(large, dict) else described["blobId"]
        headers = {"ETag": f'"{etag}"', "X-Repo-Commit": repository.commit}
        if self.hub.cdn and isinstance(large, dict) and not elsewhere:
            headers |= {"Location": f"{self.hub.cdn}/cdn{self.path}", "X-Linked-Size": str(len(content))}
            return self.send(302, headers | {"X-Linked-Etag": f'"{etag}"'}, b"")
        start = int(self.headers.get("range", "bytes=0-").removeprefix("bytes=").split("-")[0])
        if file in self.hub.spoilt:
            content = bytes(byte ^ 1 for byte in content)
        return self.send(206 if start else 200, headers, content[start:], cut=file)

    def send_json(self, value: object) -> None:
        self.send(200, {"Content-Type": "application/json"}, json.dumps(value).encode())

    def refuse(self, status: int, code: str) -> None:
        self.send(status, {"X-Error-Code": code} if code else {}, b"{}")

    def send(self, status: int, headers: dict[str, str], body: bytes, cut: str = "") -> None:
        cuts = self.hub.cut.get(cut)
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        if cuts:
            self.wfile.write(body[: cuts.pop(0)])
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        else:
            self.wfile.write(body)


@contextmanager
def serving(hub: LoopbackHub) -> Iterator[LoopbackHub]:
    """The hub at a free port of loopback, until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("BoundHandler", (Handler,), {"hub": hub}))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
