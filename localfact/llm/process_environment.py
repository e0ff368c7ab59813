"""What the engine's processes find around them: signals, how quiet they are, what they compile, how much memory a CPU gives.

Below `llm/vllm.py`: environment variables and bytes; vLLM reads them, nothing here names it but their names.
"""

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import resource_tracker

#: Share of the free memory, and most bytes, that keys and values get on a CPU unless the settings say otherwise.
CACHE_SHARE, CACHE_MOST = 0.25, 4 * 2**30

_LEVEL = "VLLM_LOGGING_LEVEL"
#: vLLM's messages are for its developers; a user gets our errors. Set before it is imported, unless the user has set them.
_QUIET = {_LEVEL: "ERROR", "VLLM_LOGGING_STREAM": "ext://sys.stderr", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
#: What torch would say in each process while a model loads, and multiprocessing's tracker when one was killed: it cleans up.
_QUIET_CHILDREN = {
    "TORCH_CPP_LOG_LEVEL": "ERROR",
    "PYTHONWARNINGS": "ignore::FutureWarning,ignore:resource_tracker:UserWarning",
}
#: Waits until its owner or one of the processes has ended; was it the owner, it ends the processes. No library is read.
_WARDEN = """
import os, select, signal, sys
owner, *wards = map(os.pidfd_open, map(int, sys.argv[1:]))
if owner in select.select([owner, *wards], [], [])[0]:
    for number in (signal.SIGTERM, signal.SIGKILL):
        for ward in list(wards):
            try:
                signal.pidfd_send_signal(ward, number)
            except ProcessLookupError:
                wards.remove(ward)
        select.select(wards[:1], [], [], 5)
"""
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
    wanted = {**_QUIET_CHILDREN, **(_COMPILE_NOTHING if compile_nothing else {})}
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


def spare_from_interrupts() -> None:
    """Processes started by this thread from now on never see Ctrl-C: whoever started them hears it and ends them.

    A terminal sends it to all its processes; they would die first, and their death would be taken for an accident.
    """
    # Starting the tracker unblocks the signal, so it comes first.
    resource_tracker.ensure_running()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def warden(processes: Iterable[int]) -> "subprocess.Popen[bytes] | None":
    """Starts a process that ends the given ones should this one be killed, and ends with them; None where that cannot be done.

    An engine whose owner was killed would keep its memory for ever, and the next one would find none.
    """
    if not hasattr(os, "pidfd_open"):
        return None
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _WARDEN, str(os.getpid()), *map(str, processes)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # neither Ctrl-C nor the end of the terminal is meant for it
    )


def cache_on_cpu() -> dict[str, int]:
    """Returns the engine's argument for the memory of keys and values on a CPU: a share of what is free, never all of it."""
    if os.environ.get("VLLM_CPU_KVCACHE_SPACE"):
        return {}
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {"kv_cache_memory_bytes": min(CACHE_MOST, int(CACHE_SHARE * free))}
