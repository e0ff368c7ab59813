"""How long a run takes on many GPUs, what it costs and where it bends, reckoned from what one response was measured to cost.

    python -m scripts.reckon_scale --run RUN [--gpus 1 8 64 1024] [--responses 100000] [--read 30000 --write 3000] ...

RUN is the folder of a run made with `--concurrency 1`, so that a stage's seconds are its own; its tokens are read on a GPU at
the rates that `make check-gpu` prints there. Workers start together and share what the store of weights can send. Then the run
takes as long as the part of the cluster that has most to do: the workers' GPUs, the cores of their nodes, the places that
workers have for responses, or the driver, which hands out and writes down one response at a time.
"""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from localfact.runs.assessments import assessments_in_order
from localfact.runs.run_folder import read_timings
from scripts.bench.measure import table_of

GPUS = (1, 8, 64, 1024)
#: The fields of a cluster that can be given, and what they are.
GIVEN = {
    "cores": "cores of a node of 8 GPUs",
    "slots": "responses at once in a worker",
    "driver": "seconds of the driver a response",
    "start": "seconds until a worker is ready, weights left out",
    "weights": "gigabytes of the weights",
    "store": "gigabytes a second of the store of weights",
    "between_losses": "hours in the mean between two losses of one node",
}


@dataclass(frozen=True)
class ResponseWork:
    """What one response takes, in seconds.

    Attributes:
        cores: of a core of its node. gpu: of its worker's GPUs, alone. wait: until what is written is written, while others are
            served.
    """

    cores: float = 0.0
    gpu: float = 0.0
    wait: float = 0.0


@dataclass(frozen=True)
class Rates:
    """What a worker's GPUs do in a second when they are full: tokens read that no cache had, and tokens written.

    `step`: seconds that each token of one answer takes beside all others.
    """

    read: float
    write: float
    step: float


@dataclass(frozen=True)
class Cluster:
    """A cluster.

    Attributes:
        workers: replicas of the model. per_node: of them on a node. slots: responses at once in each. cores: of a node.
        driver: seconds that one response takes of the driver, to hand it out and to write it down.
        start: seconds from nothing to a ready worker, weights left out. weights, store: gigabytes of the weights, which a node
            reads once, and gigabytes a second that all nodes together are sent.
        between_losses: hours in the mean from one loss of a node to the next of the same.
    """

    workers: int
    per_node: int = 8
    slots: int = 32
    cores: int = 64
    driver: float = 0.002
    start: float = 90.0
    weights: float = 16.0
    store: float = 10.0
    between_losses: float = 1_000.0

    @property
    def nodes(self) -> int:
        """How many nodes it has."""
        return -(-self.workers // self.per_node)

    @property
    def ready(self) -> float:
        """Seconds until a worker is ready, where all start together."""
        return self.start + self.nodes * self.weights / self.store


def busy(work: ResponseWork, cluster: Cluster) -> Mapping[str, float]:
    """Seconds that each part of a cluster is kept busy by a response, were it all there is: the most of them is what limits."""
    return {
        "the driver": cluster.driver,
        "the GPUs": work.gpu / cluster.workers,
        "the cores": work.cores / (cluster.nodes * cluster.cores),
        "places at the workers": (work.gpu + work.cores + work.wait + cluster.driver) / (cluster.workers * cluster.slots),
    }


def seconds_of(work: ResponseWork, responses: int, cluster: Cluster) -> float:
    """Seconds of a run, from its start to what the last response takes by itself."""
    return cluster.ready + responses * max(busy(work, cluster).values()) + work.gpu + work.cores + work.wait


def work_of(run: Path, rates: Rates) -> ResponseWork:
    """What a run's responses took in the mean: its tokens at these rates, and the seconds of what no model answered.

    Raises:
        ValueError: it has no timings.
    """
    timings, works, responses = read_timings(run), [], 0
    for assessment in assessments_in_order(run):
        timing = timings.get(assessment.index, {})
        seconds, cached = dict(timing.get("seconds", {})), dict(timing.get("usage", {}))
        stages = dict.fromkeys((*seconds, *assessment.usage))
        responses += bool(stages)
        for stage in stages:
            used = assessment.usage.get(stage)
            if not used or not used.get("calls"):
                works.append(ResponseWork(cores=seconds.get(stage, 0.0)))
                continue
            read = used["prompt_tokens"] - cached.get(stage, {}).get("cached_tokens", 0)
            written = used["output_tokens"]
            works.append(ResponseWork(gpu=read / rates.read + written / rates.write, wait=written / used["calls"] * rates.step))
    if not works:
        raise ValueError(f"{run} has no timings of responses")
    return ResponseWork(*(sum(getattr(work, what) for work in works) / responses for what in ("cores", "gpu", "wait")))


def by_gpus(work: ResponseWork, cluster: Cluster, options: argparse.Namespace) -> Table:
    """A row for each number of GPUs."""
    columns = ("GPUs", "workers", "hours", "of them starting", "responses a second", "GPUs busy", "driver busy")
    table = table_of(*columns, "nodes lost", "GPU hours", f"at {options.price:.2f} an hour", names=0)
    table.add_column("limited by")
    for gpus in options.gpus:
        workers = gpus // options.gpus_of_worker
        own = replace(cluster, workers=workers, per_node=max(1, cluster.per_node // options.gpus_of_worker))
        seconds, parts = seconds_of(work, options.responses, own), busy(work, own)
        rate = options.responses / (seconds - own.ready)
        hours = seconds / 3600
        table.add_row(
            f"{gpus:,}",
            f"{workers:,}",
            f"{hours:,.2f}",
            f"{own.ready / 3600:,.2f}",
            f"{rate:,.1f}",
            f"{rate * parts['the GPUs']:.0%}",
            f"{rate * parts['the driver']:.0%}",
            f"{own.nodes * hours / own.between_losses:,.1f}",
            f"{hours * gpus:,.0f}",
            f"{hours * gpus * options.price:,.0f}",
            "starting" if own.ready > seconds / 2 else max(parts, key=lambda part: parts[part]),
        )
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--run", type=Path, required=True, help="the folder of a run whose costs are taken")
    parser.add_argument("--responses", type=int, default=100_000)
    parser.add_argument("--gpus", type=int, nargs="+", default=GPUS)
    parser.add_argument("--gpus-of-worker", type=int, default=1, help="GPUs of one replica of the model")
    parser.add_argument("--read", type=float, default=30_000, help="tokens a second that a worker reads")
    parser.add_argument("--write", type=float, default=6_000, help="tokens a second that a worker writes")
    parser.add_argument("--step", type=float, default=0.03, help="seconds a token of one answer takes beside all others")
    for name, about in GIVEN.items():
        default = getattr(Cluster, name)
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default, help=about)
    parser.add_argument("--price", type=float, default=2.5, help="of a GPU hour")
    options = parser.parse_args()
    console = Console(width=max(Console().width, 150))
    if min(options.gpus) < options.gpus_of_worker:
        parser.error(f"a worker takes {options.gpus_of_worker} GPUs: name no fewer in --gpus")
    work = work_of(options.run, Rates(options.read, options.write, options.step))
    console.print(
        f"a response in the mean: {work.gpu:.2f} s of GPU, {work.cores:.2f} s of cores, "
        f"{work.wait:.2f} s of waiting for what is written",
        highlight=False,
    )
    console.print(by_gpus(work, Cluster(workers=1, **{name: getattr(options, name) for name in GIVEN}), options))


if __name__ == "__main__":
    main()
