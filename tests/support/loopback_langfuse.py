"""A server of Langfuse on loopback: as much of its ingestion of scores as sending them takes.

with serving(LoopbackLangfuse()) as langfuse:
    ...  # send to langfuse.url; langfuse.script.append((503, {})); langfuse.scores has what came
"""

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PUBLIC, SECRET = "pk-lf-loopback", "sk-lf-loopback-0123456789"


@dataclass
class LoopbackLangfuse:
    """What it answers and what came.

    Attributes:
        script: status and headers of the next answers, taken from the front; then all is taken.
        refused: names of scores that it refuses. scores: id -> the score, as sent last.
        batches: how many scores each batch had that it took or refused. events: the ids of the envelopes.
    """

    script: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    refused: frozenset[str] = frozenset()
    scores: dict[str, dict[str, Any]] = field(default_factory=dict)
    batches: list[int] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    requests: int = 0
    url: str = ""

    def take(self, batch: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
        """What became of each score of a batch."""
        self.batches.append(len(batch))
        answer: dict[str, list[dict[str, Any]]] = {"successes": [], "errors": []}
        for event in batch:
            assert event["type"] == "score-create"
            assert event["timestamp"].endswith("Z")
            self.events.append(event["id"])
            if event["body"]["name"] in self.refused:
                answer["errors"].append({"id": event["id"], "status": 400, "message": "Invalid score"})
            else:
                self.scores[event["body"]["id"]] = event["body"]
                answer["successes"].append({"id": event["id"], "status": 201})
        return answer


@contextmanager
def serving(langfuse: LoopbackLangfuse) -> Iterator[LoopbackLangfuse]:
    """Serves until the end of the block."""
    known = "Basic " + base64.b64encode(f"{PUBLIC}:{SECRET}".encode()).decode()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            langfuse.requests += 1
            status, headers = langfuse.script.pop(0) if langfuse.script else (207, {})
            said: dict[str, Any] = {"message": f"no, {SECRET}"}
            if self.headers["authorization"] != known:
                status = 401
            elif status == 207 and self.path == "/api/public/ingestion":
                said = langfuse.take(json.loads(body)["batch"])
            content = json.dumps(said).encode()
            self.send_response(status)
            for name, value in {**headers, "content-length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    langfuse.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield langfuse
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
