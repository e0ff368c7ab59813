"""Symbolic links in folders that somebody else may have made: what is written through one lands where nobody meant it to."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from localfact.errors import InputError

#: What SQLite opens beside a file, for writing too.
COMPANIONS = ("-wal", "-shm", "-journal")
#: Of a new file, before the user's mask.
PERMISSIONS = 0o666


def refuse_links(folder: Path) -> None:
    """Makes sure that a folder holds no symbolic link, at any depth; its own path may be one, as its user named it.

    Raises:
        InputError: it holds one, which is named, or a folder in it cannot be read.
    """
    try:
        found = next(links_in(folder), None)
    except OSError as error:
        raise InputError(f"{error.filename or folder} cannot be looked into: {error.strerror}. Mend its rights.") from error
    if found is not None:
        raise InputError(
            f"{found} is a symbolic link to {found.readlink()}. What localfact writes would go there, so a folder with a link "
            "in it is refused: remove the link, or put the files themselves in its place."
        )


def links_in(folder: Path) -> Iterator[Path]:
    """The symbolic links in a folder, at any depth; no link is followed."""
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda one: one.name):
            if entry.is_symlink():
                yield Path(entry.path)
            elif entry.is_dir(follow_symlinks=False):
                yield from links_in(Path(entry.path))


def refuse_linked_companions(file: Path) -> None:
    """Makes sure that nothing that SQLite opens beside a file is a symbolic link.

    Raises:
        InputError: something is, which is named.
    """
    for ending in COMPANIONS:
        companion = file.with_name(file.name + ending)
        if companion.is_symlink():
            raise InputError(f"{companion} is a symbolic link, through which SQLite would write. Remove it.")


def new_file(file: Path) -> IO[bytes]:
    """Opens a new file for writing; what stood there, a link too, is removed first."""
    file.unlink(missing_ok=True)
    return os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, PERMISSIONS), "wb")


def append_to(file: Path, *, read: bool = False, buffering: int = -1) -> IO[bytes]:
    """Opens a file, made if missing, to append to it, and to read it if asked for.

    Raises:
        OSError: it is a symbolic link (ELOOP), for example.
    """
    how = (os.O_RDWR if read else os.O_WRONLY) | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.fdopen(os.open(file, how, PERMISSIONS), "a+b" if read else "ab", buffering)
