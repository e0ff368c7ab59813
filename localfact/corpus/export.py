"""Writes pages as JSON lines, from which a corpus of the same pages can be built again, here or with other tools."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from localfact.runtime.files import write_file
from localfact.text import readable
from localfact.web.pages import PROVIDER, Page


def export_pages(pages: Iterable[Page], file: Path) -> int:
    """Writes one JSON object a line, in the order given: `url`, `title`, `text`, and, where known, `date` and `provider`.

    The file appears complete or not at all; an existing one is replaced at the end.

    Returns:
        How many pages were written.

    Raises:
        WriteError: the disk is full, or the folder cannot be written.
    """
    count = 0

    def lines() -> Iterator[bytes]:
        nonlocal count
        for page in pages:
            count += 1
            yield line_of(page)

    write_file(file, lines())
    return count


def line_of(page: Page) -> bytes:
    """The line of one page, without keys that have their default value."""
    row = page.model_dump(mode="json", exclude_none=True, exclude={"link"})
    if row.get("provider") == PROVIDER:
        del row["provider"]
    return readable(json.dumps({"url": page.link, **row}, ensure_ascii=False)).encode() + b"\n"
