"""Makes WARC files by hand, tells pages and problems of their reading apart, and has warcio's own checker look at them."""

import gzip
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path

from warcio.checker import Checker

from localfact.web.archiving.warc_reading import WarcProblem, read_warc
from localfact.web.fetching.exchange import Exchange

PAGE = b"<html><title>Norvik</title><p>The harbour of Norvik was dredged in 1884.</p></html>"


def passes_checker(files: Iterable[Path]) -> bool:
    """Whether what `warcio check` runs finds every record readable and every digest right."""
    return bool(Checker(Namespace(inputs=[str(file) for file in files], verbose=False)).process_all() == 0)


def record(kind: str, block: bytes, *, length: int | None = None, **fields: str) -> bytes:
    """One WARC record, uncompressed; underscores in the names of fields stand for hyphens."""
    named = {
        "WARC_Date": "2024-05-06T07:08:09Z",
        "WARC_Target_URI": "https://a.example/",
        "Content_Type": "text/plain",
        **fields,
    }
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in named.items() if value]
    size = len(block) if length is None else length
    head = "\r\n".join(["WARC/1.0", f"WARC-Type: {kind}", *lines, f"Content-Length: {size}", "", ""])
    return head.encode() + block + b"\r\n\r\n"


def answer(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """An HTTP answer."""
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode() + body


def zipped(*records: bytes) -> bytes:
    """The records as gzip members."""
    return b"".join(gzip.compress(content, mtime=0) for content in records)


GOOD = record("response", answer(PAGE, "Content-Type: text/html"), WARC_Target_URI="https://good.example/")


def exchanges(file: Path, **how: int) -> list[Exchange]:
    """What was read, without the problems."""
    return [found for found in read_warc(file, **how) if isinstance(found, Exchange)]


def problems(file: Path, **how: int) -> list[WarcProblem]:
    """What was told about, without the pages."""
    return [found for found in read_warc(file, **how) if isinstance(found, WarcProblem)]


def written(tmp_path: Path, content: bytes) -> Path:
    """The content as a file."""
    file = tmp_path / "other.warc.gz"
    file.write_bytes(content)
    return file
