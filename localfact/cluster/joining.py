"""Joins a Ray cluster and leaves it."""

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from localfact.errors import EngineError, InputError, LocalFactError, MissingError
from localfact.runtime.cures import install_extra

#: Seconds in which the head of a cluster answers.
REACHING = 10.0
#: What of this process's environment the workers get too; nothing that is secret.
INHERITED = ("LOCALFACT_WEIGHTS", "HF_HOME", "HF_HUB_CACHE", "VLLM_CPU_KVCACHE_SPACE")

log = logging.getLogger(__name__)


def connect(address: str) -> bool:
    """Joins the cluster at `address`; "auto": the one of this machine, or a new one of this machine alone, on loopback.

    Returns whether this process was in none before.

    Raises:
        MissingError: Ray is not installed. InputError: there is no such cluster.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError:
        raise MissingError(f"Ray is not installed: {install_extra('ray')}.") from None
    if ray.is_initialized():
        return False
    # Else Ray prints to standard output what it notices of lost nodes, in the middle of what other programs read there. There
    # is no public way; its own debugger does the same.
    ray._private.worker._worker_logs_enabled = False
    if address != "auto":
        check_reachable(address)
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        ray.init(address=address, **quiet)
    except ConnectionError as error:
        if address != "auto":
            raise InputError(f"There is no Ray cluster at {address} ({' '.join(str(error).split())[:200]}).") from None
        with on_loopback():
            ray.init(address="local", include_dashboard=False, **quiet)
        log.warning("No Ray cluster runs here, so one was started for this command: on this machine alone, on loopback.")
    return True


@contextmanager
def on_loopback() -> Iterator[None]:
    """A cluster that is started inside the block listens on 127.0.0.1 only, with all its processes.

    Whoever reaches a port of Ray runs code here. `ray.init` takes an address of the node, but puts that of the network card in
    place of 127.0.0.1; what Ray itself does where it keeps to one machine (macOS, Windows) is this constant.
    """
    from ray._private import ray_constants

    usual = ray_constants.ENABLE_RAY_CLUSTER
    ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = usual


def check_reachable(address: str) -> None:
    """Asks whether anything listens there, as Ray itself would try for minutes.

    Raises:
        InputError: the address is none, or nothing listens.
    """
    host, _, port = address.rpartition(":")
    try:
        if not host or not 0 < int(port) < 65_536:
            raise ValueError(address)
        socket.create_connection((host.strip("[]"), int(port)), timeout=REACHING).close()
    except ValueError:
        raise InputError(
            f"--ray takes the address of a cluster's head, such as 10.0.0.1:6379, or auto; not {address!r}."
        ) from None
    except OSError as error:
        raise InputError(f"There is no Ray cluster at {address} ({error.strerror or error}).") from None


def leave() -> None:
    """Leaves the cluster; one that was started here ends."""
    import ray

    ray.shutdown()


def find_resources() -> tuple[int, int, int]:
    """(nodes, CPUs, GPUs) of the cluster; of nodes those that have CPUs.

    Raises:
        InputError: there is none.
    """
    import ray

    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
    if not nodes:
        raise InputError(
            "The Ray cluster has no node with CPUs. Add some (ray start --address=... --num-cpus=8), then try again."
        )
    cpus, gpus = (int(sum(node.get(kind, 0) for node in nodes)) for kind in ("CPU", "GPU"))
    return len(nodes), cpus, gpus


def worker_environment() -> dict[str, Any]:
    """Ray's `runtime_env` of a worker."""
    return {"env_vars": {name: os.environ[name] for name in INHERITED if name in os.environ}}


def translate_error(error: Exception) -> LocalFactError:
    """The error that a worker raised, as one of ours: itself where it is one, else an EngineError."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, LocalFactError):
        return cause
    return EngineError(f"A worker failed: {' '.join(str(error).split())[-500:]}")
