"""Which columns of rows nobody reads: a row notes what is asked of it, so no list of names has to be kept."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from localfact.inputs.json_rows import Row, RowError

#: What our own passes write for people, as objects: nothing reads it again.
OWN = frozenset({"extractor", "generation", "usage"})
#: The most columns that are named.
NAMED = 10


class WatchedRow(dict[str, Any]):
    """A row that notes which of its columns are read."""

    def __init__(self, row: Row, read: set[str]) -> None:
        super().__init__(row)
        self._read = read

    def get(self, key: str, default: Any = None) -> Any:
        """As of any mapping."""
        self._read.add(key)
        return super().get(key, default)

    def __getitem__(self, key: str) -> Any:
        self._read.add(key)
        return super().__getitem__(key)


class Columns:
    """The columns of rows that pass by, and those of them that are read in any row."""

    def __init__(self) -> None:
        self._there: dict[str, None] = {}
        self._read: set[str] = set()

    def watch(self, rows: Iterable[Row | RowError]) -> Iterator[Row | RowError]:
        """The rows, watched."""
        for row in rows:
            if isinstance(row, RowError):
                yield row
                continue
            named = (name for name, value in row.items() if not (name in OWN and isinstance(value, Mapping)))
            self._there |= dict.fromkeys(name for name in named if row[name] not in (None, ""))
            yield WatchedRow(row, self._read)

    def notes(self) -> tuple[str, ...]:
        """What a reader of the results must know: which columns were not read; nothing where all were."""
        unread = [name for name in self._there if name not in self._read]
        more = f" and {len(unread) - NAMED} more" if len(unread) > NAMED else ""
        return (f"Columns that were not read: {', '.join(unread[:NAMED])}{more}.",) if unread else ()
