"""What extraction kept and dropped of the documents in a corpus, in words: written with the pages, told by build and info.

Corpora that were built before it was counted lack it, and so do pages that were given as text.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from localfact.corpus.tables import open_to_read
from localfact.web.pages import Extent

TABLE = """
    CREATE TABLE IF NOT EXISTS extents (
        digest TEXT PRIMARY KEY, kept INTEGER, dropped INTEGER, table_lines INTEGER
    ) STRICT, WITHOUT ROWID
"""
#: A page that keeps a smaller share of its words is named: most of it is menus, or extraction failed.
LEAST_KEPT = 0.2


class PageExtent(NamedTuple):
    """A page and what is kept and dropped of it."""

    link: str
    extent: Extent

    @property
    def is_hardly_kept(self) -> bool:
        """Whether most of what the page shows was dropped."""
        return self.extent.kept < LEAST_KEPT * (self.extent.kept + self.extent.dropped)


def record_extent(database: sqlite3.Connection, digest: str, extent: Extent) -> None:
    """Writes what was kept of the page with that digest."""
    row = (digest, extent.kept, extent.dropped, extent.table_lines)
    database.execute("INSERT OR REPLACE INTO extents VALUES (?, ?, ?, ?)", row)


def read_extents(file: Path, *, finished: bool = True) -> Iterator[PageExtent]:
    """The extracted pages of a corpus by link.

    Args:
        file: the corpus's SQLite file.
        finished: False while it is being written to.

    Raises:
        CorpusError, WriteError: see `open_to_read`.
    """
    statement = """
        SELECT link, kept, dropped, table_lines FROM pages JOIN extents ON extents.digest = pages.digest
        ORDER BY link, pages.digest
    """
    with open_to_read(file, finished=finished) as database:
        if database.execute("SELECT 1 FROM sqlite_master WHERE name = 'extents'").fetchone() is None:
            return
        for link, kept, dropped, table_lines in database.execute(statement):
            yield PageExtent(link, Extent(kept=kept, dropped=dropped, table_lines=table_lines))


def sum_extents(file: Path, *, finished: bool = True) -> tuple[dict[str, int], list[str]]:
    """The counts over all extracted pages, by name, and the links of those that are hardly kept.

    Raises:
        CorpusError, WriteError: see `open_to_read`.
    """
    counts = {"pages": 0, "words_kept": 0, "words_dropped": 0, "table_lines": 0, "hardly_kept": 0}
    hardly = []
    for page in read_extents(file, finished=finished):
        counts["pages"] += 1
        counts["words_kept"] += page.extent.kept
        counts["words_dropped"] += page.extent.dropped
        counts["table_lines"] += page.extent.table_lines
        hardly += [page.link] if page.is_hardly_kept else []
    return counts | {"hardly_kept": len(hardly)}, hardly
