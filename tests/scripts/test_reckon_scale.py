"""What is reckoned of many machines, against what can be reckoned by hand."""

import json
from pathlib import Path

import pytest
from run_builders import assessment

from localfact.runs.run_folder import TIMINGS_FILE, RunFolder
from scripts.reckon_scale import Cluster, Rates, ResponseWork, busy, seconds_of, work_of

#: A machine on which nothing costs anything beside the work.
FREE = {"workers": 1, "per_node": 1, "slots": 4, "cores": 2, "driver": 0.0, "start": 0.0, "weights": 0.0}
STARTING = {"start": 100.0, "weights": 20.0, "store": 2.0, "workers": 2}


@pytest.mark.parametrize(
    ("work", "machines", "expected"),
    [
        (ResponseWork(gpu=2.0), {}, 8 * 2.0),  # one after another
        (ResponseWork(gpu=2.0), {"workers": 2}, 4 * 2.0),
        (ResponseWork(gpu=2.0), {"workers": 4, "per_node": 4}, 2 * 2.0),
        (ResponseWork(wait=2.0), {}, 2 * 2.0),  # four at once
        (ResponseWork(wait=2.0), {"slots": 1}, 8 * 2.0),
        (ResponseWork(cores=2.0), {}, 4 * 2.0),  # two cores
        (ResponseWork(cores=2.0), {"workers": 2, "per_node": 2}, 4 * 2.0),  # of one node
        (ResponseWork(cores=2.0), {"workers": 2}, 2 * 2.0),
        (ResponseWork(), {"driver": 2.0, "workers": 64}, 8 * 2.0),  # the driver does one thing at a time
        (ResponseWork(gpu=2.0), STARTING, 100 + 2 * 10 + 4 * 2.0),
        (ResponseWork(gpu=2.0), STARTING | {"per_node": 2}, 100 + 10 + 4 * 2.0),
        (ResponseWork(cores=1.0, gpu=1.0, wait=1.0), {}, 8 * 1.0),  # stages overlap with those of other responses
    ],
)
def test_eight_responses_and_the_last_one_s_own_seconds(
    work: ResponseWork, machines: dict[str, float], expected: float
) -> None:
    alone = work.gpu + work.cores + work.wait
    assert seconds_of(work, 8, Cluster(**FREE | machines)) == pytest.approx(expected + alone)  # type: ignore[arg-type]


def test_what_limits_is_named() -> None:
    def limit(work: ResponseWork, **machines: float) -> str:
        parts = busy(work, Cluster(**FREE | machines))  # type: ignore[arg-type]
        return max(parts, key=lambda part: parts[part])

    assert limit(ResponseWork(gpu=0.9, cores=0.8)) == "the GPUs"
    assert limit(ResponseWork(gpu=0.4), driver=0.5) == "the driver"
    assert limit(ResponseWork(gpu=0.1, cores=0.9)) == "the cores"
    assert limit(ResponseWork(gpu=0.1, wait=0.9)) == "places at the workers"


def test_work_is_made_of_a_runs_tokens_and_seconds(tmp_path: Path) -> None:
    used = {"calls": 4, "requests": 4, "prompt_tokens": 1000, "output_tokens": 40}
    with RunFolder(tmp_path / "run", {}, {}) as made:
        for index, usage in enumerate(({"relate": used}, {}, {"relate": used})):
            made.append(assessment("SC").model_copy(update={"index": index, "usage": usage}), {})
    timing = {"index": 0, "seconds": {"retrieve": 0.5, "relate": 9.0}, "usage": {"relate": {"cached_tokens": 800}}}
    (tmp_path / "run" / TIMINGS_FILE).write_text(json.dumps(timing) + "\n")
    found = work_of(tmp_path / "run", Rates(read=100.0, write=20.0, step=0.1))
    # In the mean of two: of the second nothing is known, and of the third no more than what it sent.
    assert found == ResponseWork(cores=0.5 / 2, gpu=((200 + 1000) / 100 + 2 * 40 / 20) / 2, wait=2 * 10 * 0.1 / 2)


def test_a_run_without_timings_or_tokens_is_refused(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run", {}, {}) as made:
        made.append(assessment("SC").model_copy(update={"index": 0, "usage": {}}), {})
    (tmp_path / "run" / TIMINGS_FILE).unlink()
    with pytest.raises(ValueError, match="has no timings of responses"):
        work_of(tmp_path / "run", Rates(1.0, 1.0, 1.0))
