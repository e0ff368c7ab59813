"""--debug: shows the traceback of an error, and what vLLM logs. Without it users get one sentence."""

import os
import traceback
from collections.abc import Sequence

FLAG = "--debug"
#: Set while debugging, so that processes that are started know.
VARIABLE = "LOCALFACT_DEBUG"
#: vLLM's own variable for how much it logs.
ENGINE_LEVEL = "VLLM_LOGGING_LEVEL"


def debug_first(words: Sequence[str]) -> list[str]:
    """The words of a command line with --debug in front, wherever it stood before a "--"."""
    end = words.index("--") if "--" in words else len(words)
    if FLAG not in words[:end]:
        return list(words)
    return [FLAG, *(word for word in words[:end] if word != FLAG), *words[end:]]


def begin_debugging() -> None:
    """Shows from now on where errors came from, and lets vLLM log; what the user has set stays."""
    os.environ[VARIABLE] = "1"
    os.environ.setdefault(ENGINE_LEVEL, "INFO")


def debugging() -> bool:
    """Whether errors are shown with where they came from."""
    return bool(os.environ.get(VARIABLE))


def whole_traceback(error: BaseException) -> str:
    """The traceback of an error, and of every error that led to it, also of those that are left out for users."""
    seen: BaseException | None = error
    while seen is not None:
        seen.__suppress_context__ = False
        seen = seen.__cause__ or seen.__context__
    return "".join(traceback.format_exception(error))
