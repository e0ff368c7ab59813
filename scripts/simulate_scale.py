"""A run on many GPUs, simulated from what one response was measured to cost: how long it takes, what it costs, where it bends.

    python -m scripts.simulate_scale --run RUN [--gpus 1 8 64 1024] [--responses 100000] [--read 30000 --write 3000] ...
    python -m scripts.simulate_scale --check

RUN is the folder of a run made with `--concurrency 1`, so that a stage's seconds are its own; its tokens are read on a GPU at
the rates that `make check-gpu` prints there. A response waits for a free place at a worker, is handed out by the driver, goes
through its stages (the cores of its node, then its worker's GPUs, which serve one piece of work after another, then the wait
for tokens that are written one by one), and is written down by the driver, which does one thing at a time. Workers start
together and share what the store of weights can send; nodes are lost by lot, and what they had at work is done again.

--check runs workers of a real Ray cluster on this machine, 1 and 2 of them, beside the simulation of the same.
"""

import argparse
import random
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import simpy
from rich.console import Console
from rich.table import Table

from localfact.runs.assessments import assessments_in_order
from localfact.runs.run_folder import read_timings
from scripts.bench.measure import table_of

GPUS = (1, 8, 64, 1024)
NEVER = float("inf")
#: The fields of a cluster that can be given, and what they are.
MACHINES = {
    "cores": "cores of a node of 8 GPUs",
    "slots": "responses at once in a worker",
    "driver": "seconds of the driver a response",
    "start": "seconds until a worker is ready, weights left out",
    "weights": "gigabytes of the weights",
    "store": "gigabytes a second of the store of weights",
    "between_losses": "hours in the mean between two losses of one node",
}
#: From what share of the time on something is what limits a run.
LIMITING = 0.85
#: Responses of the check.
CHECKED = 400


@dataclass(frozen=True)
class Work:
    """What one stage of one response takes.

    Attributes:
        cores: seconds of a core of its node. gpu: seconds of its worker's GPUs, alone. wait: seconds until what is written is
            written, while others are served.
    """

    cores: float = 0.0
    gpu: float = 0.0
    wait: float = 0.0


#: The stages of a response, in their order.
Job = Sequence[Work]


@dataclass(frozen=True)
class Rates:
    """What a worker's GPUs do in a second when they are full: tokens read that no cache had, and tokens written.

    `step`: seconds that each token of one answer takes beside all others.
    """

    read: float
    write: float
    step: float


@dataclass(frozen=True)
class Machines:
    """A cluster.

    Attributes:
        workers: replicas of the model. per_node: of them on a node. slots: responses at once in each. cores: of a node.
        driver: seconds that one response takes of the driver: half to hand it out, half to write it down.
        start: seconds from nothing to a ready worker, weights left out. weights, store: gigabytes of the weights, which a node
            reads once, and gigabytes a second that all nodes together are sent.
        between_losses: hours in the mean from one loss of a node to the next of the same; inf for never.
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


@dataclass
class Outcome:
    """Seconds of the whole, and of these until workers were ready; shares of the rest in which each thing was busy.

    `slots`: the places for responses. `lost`: nodes. `again`: responses that were done again for that.
    """

    seconds: float
    ready: float
    gpu: float
    cores: float
    slots: float
    driver: float
    lost: int
    again: int


class Simulation:
    """One run of these jobs on these machines."""

    def __init__(self, jobs: Sequence[Job], machines: Machines, seed: int = 0) -> None:
        self._machines = machines
        self._chance = random.Random(seed)
        self._left = deque(jobs)
        self._open = len(jobs)
        self._time = simpy.Environment()
        self._driver = simpy.Resource(self._time)
        self._done, self._more = self._time.event(), self._time.event()
        self._busy_gpu = self._busy_driver = self._busy_cores = self._busy_slots = 0.0
        self._lost = self._again = 0

    def run(self) -> Outcome:
        """Runs it to its end."""
        machines = self._machines
        nodes = [simpy.Resource(self._time, machines.cores) for _ in range(machines.nodes)]
        gpus = [simpy.Resource(self._time) for _ in range(machines.workers)]
        slots: list[list[simpy.Process]] = [[] for _ in nodes]
        # Place by place, as responses go to the worker with the most free ones.
        for _ in range(machines.slots):
            for worker, gpu in enumerate(gpus):
                node = worker // machines.per_node
                slots[node].append(self._time.process(self._slot(nodes[node], gpu)))
        if machines.between_losses < NEVER:
            for own in slots:
                self._time.process(self._losses(own))
        self._time.run(self._done)
        worked = max(self._time.now - machines.ready, 1e-9)
        return Outcome(
            seconds=self._time.now,
            ready=machines.ready,
            gpu=self._busy_gpu / (worked * machines.workers),
            cores=self._busy_cores / (worked * machines.nodes * machines.cores),
            slots=self._busy_slots / (worked * machines.workers * machines.slots),
            driver=self._busy_driver / worked,
            lost=self._lost,
            again=self._again,
        )

    def _slot(self, cores: simpy.Resource, gpu: simpy.Resource) -> Iterator[Any]:
        """One place at a worker, which takes response after response."""
        wait = self._machines.ready
        while True:
            job = None
            try:
                yield self._time.timeout(wait)
                wait = 0.0
                while True:
                    if not self._left:
                        yield self._more
                        continue
                    job, began = self._left.popleft(), self._time.now
                    yield from self._assessed(job, cores, gpu)
                    job = None
                    self._busy_slots += self._time.now - began
                    self._open -= 1
                    if not self._open:
                        self._done.succeed()
            except simpy.Interrupt:
                # The node is lost: what it had is done again, by whoever is free, and another one starts in its place.
                if job is not None:
                    self._left.appendleft(job)
                    self._again += 1
                    self._more.succeed()
                    self._more = self._time.event()
                wait = self._machines.start + self._machines.weights / self._machines.store

    def _assessed(self, job: Job, cores: simpy.Resource, gpu: simpy.Resource) -> Iterator[Any]:
        yield from self._driven()
        for work in job:
            if work.cores:
                with cores.request() as core:
                    yield core
                    yield self._time.timeout(work.cores)
                self._busy_cores += work.cores
            if work.gpu:
                with gpu.request() as turn:
                    yield turn
                    yield self._time.timeout(work.gpu)
                self._busy_gpu += work.gpu
            if work.wait:
                yield self._time.timeout(work.wait)
        yield from self._driven()

    def _driven(self) -> Iterator[Any]:
        """The driver's half."""
        seconds = self._machines.driver / 2
        with self._driver.request() as turn:
            yield turn
            yield self._time.timeout(seconds)
        self._busy_driver += seconds

    def _losses(self, slots: Sequence[simpy.Process]) -> Iterator[Any]:
        while True:
            yield self._time.timeout(self._chance.expovariate(1 / (3600 * self._machines.between_losses)))
            self._lost += 1
            for slot in slots:
                if slot.is_alive:
                    slot.interrupt()


def jobs_of(run: Path, rates: Rates) -> list[Job]:
    """The jobs of a run's responses: its tokens at these rates, and the seconds of what no model answered.

    Raises:
        ValueError: it has none.
    """
    timings, jobs = read_timings(run), []
    for assessment in assessments_in_order(run):
        timing = timings.get(assessment.index, {})
        seconds, cached = dict(timing.get("seconds", {})), dict(timing.get("usage", {}))
        job = []
        for stage in dict.fromkeys((*seconds, *assessment.usage)):
            used = assessment.usage.get(stage)
            if not used or not used.get("calls"):
                job.append(Work(cores=seconds.get(stage, 0.0)))
                continue
            read = used["prompt_tokens"] - cached.get(stage, {}).get("cached_tokens", 0)
            written = used["output_tokens"]
            job.append(Work(gpu=read / rates.read + written / rates.write, wait=written / used["calls"] * rates.step))
        if job:
            jobs.append(job)
    if not jobs:
        raise ValueError(f"{run} has no timings of responses")
    return jobs


def drawn(jobs: Sequence[Job], count: int, seed: int = 0) -> list[Job]:
    """So many jobs, drawn from those that were measured."""
    return random.Random(seed).choices(jobs, k=count)


def limit_of(outcome: Outcome) -> str:
    """What keeps the run from being quicker."""
    if outcome.ready > outcome.seconds / 2:
        return "starting"
    busy = max((outcome.driver, "the driver"), (outcome.gpu, "the GPUs"), (outcome.cores, "the cores"))
    if busy[0] >= LIMITING:
        return busy[1]
    return "places at the workers" if outcome.slots >= LIMITING else "waiting for the slowest"


def by_gpus(jobs: Sequence[Job], machines: Machines, options: argparse.Namespace) -> Table:
    """A row for each number of GPUs."""
    columns = ("GPUs", "workers", "hours", "of them starting", "responses a second", "GPUs busy", "driver busy")
    columns += ("nodes lost", "done again", "GPU hours", f"at {options.price:.2f} an hour")
    table = table_of(*columns, names=0)
    table.add_column("limited by")
    asked = drawn(jobs, options.responses)
    for gpus in options.gpus:
        workers = gpus // options.gpus_of_worker
        cluster = replace(machines, workers=workers, per_node=max(1, machines.per_node // options.gpus_of_worker))
        outcome = Simulation(asked, cluster).run()
        hours, starting = outcome.seconds / 3600, outcome.ready / 3600
        rate = options.responses / (outcome.seconds - outcome.ready)
        busy = (f"{outcome.gpu:.0%}", f"{outcome.driver:.0%}")
        cost = (f"{hours * gpus:,.0f}", f"{hours * gpus * options.price:,.0f}")
        figures = (f"{gpus:,}", f"{workers:,}", f"{hours:,.2f}", f"{starting:,.2f}", f"{rate:,.1f}", *busy)
        table.add_row(*figures, f"{outcome.lost:,}", f"{outcome.again:,}", *cost, limit_of(outcome))
    return table


def checked(count: int) -> Table:
    """Workers of a real cluster beside their simulation: those that sleep, as one waits for tokens, and those that are busy."""
    from scripts.bench.scale import SLOTS, burning, by_workers, local_ray, responses_of, sleeping

    responses = responses_of(count)
    caption = f"{count} responses, {SLOTS} at once in a worker; ratio: real to simulated"
    table = table_of("each response", "workers", "seconds, real", "simulated", "ratio", caption=caption)
    with local_ray():
        driver = by_workers(partial(sleeping, seconds=0.0), responses, 1) / count
        table.add_row("nothing", "1", f"{driver * count:.2f}", "", f"taken as the driver's: {1000 * driver:.2f} ms a response")
        free = Machines(1, per_node=1, slots=SLOTS, driver=driver, start=0.0, weights=0.0, between_losses=NEVER)
        for name, make, work in (
            ("waits 50 ms", partial(sleeping, seconds=0.05), Work(wait=0.05)),
            ("keeps its worker busy for 20 ms", partial(burning, seconds=0.02), Work(gpu=0.02)),
        ):
            for workers in (1, 2):
                real = by_workers(make, responses, workers)
                simulated = Simulation([[work]] * count, replace(free, workers=workers)).run().seconds
                table.add_row(name, str(workers), f"{real:.2f}", f"{simulated:.2f}", f"{real / simulated:.2f}")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--run", type=Path, help="the folder of a run whose costs are taken")
    parser.add_argument("--responses", type=int, default=100_000)
    parser.add_argument("--gpus", type=int, nargs="+", default=GPUS)
    parser.add_argument("--gpus-of-worker", type=int, default=1, help="GPUs of one replica of the model")
    parser.add_argument("--read", type=float, default=30_000, help="tokens a second that a worker reads")
    parser.add_argument("--write", type=float, default=6_000, help="tokens a second that a worker writes")
    parser.add_argument("--step", type=float, default=0.03, help="seconds a token of one answer takes beside all others")
    for name, about in MACHINES.items():
        default = getattr(Machines, name)
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default, help=about)
    parser.add_argument("--price", type=float, default=2.5, help="of a GPU hour")
    parser.add_argument("--check", action="store_true", help="run real workers here beside the simulation")
    options = parser.parse_args()
    console = Console(width=max(Console().width, 150))
    if options.check:
        console.print(checked(CHECKED))
        return
    if options.run is None:
        parser.error("name a run whose costs are taken: --run RUN")
    if min(options.gpus) < options.gpus_of_worker:
        parser.error(f"a worker takes {options.gpus_of_worker} GPUs: name no fewer in --gpus")
    machines = Machines(workers=1, **{name: getattr(options, name) for name in MACHINES})
    jobs = jobs_of(options.run, Rates(options.read, options.write, options.step))
    each = [sum(getattr(work, what) for job in jobs for work in job) / len(jobs) for what in ("gpu", "cores", "wait")]
    console.print(
        f"{len(jobs)} responses measured; each in the mean {each[0]:.2f} s of GPU, {each[1]:.2f} s of cores, "
        f"{each[2]:.2f} s of waiting for what is written",
        highlight=False,
    )
    console.print(by_gpus(jobs, machines, options))


if __name__ == "__main__":
    main()
