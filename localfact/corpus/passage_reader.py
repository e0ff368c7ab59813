"""Reads ids and texts of passages from the open file of a corpus, for many short questions; `PageStore.reader` opens it."""

import sqlite3
from collections.abc import Sequence

from localfact.corpus.passages import PassageKind

#: The most values in one statement, which SQLite limits.
VALUES_PER_STATEMENT = 500


class PassageReader:
    """Reads ids and texts of passages from an open file. One thread at a time may use it."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def passage_ids(self, kind: PassageKind) -> list[str]:
        """The ids of all passages of that kind, ascending."""
        # By that index they come in order; by the other one SQLite would sort them.
        statement = "SELECT DISTINCT passage FROM places INDEXED BY places_of_passage WHERE kind = ? ORDER BY passage"
        return [passage for (passage,) in self._database.execute(statement, (kind,))]

    def texts_of(self, ids: Sequence[str]) -> dict[str, str]:
        """The texts of these passages, id -> text; an id that is not in the file is left out."""
        found: dict[str, str] = {}
        for begin in range(0, len(ids), VALUES_PER_STATEMENT):
            some = ids[begin : begin + VALUES_PER_STATEMENT]
            statement = f"SELECT id, text FROM passages WHERE id IN ({','.join('?' * len(some))})"
            found.update(self._database.execute(statement, some).fetchall())
        return found
