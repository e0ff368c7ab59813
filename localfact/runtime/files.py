"""Reading and writing files that a kill or a full disk may interrupt: whole or not at all, and known by their content."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from localfact.errors import WriteError

#: What a file is called while it is written; `replace` puts it in its place.
NEW = ".new"


def file_digest(file: Path) -> str:
    """SHA-256 of the file's bytes, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def whole_lines(file: Path) -> tuple[list[bytes], bool]:
    """The lines of a file that was only ever appended to, and whether a kill cut a last one short, which is left out."""
    lines = file.read_bytes().splitlines(keepends=True) if file.exists() else []
    cut_short = bool(lines) and not lines[-1].endswith(b"\n")
    return (lines[:-1] if cut_short else lines), cut_short


def write_all(file: IO[bytes], content: bytes) -> None:
    """Writes all of it: an unbuffered file may take less than it is given."""
    remaining = memoryview(content)
    while remaining:
        remaining = remaining[file.write(remaining) :]


def replace(file: Path, content: bytes) -> None:
    """Puts `content` in the file's place at one stroke: a reader, or a kill, sees the old one or the new one."""
    beside = file.with_name(file.name + NEW)
    with beside.open("wb") as handle:
        handle.write(content)
        handle.flush()
        os.fsync(handle.fileno())
    beside.replace(file)


@contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """Turns what the operating system says about writing into a sentence."""
    try:
        yield
    except OSError as error:
        raise write_error(path, error) from error


def write_error(path: Path, error: OSError) -> WriteError:
    """The sentence for a failed write."""
    return WriteError(
        f"{path} cannot be written: {error.strerror or error}. "
        "What was done before is kept; the same command goes on from there."
    )
