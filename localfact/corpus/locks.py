"""Locks on a corpus folder: many processes may read it, or one may add to it. A lock ends with its process."""

import fcntl
import os
from pathlib import Path

from localfact.errors import InputError


def lock_for_writing(folder: Path) -> int:
    """Locks the folder for this process alone, until the returned descriptor is closed.

    Raises:
        InputError: another process reads the corpus, or adds to it. OSError: the folder cannot be opened or locked.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if not try_lock(descriptor, fcntl.LOCK_EX):
            if not try_lock(descriptor, fcntl.LOCK_SH):
                raise being_added_to(folder)
            raise InputError(f"The corpus {folder} is being read by another process. Wait until that ends, or add to a copy.")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def lock_for_reading(folder: Path) -> int | None:
    """Keeps other processes from adding to the corpus until the returned descriptor is closed.

    None where the file system has no locks (some read-only or network ones): then nothing is locked.

    Raises:
        InputError: another process adds to the corpus.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        if try_lock(descriptor, fcntl.LOCK_SH):
            return descriptor
    except OSError:
        os.close(descriptor)
        return None
    os.close(descriptor)
    raise being_added_to(folder)


def try_lock(descriptor: int, how: int) -> bool:
    """Tries to take the lock at once; returns whether that succeeded."""
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def being_added_to(folder: Path) -> InputError:
    """The error for a corpus that a process writes."""
    return InputError(f"The corpus {folder} is being added to by another process. Wait for it, or name another folder.")
