"""Folders of one name with numbers, each written whole or not at all: NAME-0001, NAME-0002, ..."""

import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from localfact.runtime.files import NEW, sync


class NumberedFolders:
    """The folders of that name in `folder`, which need not exist and may hold others too. One process at a time may write."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self._name = name

    def names(self, *, half_written: bool = False) -> list[str]:
        """The folders' names, in the order of their numbers."""
        pattern = re.compile(rf"{re.escape(self._name)}-(\d+)" + (f"(?:{re.escape(NEW)})?" if half_written else ""))
        entries = self.folder.iterdir() if self.folder.is_dir() else ()
        found = [(int(match[1]), entry.name) for entry in entries if (match := pattern.fullmatch(entry.name))]
        return [name for _, name in sorted(found)]

    @contextmanager
    def new(self) -> Iterator[Path]:
        """A new folder, which gets the next number once the block has filled it and it is on the disk."""
        number = 1 + max((int(name.rpartition("-")[2]) for name in self.names()), default=0)
        folder = self.folder / f"{self._name}-{number:04d}{NEW}"
        folder.mkdir(parents=True)
        yield folder
        for path in [*folder.rglob("*"), folder]:
            sync(path)
        folder.rename(folder.with_name(folder.name.removesuffix(NEW)))

    def remove(self, names: Iterable[str]) -> None:
        """Removes these folders."""
        for name in list(names):
            folder = self.folder / name
            # A kill in the middle must not leave a folder that looks like a damaged one.
            doomed = folder if name.endswith(NEW) else folder.rename(folder.with_name(name + NEW))
            shutil.rmtree(doomed)

    def remove_half_written(self) -> None:
        """Removes what a kill left of folders that were being written or removed."""
        self.remove(name for name in self.names(half_written=True) if name.endswith(NEW))
