"""Locks on the folder of a corpus: many processes may read it, or one may add to it. A lock ends with its process."""

import fcntl
import os
from pathlib import Path

from localfact.errors import InputError


def hold_to_write(folder: Path) -> int:
    """Takes the folder for this process alone, until the descriptor that is returned is closed.

    Raises:
        InputError: another process reads the corpus, or adds to it. OSError: the folder cannot be opened or locked.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if not locked(descriptor, fcntl.LOCK_EX):
            raise being_read(folder) if locked(descriptor, fcntl.LOCK_SH) else being_added_to(folder)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def hold_to_read(folder: Path) -> int | None:
    """Keeps others from adding to the corpus until the descriptor that is returned is closed.

    None where the file system has no locks, as some that are read-only or in a network: then nobody can be kept from it.

    Raises:
        InputError: another process adds to the corpus.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        if locked(descriptor, fcntl.LOCK_SH):
            return descriptor
    except OSError:
        os.close(descriptor)
        return None
    os.close(descriptor)
    raise being_added_to(folder)


def locked(descriptor: int, how: int) -> bool:
    """Whether the lock could be had at once."""
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def being_added_to(folder: Path) -> InputError:
    """The sentence for a corpus that a process writes."""
    return InputError(f"The corpus {folder} is being added to by another process. Wait for it, or name another folder.")


def being_read(folder: Path) -> InputError:
    """The sentence for a corpus that a process reads."""
    return InputError(f"The corpus {folder} is being read by another process. Wait until that ends, or add to a copy.")
