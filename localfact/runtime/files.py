"""Reads and writes files that a kill or a full disk may interrupt, so that they are complete or unchanged; hashes files."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from localfact.errors import InputError, WriteError
from localfact.runtime.links import new_file

#: Suffix of a file while it is written; `replace` then renames it.
NEW = ".new"


def file_digest(file: Path) -> str:
    """SHA-256 of the file's bytes, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def whole_lines(file: Path) -> tuple[list[bytes], bool]:
    """The complete lines of a file that is only appended to, and whether a kill left an incomplete last line (skipped)."""
    lines = file.read_bytes().splitlines(keepends=True) if file.exists() else []
    cut_short = bool(lines) and not lines[-1].endswith(b"\n")
    return (lines[:-1] if cut_short else lines), cut_short


def sync(path: Path) -> None:
    """Waits until a file's data, or a folder's entries, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_all(file: IO[bytes], content: bytes) -> None:
    """Writes all of `content`: one write to an unbuffered file may take only part of it."""
    remaining = memoryview(content)
    while remaining:
        remaining = remaining[file.write(remaining) :]


def replace(file: Path, content: bytes) -> None:
    """Replaces the file's content atomically: a reader, or a kill, sees the old content or the new."""
    replace_by(file, [content])


def replace_by(file: Path, parts: Iterable[bytes]) -> None:
    """`replace` with content that comes in parts; they may be read from the old file meanwhile.

    Raises:
        InputError: a device, a pipe or a socket has that name, which a file would take the place of.
    """
    if file.exists() and not (file.is_file() or file.is_dir()):
        raise InputError(f"{file} is no plain file: name another.")
    beside = file.with_name(file.name + NEW)
    try:
        with new_file(beside) as handle:
            for part in parts:
                handle.write(part)
            handle.flush()
            os.fsync(handle.fileno())
        beside.replace(file)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def write_file(file: Path, parts: Iterable[bytes]) -> None:
    """Writes a file that a user named, all of it or nothing; its folder is made if missing.

    Raises:
        WriteError: it cannot be written. InputError: as `replace_by`.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_by(file, parts)
    except OSError as error:
        raise WriteError(f"{file} cannot be written: {error.strerror or error}.") from error


@contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """Turns an OSError inside the block into a WriteError."""
    try:
        yield
    except OSError as error:
        raise write_error(path, error) from error


def write_error(path: Path, error: OSError) -> WriteError:
    """The error for a failed write."""
    return WriteError(
        f"{path} cannot be written: {error.strerror or error}. "
        "What was done before is kept; the same command goes on from there."
    )
