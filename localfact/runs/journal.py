"""The steps to write a file line by line that a killed process can go on with: a lock, the same settings, whole lines only.

Run folders and files of rows both use these steps: take the lock, compare the settings with those on disk, read the lines that
are there, append.
"""

import fcntl
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from localfact.errors import InputError, RunFolderError
from localfact.runtime.files import replace, whole_lines, write_all, write_error
from localfact.runtime.links import append_to
from localfact.runtime.plain_yaml import read_yaml

Settings = Mapping[str, Any]

#: The text that the holder of a lock may write into the locked file, for messages of other processes, and its length.
OWNER, OWNER_BYTES = re.compile(rb"pid \d+"), 32


def lock(file: Path, made: Path, instead: str = ", or name another with --out") -> IO[bytes]:
    """Opens a file and locks it for this process; the lock ends with the process.

    Args:
        file: carries the lock; made if missing. It must be written in place, never replaced.
        made: the folder or file that is protected, for messages.
        instead: what one can do who will not wait.

    Raises:
        RunFolderError: another process has the lock.
    """
    handle = append_to(file, read=True)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        handle.seek(0)
        owner = OWNER.match(handle.read(OWNER_BYTES))
        handle.close()
        who = f" ({owner[0].decode()})" if owner else ""
        raise RunFolderError(f"Another process{who} is at work on {made}. Wait for it{instead}.") from None
    return handle


def read_description(text: bytes, file: Path) -> dict[str, Any]:
    """The content of the YAML file beside the lines: `settings`, `versions` and notes for readers.

    Raises:
        InputError: it is damaged.
    """
    try:
        content = read_yaml(text)
    except ValueError:
        content = None
    if not isinstance(content, dict) or not all(isinstance(content.get(part), dict) for part in ("settings", "versions")):
        raise InputError(f"{file} is damaged. The command that made it begins again with --force, or elsewhere with --out.")
    return content


def agree(
    made: Path, before: Mapping[str, Any], settings: Settings, versions: Mapping[str, str], *, what: str = "file"
) -> list[str]:
    """Compares today's settings with those on disk; returns a warning for each version that differs.

    Args:
        made: the folder or file.
        before: its `read_description`. settings, versions: of today.
        what: `made` in a word.

    Raises:
        RunFolderError: the settings differ, so new lines would not fit the old ones.
    """
    changes = differences(before["settings"], settings)
    if changes:
        raise RunFolderError(
            f"{made} was begun with other settings ({'; '.join(changes)}). "
            "Name another with --out, or begin it again with --force."
        )
    return [f"The {what} was begun with another version: {change}." for change in differences(before["versions"], versions)]


def differences(before: Settings, after: Settings) -> list[str]:
    """The differences between two nested settings, each as "name: old -> new"."""
    changes: list[str] = []
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            changes += [f"{name}.{change}" for change in differences(old, new)]
        elif old != new:
            changes.append(f"{name}: {old} -> {new}")
    return changes


def lines_of(file: Path) -> list[bytes]:
    """The complete lines of a file that is only appended to; an incomplete last line, left by a kill, is cut off the file."""
    lines, cut_short = whole_lines(file)
    if cut_short:
        replace(file, b"".join(lines))
    return lines


class Appended:
    """Files, made if missing, that are appended to together: after an error all of them are cut back to their previous end."""

    def __init__(self, *files: Path) -> None:
        self._files = [append_to(file, buffering=0) for file in files]
        self._path = files[0]

    def append(self, *lines: bytes) -> None:
        """Appends one line to each file. The first file's line is on the disk when this returns.

        Raises:
            WriteError: the disk is full, for example. Incomplete lines are removed; earlier lines stay.
        """
        sizes = [os.fstat(file.fileno()).st_size for file in self._files]
        try:
            for file, line in zip(self._files, lines, strict=True):
                write_all(file, line)
            os.fsync(self._files[0].fileno())
        except OSError as error:
            for file, size in zip(self._files, sizes, strict=True):
                file.truncate(size)
            raise write_error(self._path, error) from error

    def close(self) -> None:
        """Closes the files."""
        for file in self._files:
            file.close()
