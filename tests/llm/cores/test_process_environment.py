"""What vLLM's processes are started with, and who ends them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from localfact.llm.cores.process_environment import FEW_CORES, cache_on_cpu, make_environment, warden

RESERVED = "VLLM_CPU_NUM_OF_RESERVED_CPU"


def test_nobody_watches_where_a_process_cannot_be_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    assert warden([os.getpid()]) is None


#: Without a guard, and with a child process that is spawned: it would run all of this again.
UNGUARDED = """
import multiprocessing, os
from localfact.llm.cores.process_environment import hidden_main
print("script", flush=True)
with hidden_main():
    child = multiprocessing.get_context("spawn").Process(target=os.getpid)
    child.start()
child.join()
print(child.exitcode, __file__ != "", __spec__)
"""


def test_a_script_without_a_guard_is_not_run_again_by_the_engines_processes(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(UNGUARDED)
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout.split(), done.stderr) == (["script", "0", "True", "None"], "")


#: Starts a process that has started another, has both watched, tells their numbers, and waits.
OWNER = """
import subprocess, sys, time
from localfact.llm.cores.process_environment import warden
inner = "import subprocess, sys, time; print(subprocess.Popen(['sleep', '600']).pid, flush=True); time.sleep(600)"
core = subprocess.Popen([sys.executable, "-c", inner], stdout=subprocess.PIPE, text=True)
worker = core.stdout.readline().strip()
warden([core.pid])
print(core.pid, worker, flush=True)
time.sleep(600)
"""


def test_a_killed_owner_leaves_neither_its_processes_nor_theirs() -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    left = [Path("/proc") / number for number in owner.stdout.readline().split()]
    assert len(left) == 2
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    until = time.monotonic() + 30
    while any(process.exists() for process in left) and time.monotonic() < until:
        time.sleep(0.02)
    assert not [process for process in left if process.exists()]


def test_few_cores_all_compute_and_of_many_vllm_keeps_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(RESERVED, raising=False)
    for cores, reserved in ((1, "0"), (FEW_CORES, "0"), (FEW_CORES + 1, None)):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, cores=cores: set(range(cores)))
        assert make_environment(on_cpu=True, eager=False).get(RESERVED) == reserved
        assert RESERVED not in make_environment(on_cpu=False, eager=False)
    monkeypatch.setenv(RESERVED, "2")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    assert make_environment(on_cpu=True, eager=True)[RESERVED] == "2", "the user's own setting stays"


def test_batch_invariance_is_for_gpus_and_nothing_is_compiled_for_eager_execution_on_a_cpu() -> None:
    assert "VLLM_BATCH_INVARIANT" not in make_environment(on_cpu=True, eager=True, deterministic=True)
    assert make_environment(on_cpu=False, eager=True, deterministic=True)["VLLM_BATCH_INVARIANT"] == "1"
    assert "TORCHDYNAMO_DISABLE" in make_environment(on_cpu=True, eager=True)
    compiled = make_environment(on_cpu=True, eager=False)
    assert "TORCHDYNAMO_DISABLE" not in compiled
    assert compiled["VLLM_USE_AOT_COMPILE"] == "0", "else a model is compiled at every start"


def test_a_grammar_is_compiled_however_long_a_slow_machine_takes() -> None:
    assert make_environment(on_cpu=True, eager=False)["VLLM_REGEX_COMPILATION_TIMEOUT_S"] == "0", "none, for vLLM"


def test_a_cpus_cache_has_small_blocks_whoever_set_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VLLM_CPU_KVCACHE_SPACE", raising=False)
    assert set(cache_on_cpu()) == {"block_size", "kv_cache_memory_bytes"}
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
    assert set(cache_on_cpu()) == {"block_size"}
