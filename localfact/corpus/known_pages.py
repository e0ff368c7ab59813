"""Finds which of the pages that are given the file of a corpus holds already, without writing to it."""

from array import array
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from localfact.corpus.tables import open_to_read, page_digest
from localfact.web.pages import Page


def from_first_new(file: Path, pages: Iterable[Page], known: "array[int]") -> Iterator[Page]:
    """The pages from the first one on that the file does not hold; the file is only read.

    Args:
        known: gets the numbers of the pages before it.

    Raises:
        CorpusError, WriteError: see `open_to_read`.
    """
    rest = iter(pages)
    with open_to_read(file, finished=False) as database:
        for page in rest:
            found = database.execute("SELECT id FROM pages WHERE digest = ?", (page_digest(page),)).fetchone()
            if found is None:
                rest = chain([page], rest)
                break
            known.append(found[0])
    yield from rest
