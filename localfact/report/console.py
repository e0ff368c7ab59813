"""Where the command line prints: results to standard output, as JSON or drawn, everything else to standard error."""

import json
from collections.abc import Callable
from typing import Any

from rich.console import Console, RenderableType

from localfact.text import readable

#: The exit code besides those of errors.py: done, but some responses, rows or graphs failed.
SOME_FAILED = 1


def output() -> Console:
    """Standard output. A new Console each time, so that a redirected stream is used."""
    return Console(highlight=False)


def errors() -> Console:
    """Standard error."""
    return Console(stderr=True, highlight=False)


def show(value: Any, *, as_json: bool, view: Callable[[Any], RenderableType] | None = None) -> None:
    """Prints plain values: as JSON, a mapping on one line, or drawn by `view`."""
    if as_json or view is None:
        print(readable(json.dumps(value, ensure_ascii=False)))
    else:
        output().print(view(value), soft_wrap=False)


def note(text: str) -> None:
    """Prints a message to standard error."""
    errors().print(text, style="dim", markup=False)
