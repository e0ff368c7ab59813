"""What a run takes of a cluster, what machines cannot share, and that what its workers make is what one machine makes."""

import json
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from typer.testing import CliRunner

from localfact.api.evaluate import evaluate, execute, prepare
from localfact.cli.main import app
from localfact.cluster.evaluate import Cluster, absolute, check_shared, opener_of, per_worker, shares
from localfact.cluster.joining import leave
from localfact.cluster.workers import Resources
from localfact.errors import InputError
from localfact.llm.scripted import ScriptedEngine
from localfact.methods.engine import EngineFacts
from localfact.methods.options import Options
from localfact.methods.wiring import Configuration, configure
from localfact.runs.assessments import ASSESSMENTS_FILE
from localfact.runs.run_folder import RUN_FILE

OPTIONS = Options(relations="lexical", embedder="none")


def on(machine: dict[str, Any], **arguments: Any) -> Configuration:
    facts = EngineFacts(ScriptedEngine().identity, machine, cast("Any", SimpleNamespace(arguments=arguments)))
    return cast("Configuration", SimpleNamespace(facts=facts))


@pytest.mark.parametrize(
    ("chosen", "asked", "cluster", "found"),
    [
        (cast("Configuration", SimpleNamespace(facts=None)), None, (3, 24, 0), (3, Resources(cpus=8))),
        (cast("Configuration", SimpleNamespace(facts=None)), 4, (2, 2, 0), (4, Resources(cpus=1))),
        (on({"device": "cpu"}), None, (2, 64, 8), (2, Resources(cpus=32))),
        (on({"device": "cuda", "tensor_parallel": 1, "replicas": 8}), None, (2, 64, 16), (16, Resources(cpus=1, gpus=1))),
        (on({"device": "cuda", "tensor_parallel": 4, "replicas": 2}), None, (2, 64, 16), (4, Resources(cpus=4, gpus=4))),
        (
            on({"device": "cuda", "tensor_parallel": 4}, pipeline_parallel_size=2),
            1,
            (2, 64, 16),
            (1, Resources(cpus=8, gpus=8)),
        ),
    ],
)
def test_a_worker_takes_the_gpus_of_one_replica_or_a_node(
    chosen: Configuration, asked: int | None, cluster: tuple[int, int, int], found: tuple[int, Resources]
) -> None:
    assert shares(chosen, asked, *cluster) == found


def test_too_few_gpus_are_told() -> None:
    with pytest.raises(InputError, match="takes 4 GPUs, and the cluster has 2"):
        shares(on({"device": "cuda", "tensor_parallel": 4}), None, 1, 8, 2)


def test_a_worker_has_as_many_responses_as_one_replica() -> None:
    assert per_worker(on({"device": "cuda", "replicas": 8})) == 32
    assert per_worker(cast("Configuration", SimpleNamespace(facts=None))) == 4


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"transcript": Path("calls.sqlite")}, "--transcript and --ray"),
        ({"relations_cache": Path("relations.sqlite")}, "--relations-cache and --ray"),
        ({"providers": ("duckduckgo",)}, "--provider and --ray"),
    ],
)
def test_what_machines_cannot_share_is_refused(options: dict[str, Any], named: str) -> None:
    job = SimpleNamespace(chosen=SimpleNamespace(options=OPTIONS.model_copy(update=options)))
    with pytest.raises(InputError, match=named):
        check_shared(cast("Any", job))


def test_replicas_are_those_of_a_cluster() -> None:
    done = CliRunner().invoke(app, ["eval", "--replicas", "2"])
    assert isinstance(done.exception, InputError)
    assert "--replicas counts the workers of --ray" in str(done.exception)


def test_paths_hold_in_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    found = absolute(OPTIONS.model_copy(update={"corpus": Path("corpus"), "model": "model", "embedder": "minilm"}))
    assert (found.corpus, found.model, found.embedder) == (tmp_path / "corpus", str(tmp_path / "model"), "minilm")


async def test_a_worker_that_would_decide_otherwise_is_refused() -> None:
    chosen = configure("builtin-fr2", OPTIONS)
    assessor = opener_of(chosen, offline=False)
    async with AsyncExitStack() as opened:
        assert assessor(opened)
        other = replace(assessor, settings={**assessor.settings, "seed": 7})
        with pytest.raises(InputError, match="would decide otherwise than the machine of the command: seed: 7 -> 0"):
            other(opened)


@pytest.fixture
def on_ray() -> Iterator[None]:
    import ray

    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    leave()


@pytest.mark.models
def test_what_workers_make_is_byte_by_byte_what_one_machine_makes(tmp_path: Path, on_ray: None) -> None:
    data = tmp_path / "rows.jsonl"
    rows = [
        {"response": f"Mill {number} opened in 1911.", "passages": [{"text": f"Mill {number} opened in {1911 + number % 2}."}]}
        for number in range(12)
    ]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows) + "no JSON\n")
    evaluate(data, options=OPTIONS, out=tmp_path / "one")
    job = prepare(data, options=OPTIONS, out=tmp_path / "two")
    summary = execute(job, open_assessor=Cluster(replicas=2).open)
    assert summary.responses_failed == 1
    for name in (ASSESSMENTS_FILE, RUN_FILE):
        assert (tmp_path / "two" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()
