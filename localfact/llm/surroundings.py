"""What the engine's processes find around them: how quiet they are, what they compile, how much memory a CPU gives them.

Below `llm/vllm.py`: environment variables and bytes; vLLM reads them, nothing here names it but their names.
"""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

#: Share of the free memory, and most bytes, that keys and values get on a CPU unless the settings say otherwise.
CACHE_SHARE, CACHE_MOST = 0.25, 4 * 2**30

_LEVEL = "VLLM_LOGGING_LEVEL"
#: vLLM's messages are for its developers; a user gets our errors. Set before it is imported, unless the user has set them.
_QUIET = {_LEVEL: "ERROR", "VLLM_LOGGING_STREAM": "ext://sys.stderr", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
#: What torch would say in each process while a model loads.
_QUIET_TORCH = {"TORCH_CPP_LOG_LEVEL": "ERROR", "PYTHONWARNINGS": "ignore::FutureWarning"}
#: Eager execution on a CPU: vLLM would still compile two small kernels with a C++ compiler, 20 seconds for microseconds.
_COMPILE_NOTHING = {"TORCHDYNAMO_DISABLE": "1"}


def quieten() -> None:
    """Before the engine's library is imported: errors only, to stderr, and nobody is told about its use."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    logging.getLogger("vllm").setLevel(os.environ[_LEVEL].upper())


def silence() -> None:
    """Once the engine stands: its death is told by our error alone, unless the user has asked for more than errors."""
    if os.environ.get(_LEVEL) == _QUIET[_LEVEL]:
        logging.getLogger("vllm").setLevel(logging.CRITICAL)


def inherited(*, compile_nothing: bool) -> dict[str, str]:
    """Returns the variables that the engine's processes are started with; what the user has set stands."""
    wanted = {**_QUIET_TORCH, **(_COMPILE_NOTHING if compile_nothing else {})}
    return {name: os.environ.get(name, value) for name, value in wanted.items()}


@contextmanager
def environment(added: Mapping[str, str]) -> Iterator[None]:
    """Adds variables for processes started inside. Whatever was set meanwhile (LD_PRELOAD, say) is gone afterwards."""
    before = dict(os.environ)
    os.environ.update(added)
    try:
        yield
    finally:
        for name in set(os.environ) - set(before):
            del os.environ[name]
        os.environ.update(before)


def cache_on_cpu() -> dict[str, int]:
    """Returns the engine's argument for the memory of keys and values on a CPU: a share of what is free, never all of it."""
    if os.environ.get("VLLM_CPU_KVCACHE_SPACE"):
        return {}
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {"kv_cache_memory_bytes": min(CACHE_MOST, int(CACHE_SHARE * free))}
