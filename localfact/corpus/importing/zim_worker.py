"""The process that reads a ZIM file: answers with one entry after the other, within a limit of memory.

A few bytes of such a file may unpack to gigabytes, and the library that reads it is of another language: what it does to its
process it does to this one alone.
"""

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from localfact.corpus.importing.imported import Problem, RawPage
from localfact.corpus.importing.zim import ZimAddresses, article, open_archive
from localfact.errors import LocalFactError
from localfact.web.extracting.worker_process import comes, limit_memory, pipes, receive, send


def serve(file: str, name: str, memory_bytes: int) -> None:
    """Answers on standard output how many entries there are, then each entry that standard input asks for by its number.

    Args:
        file: the archive.
        name: its name in messages.
        memory_bytes: on top of what the libraries take.
    """
    requests, answers = pipes()
    limit_memory(memory_bytes)
    try:
        archive = open_archive(Path(file))
    except LocalFactError as error:
        send(answers, {"error": str(error), "exit_code": error.exit_code}, b"")
        return
    addresses = ZimAddresses(archive, name)
    send(answers, {"total": archive.all_entry_count}, b"")
    parent = os.getppid()
    while comes(requests, parent):
        try:
            header, _ = receive(requests)
        except EOFError:
            return
        send(answers, *encode_entry(article(archive, header["number"], name, addresses)))


def encode_entry(entry: RawPage | Problem | None) -> tuple[dict[str, Any], bytes]:
    """An entry as a message."""
    if isinstance(entry, RawPage):
        fields = asdict(entry)
        body = fields.pop("body")
        return {"page": fields}, body
    return ({"problem": asdict(entry)} if isinstance(entry, Problem) else {}), b""
