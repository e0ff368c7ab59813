"""Checks of what a user hands to a function, before anything is loaded: what is wrong, and what the function takes."""

from pathlib import Path
from typing import Any

from localfact.errors import InputError
from localfact.methods.options import Options
from localfact.runs.progress import Progress


def read_options(given: Any) -> Options:
    """The options; the defaults for None.

    Raises:
        InputError: it is something else.
    """
    if given is not None and not isinstance(given, Options):
        raise InputError(f"options takes localfact.Options, for example options=localfact.Options(k=3), not {kind_of(given)}.")
    return given or Options()


def require_count(name: str, given: Any) -> None:
    """Raises InputError where this is neither None nor a whole number of at least 1."""
    if given is not None and (isinstance(given, bool) or not isinstance(given, int) or given < 1):
        raise InputError(f"{name} takes a whole number of at least 1, not {given!r:.100}.")


def require_text(name: str, given: Any) -> None:
    """Raises InputError where this is neither None nor a text."""
    if given is not None and not isinstance(given, str):
        raise InputError(f"{name} takes a text, not {kind_of(given)}.")


def require_progress(given: Any) -> None:
    """Raises InputError where this gets no reports."""
    if not all(hasattr(given, name) for name in ("begin", "count", "row_done")):
        raise InputError(
            f"progress takes an object with begin, count and row_done, not {kind_of(given)}: leave it out for silence "
            f"({Progress.__module__} has them)."
        )


def is_there(path: str) -> bool:
    """Whether there is such a file or folder."""
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # no name that a file could have
        return False


def kind_of(given: Any) -> str:
    """What something is, for a message: "None", "a list", "an int"."""
    name = type(given).__name__
    return "None" if given is None else f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
