"""Search engines on loopback: SearXNG, Serper, MediaWiki, Brave and DuckDuckGo's page, as much as asking them takes.

Their answers are hand-made after the services' documentation. In a test:

    with serving(LoopbackSearch({"a query": [Result("Title", "https://a.example/", "Snippet.")]})) as engines:
        ...  # ask at engines.url; engines.script.append(Misbehaviour(429, retry_after="2")); engines.count("searxng")

As a process, for tests that kill: python tests/support/loopback_search.py --port-file FILE --table FILE.json [--delay SECONDS]
where the table is {query: [{"title": ..., "link": ..., "snippet": ..., "date": ...}, ...]}, and "*" answers all other queries.
"""

import argparse
import html
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

KEY = "loopback-key-0123456789"
#: How many bytes of an endless body are sent at most.
ENDLESS = 50_000_000


class Result(NamedTuple):
    """One result: what the engine has of a page."""

    title: str
    link: str
    snippet: str = ""
    date: str | None = None


@dataclass(frozen=True)
class Misbehaviour:
    """What happens to one request instead of an answer, or before it.

    Attributes:
        status, retry_after, headers: of the answer. body: in place of what belongs there; None leaves it.
        delay: seconds before anything is sent. endless: a body that does not end. drip: seconds between its bytes, 200 of them.
        hang_up: no answer at all.
    """

    status: int = 200
    retry_after: str | None = None
    body: bytes | None = None
    delay: float = 0.0
    headers: Mapping[str, str] = field(default_factory=dict)
    endless: bool = False
    drip: float = 0.0
    hang_up: bool = False


class Asked(NamedTuple):
    """One request: which service, the query, all parameters, the headers in lower case."""

    provider: str
    query: str
    parameters: dict[str, str]
    headers: dict[str, str]


@dataclass
class LoopbackSearch:
    """What it finds, what goes wrong, what it was asked.

    Attributes:
        table: query -> results, "*" for all other queries; or a function of the query.
        script: what happens to the next requests, taken from the front; None is a request that is answered well.
        always: what happens when the script is at its end. page_size: results on a page of SearXNG.
        unresponsive: what SearXNG says of the engines behind it. error: an error object of MediaWiki in place of results.
        key: what Serper and Brave want. asked: every request that came.
    """

    table: Mapping[str, Sequence[Result]] | Callable[[str], Sequence[Result]] = field(default_factory=dict)
    script: list[Misbehaviour | None] = field(default_factory=list)
    always: Misbehaviour | None = None
    page_size: int = 10
    unresponsive: list[list[str]] = field(default_factory=list)
    error: dict[str, str] | None = None
    key: str = KEY
    asked: list[Asked] = field(default_factory=list)
    url: str = ""
    closing: threading.Event = field(default_factory=threading.Event)

    def count(self, provider: str | None = None) -> int:
        """How many requests came, to all services or to one."""
        return sum(provider in (None, asked.provider) for asked in self.asked)

    def results(self, query: str) -> list[Result]:
        """What is found for a query."""
        found = self.table(query) if callable(self.table) else self.table.get(query, self.table.get("*", ()))
        return list(found)


def searxng_answer(engines: LoopbackSearch, asked: Asked) -> object:
    page = int(asked.parameters.get("pageno", "1"))
    found = engines.results(asked.query)[(page - 1) * engines.page_size : page * engines.page_size]
    results = [
        {"url": entry.link, "title": entry.title, "content": entry.snippet, "publishedDate": entry.date, "engine": "loopback"}
        for entry in found
    ]
    empty: dict[str, list[str]] = {"answers": [], "corrections": [], "infoboxes": [], "suggestions": []}
    return {"query": asked.query, "results": results, "unresponsive_engines": engines.unresponsive} | empty


def serper_answer(engines: LoopbackSearch, asked: Asked) -> object:
    found = engines.results(asked.query)[: int(asked.parameters.get("num", "10"))]
    organic = [
        {"title": entry.title, "link": entry.link, "snippet": entry.snippet, "position": position}
        | ({"date": entry.date} if entry.date else {})
        for position, entry in enumerate(found, start=1)
    ]
    return {"searchParameters": {"q": asked.query, "type": "search"}, "organic": organic, "credits": 1}


def mediawiki_answer(engines: LoopbackSearch, asked: Asked) -> object:
    if engines.error:
        return {"error": engines.error, "docref": "See the documentation.", "servedby": "loopback"}
    found = engines.results(asked.query)[: int(asked.parameters.get("srlimit", "10"))]
    search = [
        {"ns": 0, "title": entry.title, "pageid": number, "snippet": entry.snippet, "timestamp": entry.date}
        for number, entry in enumerate(found, start=1)
    ]
    return {"batchcomplete": True, "query": {"searchinfo": {"totalhits": len(search)}, "search": search}}


def brave_answer(engines: LoopbackSearch, asked: Asked) -> object:
    found = engines.results(asked.query)[: int(asked.parameters.get("count", "20"))]
    results = [
        {"title": entry.title, "url": entry.link, "description": entry.snippet, "page_age": entry.date} for entry in found
    ]
    web = {"web": {"type": "search", "results": results}} if results else {}
    return {"type": "search", "query": {"original": asked.query}} | web


def duckduckgo_page(engines: LoopbackSearch, asked: Asked) -> bytes:
    """A page in the shape of html.duckduckgo.com."""
    blocks = [
        f"""<div class="result results_links results_links_deep web-result"><div class="links_main links_deep result__body">
        <h2 class="result__title"><a class="result__a" href="{html.escape(entry.link)}">{html.escape(entry.title)}</a></h2>
        <a class="result__snippet" href="{html.escape(entry.link)}">{html.escape(entry.snippet)}</a></div></div>"""
        for entry in engines.results(asked.query)
    ]
    nothing = """<div class="result results_links results_links_deep result--no-result">
        <div class="links_main links_deep result__body"><div class="no-results">No  results.</div></div></div>"""
    return f"""<!DOCTYPE html><html><head><title>{html.escape(asked.query)} at DuckDuckGo</title></head>
        <body><div id="links" class="results">{"".join(blocks) or nothing}</div></body></html>""".encode()


ANSWERS = {
    "searxng": searxng_answer,
    "serper": serper_answer,
    "wikipedia": mediawiki_answer,
    "brave": brave_answer,
    "duckduckgo": duckduckgo_page,
}
PLACES = {
    ("GET", "/search"): "searxng",
    ("POST", "/search"): "serper",
    ("GET", "/w/api.php"): "wikipedia",
    ("GET", "/res/v1/web/search"): "brave",
    ("POST", "/html/"): "duckduckgo",
}
KEY_HEADERS = {"serper": "x-api-key", "brave": "x-subscription-token"}


class Handler(BaseHTTPRequestHandler):
    """Answers like the services; GET /asked lists what was asked, for tests in another process."""

    engines: LoopbackSearch
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: object) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        self.answer(urlsplit(self.path).query)

    def do_POST(self) -> None:
        self.answer(self.rfile.read(int(self.headers.get("content-length", "0"))).decode())

    def answer(self, told: str) -> None:
        path = urlsplit(self.path).path
        if path == "/asked":
            listed = [{"provider": asked.provider, "query": asked.query} for asked in self.engines.asked]
            return self.send(200, {"Content-Type": "application/json"}, json.dumps(listed).encode())
        provider = PLACES.get((self.command, path))
        if provider is None:
            return self.send(404, {}, b"{}")
        read: dict[str, Any] = json.loads(told) if provider == "serper" else {k: v[0] for k, v in parse_qs(told).items()}
        parameters = {name: str(value) for name, value in read.items()}
        query = parameters.get("srsearch" if provider == "wikipedia" else "q", "")
        asked = Asked(provider, query, parameters, {name.lower(): value for name, value in self.headers.items()})
        self.engines.asked.append(asked)
        script = self.engines.script
        wrong = script.pop(0) if script else self.engines.always
        return self.send_answer(asked, wrong or Misbehaviour())

    def send_answer(self, asked: Asked, wrong: Misbehaviour) -> None:
        self.engines.closing.wait(wrong.delay)
        if wrong.hang_up:
            self.close_connection = True
            return None
        header = KEY_HEADERS.get(asked.provider)
        if header and asked.headers.get(header) != self.engines.key:
            repeated = f"Unauthorized key {asked.headers.get(header)}."
            return self.send(403, {"Content-Type": "application/json"}, json.dumps({"message": repeated}).encode())
        if asked.provider == "searxng" and asked.parameters.get("format") != "json":
            return self.send(200, {"Content-Type": "text/html"}, b"<html></html>")
        answer = ANSWERS[asked.provider](self.engines, asked)
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        headers = {"Content-Type": "text/html" if isinstance(answer, bytes) else "application/json", **wrong.headers}
        if wrong.retry_after is not None:
            headers["Retry-After"] = wrong.retry_after
        if wrong.endless or wrong.drip:
            return self.send_endless(headers, wrong.drip)
        good = wrong.status == 200 and wrong.body is None
        return self.send(wrong.status, headers, body if good else wrong.body or b"")

    def send(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in (dict(headers) | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def send_endless(self, headers: Mapping[str, str], drip: float) -> None:
        self.send_response(200)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True
        with suppress(OSError):
            for _ in range(200 if drip else ENDLESS // 100_000):
                self.wfile.write(b" " if drip else b" " * 100_000)
                self.engines.closing.wait(drip)


@contextmanager
def serving(engines: LoopbackSearch) -> Iterator[LoopbackSearch]:
    """The engines at a free port of loopback, until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("BoundHandler", (Handler,), {"engines": engines}))
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client that hangs up is part of the tests
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    engines.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield engines
    finally:
        engines.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


def main() -> None:
    """Serves a table from a file until the process is ended; the port file appears when it can be asked."""
    parser = argparse.ArgumentParser(description="Search engines on loopback.")
    parser.add_argument("--port-file", type=Path, required=True)
    parser.add_argument("--table", type=Path, required=True)
    parser.add_argument("--delay", type=float, default=0.0)
    options = parser.parse_args()
    rows = json.loads(options.table.read_text(encoding="utf-8"))
    table = {query: [Result(**row) for row in results] for query, results in rows.items()}
    with serving(LoopbackSearch(table, always=Misbehaviour(delay=options.delay))) as engines:
        partial = options.port_file.with_suffix(".partial")
        partial.write_text(engines.url.rpartition(":")[2], encoding="utf-8")
        partial.replace(options.port_file)
        threading.Event().wait()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
