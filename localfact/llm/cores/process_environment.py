"""The environment of the engine's processes: signals, logging, compilation, and the memory of a CPU's cache.

Used by `llm/cores/vllm.py`. Sets environment variables that vLLM and torch read, and imports neither.
"""

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import resource_tracker

#: Default size of the cache of keys and values on a CPU: a share of the free memory, and a maximum in bytes.
CACHE_SHARE, CACHE_MOST = 0.25, 4 * 2**30
#: Tokens of a block of it. A prompt finds whole blocks of an earlier one cached: vLLM's own 128 on a CPU leave half of a short
#: passage to be computed for every claim about it.
CACHE_BLOCK = 32

_LEVEL = "VLLM_LOGGING_LEVEL"
#: Only errors are logged by vLLM; users get localfact's own messages. Set before it is imported, unless the user has set them.
_QUIET = {_LEVEL: "ERROR", "VLLM_LOGGING_STREAM": "ext://sys.stderr", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
#: Silences torch's warnings while a model loads, and those of multiprocessing's resource tracker after a process was killed.
_QUIET_CHILDREN = {
    "TORCH_CPP_LOG_LEVEL": "ERROR",
    "PYTHONWARNINGS": "ignore::FutureWarning,ignore:resource_tracker:UserWarning",
}
#: A program that waits until its owner or one of the processes ends, and in the first case kills the processes and what they
#: have started: one that dies while it loads leaves a worker with the weights behind.
_WARDEN = """
import os, select, signal, sys
owner, *wards = map(int, sys.argv[1:])

def parent(process):
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except OSError:
        return None

def open_all(processes):
    for process in processes:
        try:
            yield os.pidfd_open(process)
        except ProcessLookupError:
            pass

lives = next(open_all([owner]), None)
if lives is None or lives in select.select([lives, *open_all(wards)], [], [])[0]:
    parents = {int(name): parent(name) for name in os.listdir("/proc") if name.isdigit()}
    family = set(wards)
    while more := {process for process, above in parents.items() if above in family} - family:
        family |= more
    left = list(open_all(family))
    for number in (signal.SIGTERM, signal.SIGKILL):
        for ward in left:
            try:
                signal.pidfd_send_signal(ward, number)
            except ProcessLookupError:
                pass
        for _ in range(50):
            ended = select.select(left, [], [], 0.1)[0]
            left = [ward for ward in left if ward not in ended]
            if not left:
                sys.exit()
"""
#: For eager execution on a CPU: vLLM would still compile two small kernels with a C++ compiler, which takes 20 seconds.
_COMPILE_NOTHING = {"TORCHDYNAMO_DISABLE": "1"}
#: What vLLM compiles ahead of time for a CPU it cannot read back, and compiles again at each start; torch's own cache is read.
_COMPILE_ONCE = {"VLLM_USE_AOT_COMPILE": "0"}
_BATCH_INVARIANT = {"VLLM_BATCH_INVARIANT": "1"}
#: vLLM gives up a grammar that takes 5 s to compile, lest a stranger's hangs it. Ours are plain, and the first for a vocabulary
#: takes longer on a slow CPU.
_PLAIN_GRAMMARS = {"VLLM_REGEX_COMPILATION_TIMEOUT_S": "0"}
#: vLLM keeps a core of a CPU for its scheduler, which sleeps while the others compute. Up to so many cores that costs more than
#: it gives: on two, everything else would wait for one.
FEW_CORES = 4
_ALL_CORES = {"VLLM_CPU_NUM_OF_RESERVED_CPU": "0"}


def quieten() -> None:
    """Makes vLLM log errors only, to stderr, and send no usage statistics; to be called before it is imported."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    logging.getLogger("vllm").setLevel(os.environ[_LEVEL].upper())


def silence() -> None:
    """Stops vLLM's logging once the engine runs, unless the user asked for more logs: only our own error reports its end."""
    if os.environ.get(_LEVEL) == _QUIET[_LEVEL]:
        logging.getLogger("vllm").setLevel(logging.CRITICAL)


def make_environment(*, on_cpu: bool, eager: bool, deterministic: bool = False) -> dict[str, str]:
    """Returns the variables to start the engine's processes with; those that the user has set are kept.

    Args:
        on_cpu: whether the model runs on a CPU.
        eager: whether nothing is compiled for it.
        deterministic: for vLLM's batch-invariant kernels, on GPUs.
    """
    wanted = _QUIET_CHILDREN | _PLAIN_GRAMMARS
    if on_cpu:
        wanted |= _COMPILE_NOTHING if eager else _COMPILE_ONCE
    if on_cpu and len(os.sched_getaffinity(0)) <= FEW_CORES:
        wanted |= _ALL_CORES
    kept = {name: os.environ.get(name, value) for name, value in wanted.items()}
    return kept | (_BATCH_INVARIANT if deterministic and not on_cpu else {})


@contextmanager
def environment(added: Mapping[str, str]) -> Iterator[None]:
    """Sets environment variables while the block runs, and afterwards restores what was there before (LD_PRELOAD included)."""
    before = dict(os.environ)
    os.environ.update(added)
    try:
        yield
    finally:
        for name in set(os.environ) - set(before):
            del os.environ[name]
        os.environ.update(before)


@contextmanager
def hidden_main() -> Iterator[None]:
    """Hides the running script from processes that are spawned while the block runs; the engine's have no use for it.

    They would run it again from its top, so that one without `if __name__ == "__main__":` started engines without end.
    """
    main = sys.modules["__main__"]
    before = {name: getattr(main, name) for name in ("__file__", "__spec__") if hasattr(main, name)}
    main.__spec__ = None
    if "__file__" in before:
        del main.__file__
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(main, name, value)


def spare_from_interrupts() -> None:
    """Processes that this thread starts from now on ignore Ctrl-C: this process handles it and ends them.

    A terminal sends Ctrl-C to all its processes; they would end first, which would look like a crash.
    """
    # Starting the tracker unblocks the signal, so it comes first.
    resource_tracker.ensure_running()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def warden(processes: Iterable[int]) -> "subprocess.Popen[bytes] | None":
    """Starts a process that kills the given ones if this process is killed, and ends with them; None where that is impossible.

    Without it, the processes of a killed run would hold their memory for ever.
    """
    if not hasattr(os, "pidfd_open"):
        return None
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _WARDEN, str(os.getpid()), *map(str, processes)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # so that neither Ctrl-C nor closing the terminal ends it
    )


def cache_on_cpu() -> dict[str, int]:
    """Returns the engine arguments for the cache of keys and values on a CPU: a share of the free memory, in small blocks."""
    if os.environ.get("VLLM_CPU_KVCACHE_SPACE"):
        return {"block_size": CACHE_BLOCK}
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {"block_size": CACHE_BLOCK, "kv_cache_memory_bytes": min(CACHE_MOST, int(CACHE_SHARE * free))}
