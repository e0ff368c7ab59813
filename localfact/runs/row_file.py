"""One JSONL file that is made row by row and can be killed at any moment: append, resume, lock.

Rows are appended and synced to `OUT.part` as they come; OUT itself appears when all are there, in the order of the input, so
that a file under its own name is whole. `OUT.run.yaml` beside it says what decided the rows, and stays.
"""

import fcntl
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import yaml

from localfact.errors import InputError, RunFolderError
from localfact.runtime.files import replace, whole_lines, write_all, write_error, write_errors
from localfact.runs.run_folder import Settings, differences
from localfact.text import readable

#: What the two files beside the output are called: the output's name and one of these.
PART = ".part"
RUN = ".run.yaml"
#: The key of a row that could not be made; its value says why. Such rows are tried again.
ERROR = "error_message"

Row = Mapping[str, Any]


class OutputFile:
    """One output, held by one process. Rows are known by their `id`.

    Attributes:
        path: where the finished file stands.
        done: the ids of the rows that need not be made again.
        warnings: what differs from the run so far without hindering it (versions).
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
        """Begins or continues the file.

        Args:
            path: the output; its folder is made if missing.
            settings: what decides the rows. A file begun with others is refused.
            versions: of the software; a difference only warns.
            notes: for the reader of the file beside: where the data lay, the hardware.
            force: forget what was made and begin again.

        Raises:
            RunFolderError: other settings, another process, or a file that something else made.
            InputError: a row that cannot be read back. WriteError: the file cannot be written.
        """
        self.path = path
        self.warnings: list[str] = []
        self._part_path = path.with_name(path.name + PART)
        self._run_path = path.with_name(path.name + RUN)
        self._lines: dict[str, bytes] = {}
        plain = json.loads(json.dumps({"settings": settings, "versions": versions or {}, **(notes or {})}))
        with write_errors(path):
            if path.exists() and not path.is_file():
                raise InputError(f"{path} is no plain file. Name another with --out.")
            if path.exists() and not self._run_path.exists():
                raise RunFolderError(f"{path} is there already and was made by something else. Name another file with --out.")
            path.parent.mkdir(parents=True, exist_ok=True)
            self._run = self._locked()
        try:
            with write_errors(path):
                if force:
                    for old in (path, self._part_path):
                        old.unlink(missing_ok=True)
                self._agree(plain)
                self._load()
                self._part: IO[bytes] = self._part_path.open("ab", buffering=0)
        except BaseException:
            self._run.close()
            raise

    @property
    def done(self) -> frozenset[str]:
        """The ids of the rows that were made, failures not among them."""
        return frozenset(name for name, line in self._lines.items() if ERROR not in json.loads(line))

    def __enter__(self) -> Self:
        """The file itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Closes the files and lets the output go."""
        self._part.close()
        self._run.close()

    def append(self, row: Row) -> None:
        """Adds one row with an `id`, on the disk when this returns. Characters that UTF-8 cannot hold are replaced.

        Raises:
            WriteError: the disk is full, say. The half-written line is taken back, what stood before stays.
        """
        line = readable(json.dumps(row, ensure_ascii=False)).encode() + b"\n"
        size = os.fstat(self._part.fileno()).st_size
        try:
            write_all(self._part, line)
            os.fsync(self._part.fileno())
        except OSError as error:
            self._part.truncate(size)
            raise write_error(self.path, error) from error
        self._lines[str(row["id"])] = line

    def complete(self, order: Sequence[str]) -> list[dict[str, Any]]:
        """Puts the rows in the order of these ids under the output's own name, and returns them.

        Raises:
            WriteError: it cannot be written; nothing is lost.
        """
        content = b"".join(self._lines[name] for name in order)
        with write_errors(self.path):
            if not self.path.exists() or self.path.read_bytes() != content:
                replace(self.path, content)
            self._part_path.unlink(missing_ok=True)
        return [json.loads(self._lines[name]) for name in order]

    def _locked(self) -> IO[bytes]:
        """Takes the output for this process. The file beside it is written in place, never replaced: the lock hangs on it."""
        file = self._run_path.open("a+b")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise RunFolderError(f"Another process is making {self.path}. Wait for it, or name another with --out.") from None
        return file

    def _agree(self, content: Mapping[str, Any]) -> None:
        """Writes OUT.run.yaml, or holds the settings against it; before any row is made they may change."""
        if not any(file.exists() and file.stat().st_size for file in (self.path, self._part_path)):
            self._run.truncate(0)
            write_all(self._run, yaml.safe_dump(content, sort_keys=False, allow_unicode=True).encode())
            self._run.flush()
            os.fsync(self._run.fileno())
            return
        self._run.seek(0)
        try:
            before = yaml.safe_load(self._run.read())
        except (yaml.YAMLError, UnicodeDecodeError):
            before = None
        if not isinstance(before, dict) or not all(isinstance(before.get(part), dict) for part in ("settings", "versions")):
            raise InputError(f"{self._run_path} is damaged. Begin the file again with --force.")
        changes = differences(before["settings"], content["settings"])
        if changes:
            raise RunFolderError(
                f"{self.path} was begun with other settings ({'; '.join(changes)}). "
                "Name another file with --out, or begin it again with --force."
            )
        changes = differences(before["versions"], content["versions"])
        self.warnings += [f"The file was begun with another version: {change}." for change in changes]

    def _load(self) -> None:
        """Reads what was made, the newest row of an id counting; drops a line that a kill cut short."""
        for file in (self.path, self._part_path):
            lines, cut_short = whole_lines(file)
            for number, line in enumerate(lines, start=1):
                self._lines[row_id(file, number, line)] = line
            if cut_short:
                replace(file, b"".join(lines))


def row_id(file: Path, number: int, line: bytes) -> str:
    """The id of one row.

    Raises:
        InputError: a whole line that is no row of ours; it is left as it is, for it may hold work.
    """
    try:
        name = json.loads(line)["id"]
    except (ValueError, RecursionError, TypeError, KeyError):
        name = None
    if not isinstance(name, str):
        raise InputError(f"{file}, line {number}, is damaged. Remove the line, or begin the file again with --force.")
    return name
