"""The simulation of many machines, against what can be reckoned by hand."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import simpy
from run_builders import assessment

from localfact.runs.run_folder import TIMINGS_FILE, RunFolder
from scripts.simulate_scale import NEVER, Job, Machines, Outcome, Rates, Simulation, Work, drawn, jobs_of, limit_of

#: A machine on which nothing costs anything beside the work.
FREE = Machines(workers=1, per_node=1, slots=4, cores=2, driver=0.0, start=0.0, weights=0.0, between_losses=NEVER)


def seconds(job: Job, count: int, **machines: object) -> float:
    return Simulation([job] * count, Machines(**{**vars(FREE), **machines})).run().seconds  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("work", "machines", "expected"),
    [
        (Work(gpu=2.0), {}, 8 * 2.0),  # one after another
        (Work(gpu=2.0), {"workers": 2}, 4 * 2.0),
        (Work(gpu=2.0), {"workers": 4, "per_node": 4}, 2 * 2.0),
        (Work(wait=2.0), {}, 2 * 2.0),  # four at once
        (Work(wait=2.0), {"slots": 1}, 8 * 2.0),
        (Work(cores=2.0), {}, 4 * 2.0),  # two cores
        (Work(cores=2.0), {"workers": 2, "per_node": 2}, 4 * 2.0),  # of one node
        (Work(cores=2.0), {"workers": 2}, 2 * 2.0),
        (Work(), {"driver": 2.0, "workers": 64}, 8 * 2.0),  # the driver does one thing at a time
        (Work(gpu=2.0), {"start": 100.0, "weights": 20.0, "store": 2.0, "workers": 2}, 100 + 2 * 10 + 4 * 2.0),
        (Work(gpu=2.0), {"start": 100.0, "weights": 20.0, "store": 2.0, "workers": 2, "per_node": 2}, 100 + 10 + 4 * 2.0),
    ],
)
def test_eight_responses_take_what_can_be_reckoned(work: Work, machines: dict[str, object], expected: float) -> None:
    assert seconds([work], 8, **machines) == pytest.approx(expected)


def test_stages_follow_one_another_and_overlap_with_those_of_other_responses() -> None:
    job = [Work(cores=1.0), Work(gpu=1.0), Work(wait=1.0)]
    assert seconds(job, 1) == pytest.approx(3.0)
    # Two cores make two ready a second; the GPU serves one a second, and the last waits one second more.
    assert seconds(job, 4) == pytest.approx(1 + 4 + 1)


def test_what_a_lost_node_had_is_done_again_and_nothing_twice() -> None:
    machines = Machines(workers=4, per_node=2, slots=2, driver=0.0, start=10.0, weights=0.0, between_losses=0.02)
    outcome = Simulation([[Work(gpu=5.0)]] * 100, machines, seed=1).run()
    assert outcome.lost > 2
    assert outcome.again > 2
    assert outcome.seconds > 10 + 100 / 4 * 5.0
    done = outcome.gpu * (outcome.seconds - outcome.ready) * 4
    assert done == pytest.approx(100 * 5.0)
    assert Simulation([[Work(gpu=5.0)]] * 100, machines, seed=1).run() == outcome


def test_what_limits_is_named() -> None:
    def outcome(**shares: float) -> Outcome:
        nothing = {"gpu": 0.0, "cores": 0.0, "slots": 0.0, "driver": 0.0, "lost": 0, "again": 0}
        return Outcome(**{"seconds": 100.0, "ready": 1.0, **nothing, **shares})  # type: ignore[arg-type]

    assert limit_of(outcome(gpu=0.9, driver=0.8)) == "the GPUs"
    assert limit_of(outcome(gpu=0.4, driver=0.99)) == "the driver"
    assert limit_of(outcome(gpu=0.9, ready=60.0)) == "starting"
    assert limit_of(outcome(gpu=0.3, cores=0.9, slots=1.0)) == "the cores"
    assert limit_of(outcome(gpu=0.3, slots=0.95)) == "places at the workers"
    assert limit_of(outcome(gpu=0.3, driver=0.2)) == "waiting for the slowest"


class LosingTheFirst(Simulation):
    """The first node is lost 45 seconds after its workers are ready, and no other."""

    def _losses(self, slots: Sequence[simpy.Process]) -> Iterator[Any]:
        first = self._lost == 0
        self._lost = 1
        if first:
            yield self._time.timeout(self._machines.ready + 45.0)
            for slot in slots:
                slot.interrupt()


def test_what_an_idle_worker_can_do_does_not_wait_for_the_lost_one() -> None:
    machines = Machines(workers=2, per_node=1, slots=1, driver=0.0, start=1000.0, weights=0.0, between_losses=1.0)
    outcome = LosingTheFirst([[Work(gpu=50.0)]], machines).run()
    assert outcome.again == 1
    assert outcome.seconds == pytest.approx(1000 + 45 + 50)


def test_jobs_are_made_of_a_runs_tokens_and_seconds(tmp_path: Path) -> None:
    used = {"calls": 4, "requests": 4, "prompt_tokens": 1000, "output_tokens": 40}
    with RunFolder(tmp_path / "run", {}, {}) as made:
        made.append(assessment("SC").model_copy(update={"index": 0, "usage": {"relate": used}}), {})
    timing = {"index": 0, "seconds": {"retrieve": 0.5, "relate": 9.0}, "usage": {"relate": {"cached_tokens": 800}}}
    (tmp_path / "run" / TIMINGS_FILE).write_text(json.dumps(timing) + "\n")
    (job,) = jobs_of(tmp_path / "run", Rates(read=100.0, write=20.0, step=0.1))
    assert job == [Work(cores=0.5), Work(gpu=200 / 100 + 40 / 20, wait=10 * 0.1)]
    assert drawn([job], 3) == [job] * 3


def test_a_run_without_timings_or_tokens_is_refused(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run", {}, {}) as made:
        made.append(assessment("SC").model_copy(update={"index": 0, "usage": {}}), {})
    (tmp_path / "run" / TIMINGS_FILE).unlink()
    with pytest.raises(ValueError, match="has no timings of responses"):
        jobs_of(tmp_path / "run", Rates(1.0, 1.0, 1.0))
