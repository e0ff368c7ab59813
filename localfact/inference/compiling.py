"""How inner loops are compiled: by numba, with its cache where one can be written; without numba they run as plain Python.

The numbers are the same either way, some hundred times later in plain Python.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

try:
    from numba import njit
except ImportError:
    njit = None

_Function = TypeVar("_Function", bound=Callable[..., Any])


def compiled(function: _Function) -> _Function:
    """Compiled at its first call, for the types that it is called with; the interpreter's lock is free meanwhile."""
    if njit is None:
        return function
    try:
        return cast(_Function, njit(cache=True, nogil=True)(function))
    except RuntimeError:  # no folder to cache in can be written: compiled anew in each process then
        return cast(_Function, njit(nogil=True)(function))


def inlined(function: _Function) -> _Function:
    """Compiled into each function that calls it: a call, with its arrays, would cost more than what is done in it."""
    return function if njit is None else cast(_Function, njit(inline="always")(function))
