"""Reads JSON lines, one page a line, as a stream: collections of other tools, and exports of a corpus."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from localfact.corpus.importing.imported import Problem, Progress
from localfact.web.pages import MAX_FILE_BYTES, NoPageError, Page, page_of_row

#: Longer lines are refused: parsing one could take all memory.
MAX_ROW_BYTES = MAX_FILE_BYTES
#: Lines between two calls of progress.
LINES_PER_STEP = 200
#: The name of the provider that found a page, as an export states it; other values are ignored.
PROVIDER_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


def read_rows(file: Path, name: str, progress: Progress) -> Iterator[Page | Problem]:
    """Yields the page of every line that is not empty, or why it gives none; `progress` counts bytes.

    Args:
        file: JSON objects with `url` or `link`, `title`, `text`, `date`; `snippet` is used for an empty `text`.
        name: the file's name in messages, and in the links of rows without an address.

    Raises:
        OSError: the file cannot be read.
    """
    total = file.stat().st_size
    with file.open("rb") as stream:
        for number, line in enumerate(read_bounded_lines(stream), start=1):
            where = f"{name}, line {number}"
            try:
                if line is None:
                    raise NoPageError(f"The line is longer than {MAX_ROW_BYTES:,} bytes.")
                text = line.decode("utf-8-sig", errors="replace")
                if text.strip():
                    yield read_exported_page(text, f"{name}#{number}")
            except NoPageError as problem:
                yield Problem(where, str(problem))
            if number % LINES_PER_STEP == 0:
                progress(name, stream.tell(), total)
    progress(name, total, total)


def read_bounded_lines(stream: IO[bytes]) -> Iterator[bytes | None]:
    """The lines; None for one that is too long."""
    while line := stream.readline(MAX_ROW_BYTES):
        whole = len(line) < MAX_ROW_BYTES or line.endswith(b"\n")
        yield line if whole else None
        while not whole:
            rest = stream.readline(MAX_ROW_BYTES)
            whole = not rest or rest.endswith(b"\n")


def read_exported_page(line: str, address: str) -> Page:
    """The page of one line of JSON, with the provider that an export stated; `address` is its link where it has none.

    Raises:
        NoPageError: it is no JSON object, or has no text.
    """
    page = page_of_row(line, address)
    provider = json.loads(line).get("provider") if '"provider"' in line else None
    known = isinstance(provider, str) and PROVIDER_NAME.fullmatch(provider)
    return page.model_copy(update={"provider": provider}) if known else page
