"""An evaluation whose responses are assessed by the workers of a Ray cluster."""

from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localfact.api.evaluate import Job, Opened, usual_concurrency
from localfact.cluster.joining import connect, find_resources, leave
from localfact.cluster.worker import OpenAssessor
from localfact.cluster.workers import Resources, Workers
from localfact.errors import InputError
from localfact.llm.cores.sharing import Start
from localfact.llm.layers.sealing import machine_secret
from localfact.methods.fitted_map import require_map
from localfact.methods.options import Options
from localfact.methods.wiring import Configuration
from localfact.models.cards import everywhere
from localfact.runs.progress import Progress
from localfact.runtime.interrupts import interruptible

#: Options that name a file to which only one process may write, or that have the web asked.
NOT_SHARED = {
    "transcript": "several machines cannot record into one file",
    "relations_cache": "several machines cannot keep relations in one file",
    "providers": "many machines would ask the web at once: fetch first (localfact corpus fetch), then evaluate with --ray",
}


@dataclass(frozen=True)
class Cluster:
    """Which cluster, and how it is used.

    Attributes:
        address: of its head, host:port, or "auto".
        replicas: workers; None for as many as there is room for.
        offline: whether workers are cut off from the network.
    """

    address: str = "auto"
    replicas: int | None = None
    offline: bool = False

    def open(self, chosen: Configuration, opened: AsyncExitStack, progress: Progress, start: Start) -> Opened:
        """Starts the workers, and returns when the first is ready: in place of `api.evaluate.wire_interruptibly`.

        Raises:
            MissingError: Ray is not installed. InputError: no such cluster, or an option that machines cannot share.
        """
        with interruptible():
            if connect(self.address):
                opened.callback(leave)
            replicas, resources = shares(chosen, self.replicas, *find_resources())
            workers = Workers(
                opener_of(chosen, offline=self.offline),
                replicas=replicas,
                slots=per_worker(chosen),
                resources=resources,
            )
        opened.push_async_callback(workers.aclose)
        return Opened(workers, workers.notes, at_once=replicas * workers.slots)


def check_shared(job: Job) -> None:
    """Raises InputError where an option cannot be used by several machines at once."""
    for name, why in NOT_SHARED.items():
        if getattr(job.chosen.options, name):
            raise InputError(f"--{name.replace('_', '-').removesuffix('s')} and --ray exclude each other: {why}.")
    require_map(job.chosen.settings, "Clusters")


def per_worker(chosen: Configuration) -> int:
    """How many responses one worker has at work at once."""
    replicas = 1 if chosen.facts is None else chosen.facts.replicas
    return usual_concurrency(chosen) // replicas


def shares(chosen: Configuration, asked: int | None, nodes: int, cpus: int, gpus: int) -> tuple[int, Resources]:
    """The number of workers, and the resources of the cluster that each takes.

    On GPUs a worker takes those of one replica of the model; on CPUs there is one worker a node, whose threads use it whole.

    Raises:
        InputError: the model runs on GPUs here, and the cluster has too few.
    """
    machine: dict[str, Any] = dict(chosen.facts.machine) if chosen.facts is not None else {}
    if machine.get("device") == "cuda":
        arguments = chosen.facts.settings.arguments if chosen.facts is not None and chosen.facts.settings is not None else {}
        each = int(machine["tensor_parallel"]) * int(arguments.get("pipeline_parallel_size") or 1)
        if gpus < each:
            raise InputError(f"A replica of the model takes {each} GPUs, and the cluster has {gpus}.")
        replicas = asked or gpus // each
        return replicas, Resources(cpus=max(1, min(cpus // replicas, each)), gpus=each)
    replicas = asked or max(1, nodes)
    return replicas, Resources(cpus=max(1, cpus // replicas))


def opener_of(chosen: Configuration, *, offline: bool) -> OpenAssessor:
    """What a worker opens for this configuration."""
    plain = chosen.settings.plain()
    return OpenAssessor(
        method=chosen.method.name,
        options=absolute(chosen.options),
        settings={name: value for name, value in plain.items() if name != "data"},
        secret=machine_secret(),
        offline=offline,
    )


def absolute(options: Options) -> Options:
    """The options with paths that hold in any folder."""
    paths = {name: value.absolute() for name, value in options if isinstance(value, Path)}
    folders = {
        name: everywhere(value)
        for name, value in options
        if name in ("model", "embedder", "reranker", "relations", "second_opinion") and value
    }
    return options.model_copy(update={**paths, **folders})
