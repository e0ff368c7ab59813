"""A run on the workers of a real Ray cluster on this machine: each response once, whatever becomes of the workers."""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import cluster_assessors
import pytest
from cluster_assessors import Make
from roads import responses

from localfact.cluster.joining import connect, leave
from localfact.cluster.workers import Resources, Workers
from localfact.errors import EngineError, InputError, MissingError
from localfact.pipeline import Costs
from localfact.records import Assessment, Failure
from localfact.runs.failures import or_failure

pytestmark = pytest.mark.models


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    """Ray on this machine, with room for three workers."""
    import ray

    support = {"env_vars": {"PYTHONPATH": str(Path(cluster_assessors.__file__).parent)}}
    ray.init(address="local", num_cpus=3, include_dashboard=False, log_to_driver=False, runtime_env=support)
    assert not connect("auto")  # this process is in one already
    yield
    leave()


@asynccontextmanager
async def workers(make: Make, replicas: int = 2, slots: int = 2) -> AsyncIterator[Workers]:
    assessor = await asyncio.to_thread(lambda: Workers(make, replicas=replicas, slots=slots, resources=Resources()))
    try:
        yield assessor
    finally:
        await assessor.aclose()


async def assessed(assessor: Workers, *texts: str) -> list[Assessment | Failure]:
    counted = Counter[str]()

    def observe(what: str, number: int) -> None:
        counted[what] += number

    asked = responses(*texts)
    found = await asyncio.gather(
        *(or_failure(assessor.assess(index, response, Costs(), observe)) for index, response in enumerate(asked))
    )
    assert counted["claims"] == sum(isinstance(one, Assessment) for one in found)
    return list(found)


def reasons(found: list[Assessment | Failure]) -> dict[int, str]:
    return {index: one.reason for index, one in enumerate(found) if isinstance(one, Failure)}


async def test_all_workers_share_the_responses_and_each_is_assessed_once(tmp_path: Path) -> None:
    async with workers(Make(0.05, tmp_path, company=2)) as assessor:
        found = await assessed(assessor, *(f"text {number}" for number in range(20)))
        assert assessor.notes() == ("A note of the worker.",)
    assert [one.index for one in found if isinstance(one, Assessment)] == list(range(20))
    given = [file.read_text().split() for file in tmp_path.iterdir()]
    assert len(given) == 2
    assert min(map(len, given)) >= 2  # as many as it has at a time; how many more is a matter of the moment
    assert sorted(name for names in given for name in names) == sorted(f"r{number}" for number in range(1, 21))


async def test_a_response_that_kills_two_workers_has_failed_and_its_neighbours_have_not(tmp_path: Path) -> None:
    async with workers(Make(0.05, tmp_path), slots=4) as assessor:
        found = await assessed(
            assessor, *(f"text {number}" for number in range(6)), "kill", *(f"more {number}" for number in range(6))
        )
    assert reasons(found) == {6: "Two workers were lost while they were at work on it; the second did nothing else."}
    given = [file.read_text().split() for file in tmp_path.iterdir()]
    assert sum(names.count("r7") for names in given) == 2
    assert any(names[-1] == "r7" for names in given)


async def test_a_worker_that_is_lost_at_the_end_takes_no_response_with_it(tmp_path: Path) -> None:
    async with workers(Make(0.05, tmp_path, company=2)) as assessor:
        found = await assessed(assessor, *(f"text {number}" for number in range(60)))
        first, second = tmp_path.iterdir()
        assert first.name != second.name
        os.kill(int(first.name), signal.SIGKILL)
        assert assessor.notes() == ("A note of the worker.",)
    assert not reasons(found)


async def test_a_worker_whose_engine_died_is_replaced(tmp_path: Path) -> None:
    async with workers(Make(0.0, tmp_path)) as assessor:
        found = await assessed(assessor, "dead", "text", "text", "text")
    assert list(reasons(found)) == [0]
    assert len(list(tmp_path.iterdir())) >= 2


async def test_a_bug_at_one_response_fails_it_alone() -> None:
    async with workers(Make()) as assessor:
        found = await assessed(assessor, "text", "bug", "text")
    assert reasons(found) == {1: "ZeroDivisionError: a bug"}


async def test_what_is_missing_at_the_workers_is_told_before_anything_is_run() -> None:
    with pytest.raises(MissingError, match="no weights here"):
        async with workers(Make(missing="There are no weights here.")):
            pass


async def test_workers_that_are_lost_one_after_the_other_end_the_run() -> None:
    async with workers(Make(), replicas=1, slots=1) as assessor:
        assert list(reasons(await assessed(assessor, "kill"))) == [0]
        with pytest.raises(EngineError, match="lost one after the other"):
            await assessed(assessor, "kill", "kill")
        with pytest.raises(EngineError, match="no worker left"):
            await assessed(assessor, "text")


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("127.0.0.1:9", r"There is no Ray cluster at 127\.0\.0\.1:9 \(Connection refused\)"),
        ("head", "such as 10.0.0.1:6379, or auto; not 'head'"),
        ("head:ray", "not 'head:ray'"),
        ("127.0.0.1:99999", "not '127.0.0.1:99999'"),
    ],
)
def test_an_address_where_there_is_no_cluster_is_told_at_once(address: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    with pytest.raises(InputError, match=told):
        connect(address)
