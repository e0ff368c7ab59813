"""One JSONL file that is made row by row and can be killed at any moment: append, resume, lock.

Rows are appended and synced to `OUT.part` as they are made; OUT itself appears when all are there, in the order of the input,
so that a file under its own name is complete. `OUT.run.yaml` beside it has the settings that decided the rows, and stays.
"""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml

from localfact.errors import InputError, RunFolderError
from localfact.runs.journal import Appended, Settings, agree, lines_of, lock, read_description
from localfact.runtime.files import replace, write_all, write_errors
from localfact.text import readable

#: Suffixes of the two files beside the output.
PART = ".part"
RUN = ".run.yaml"
#: The key of a row that could not be made; its value says why. Such rows are tried again.
ERROR = "error_message"

Row = dict[str, Any]


class RowFile:
    """One file of rows, locked by this process. Rows are identified by their `id`.

    Args:
        path: the output; its folder is made if missing.
        settings: what decides the rows. A file with other settings is refused.
        versions: of the software; a difference only warns.
        notes: for readers of OUT.run.yaml: where the data lay, the hardware.
        force: discard the rows that are there and begin again.

    Attributes:
        path: the finished file.
        done: the ids of the rows that need not be made again: those that were made, failures not among them. It grows.
        warnings: differences in versions.

    Raises:
        RunFolderError: other settings, another process, or a file that localfact did not make.
        InputError: a row that cannot be read back. WriteError: the file cannot be written.
    """

    def __init__(
        self,
        path: Path,
        settings: Settings,
        *,
        versions: Mapping[str, str] | None = None,
        notes: Mapping[str, Any] | None = None,
        force: bool = False,
    ) -> None:
        self.path = path
        self.warnings: list[str] = []
        self._part_path = path.with_name(path.name + PART)
        self._run_path = path.with_name(path.name + RUN)
        self.done: set[str] = set()
        self._lines: dict[str, bytes] = {}
        plain = json.loads(json.dumps({"settings": settings, "versions": versions or {}, **(notes or {})}))
        with write_errors(path), ExitStack() as opened:
            if path.exists() and not path.is_file():
                raise InputError(f"{path} is no plain file. Name another with --out.")
            if path.exists() and not self._run_path.exists():
                raise RunFolderError(f"{path} is there already and was made by something else. Name another file with --out.")
            path.parent.mkdir(parents=True, exist_ok=True)
            self._run = opened.enter_context(lock(self._run_path, path))
            if force:
                for old in (path, self._part_path):
                    old.unlink(missing_ok=True)
            self._agree(plain)
            self._load()
            self._part = Appended(self._part_path)
            opened.callback(self._part.close)
            self._opened = opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._opened.close()

    def append(self, row: Row) -> None:
        """Adds one row with an `id`; it is on the disk when this returns. Characters that UTF-8 cannot encode are replaced.

        Raises:
            WriteError: the disk is full, for example. An incomplete line is removed; earlier rows stay.
        """
        line = readable(json.dumps(row, ensure_ascii=False)).encode() + b"\n"
        self._part.append(line)
        self._keep(row, line)

    def complete(self, order: Sequence[str]) -> list[Row]:
        """Writes the rows, in the order of these ids, to the output's own name, and returns them.

        Raises:
            WriteError: it cannot be written; nothing is lost.
        """
        content = b"".join(self._lines[name] for name in order)
        with write_errors(self.path):
            if not self.path.exists() or self.path.read_bytes() != content:
                replace(self.path, content)
            self._part_path.unlink(missing_ok=True)
        return [json.loads(self._lines[name]) for name in order]

    def _agree(self, content: Mapping[str, Any]) -> None:
        """Writes OUT.run.yaml, or compares its settings; before any row is made they may change.

        It is written in place, never replaced, as it carries the lock.
        """
        if not any(file.exists() and file.stat().st_size for file in (self.path, self._part_path)):
            self._run.truncate(0)
            write_all(self._run, yaml.safe_dump(content, sort_keys=False, allow_unicode=True).encode())
            self._run.flush()
            os.fsync(self._run.fileno())
            return
        self._run.seek(0)
        before = read_description(self._run.read(), self._run_path)
        self.warnings += agree(self.path, before, content["settings"], content["versions"])

    def _load(self) -> None:
        """Reads the rows that are there, the last one of each id; an incomplete last line is cut off."""
        for file in (self.path, self._part_path):
            for number, line in enumerate(lines_of(file), start=1):
                self._keep(row_of(file, number, line), line)

    def _keep(self, row: Row, line: bytes) -> None:
        name = str(row["id"])
        self._lines[name] = line
        (self.done.discard if ERROR in row else self.done.add)(name)


def row_of(file: Path, number: int, line: bytes) -> Row:
    """One row, which has an id.

    Raises:
        InputError: a complete line that is no row; the file is left unchanged, as it may be somebody's work.
    """
    try:
        row: Row = json.loads(line)
        named = isinstance(row["id"], str)
    except (ValueError, RecursionError, TypeError, KeyError):
        named = False
    if not named:
        raise InputError(f"{file}, line {number}, is damaged. Remove the line, or begin the file again with --force.")
    return row
