"""Finds which of the pages that are given the file of a corpus holds already, without writing to it."""

import sqlite3
from array import array
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path

from localfact.corpus.tables import page_digest
from localfact.errors import CorpusError
from localfact.runtime.sqlite import connect
from localfact.web.pages import Page


def from_first_new(file: Path, pages: Iterable[Page], known: "array[int]") -> Iterator[Page]:
    """The pages from the first one on that the file does not hold; the file is only read.

    Args:
        known: gets the numbers of the pages before it.

    Raises:
        CorpusError: it is damaged.
    """
    rest = iter(pages)
    try:
        with closing(connect(f"{file.absolute().as_uri()}?mode=ro")) as database:
            for page in rest:
                found = database.execute("SELECT id FROM pages WHERE digest = ?", (page_digest(page),)).fetchone()
                if found is None:
                    rest = chain([page], rest)
                    break
                known.append(found[0])
    except sqlite3.DatabaseError as error:
        raise CorpusError(f"{file} is damaged: {error}. Copy or build the corpus again.") from error
    yield from rest
