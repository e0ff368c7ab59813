"""Makes WARC files by hand and has warcio's own checker look at files, for the tests of the archive and of its readers."""

import gzip
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path

from warcio.checker import Checker


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
