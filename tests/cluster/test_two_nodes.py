"""Two nodes, a real engine on each, and one of them is killed in the middle: the run is the one without Ray, line by line.

The model is tiny and random, so that a prompt which differs in one token has other probabilities.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import ray
from engines import NEEDS_VLLM
from tiny_models import tiny_llama

from localfact.api.evaluate import execute, prepare
from localfact.cluster.evaluate import Cluster
from localfact.cluster.joining import leave
from localfact.methods.options import Options
from localfact.runs.assessments import ASSESSMENTS_FILE
from localfact.runs.progress import Silent

pytestmark = [NEEDS_VLLM, pytest.mark.models]

WINDOW = 8192
RESPONSES = 12
OPTIONS = Options(
    relations="llm",
    embedder="none",
    claims="given",
    min_mass=0,
    # A number's last digits depend on how a prompt is divided up: by what else is in the batch, and by how much of it is in the
    # cache. Both are a matter of what came before, so here prompts are read one at a time, whole.
    engine_args={
        "dtype": "float32",
        "max_model_len": str(WINDOW),
        "enforce_eager": "true",
        "kv_cache_memory_bytes": str(2**26),
        "max_num_seqs": "1",
        "enable_prefix_caching": "false",
    },
)


def rows() -> list[dict[str, Any]]:
    return [
        {
            "id": f"mill-{number}",
            "response": f"Mill {number} opened in 19{number:02}. It has {number} doors.",
            "claims": [{"text": f"Mill {number} opened in 19{number:02}."}, {"text": f"Mill {number} has {number} doors."}],
            "passages": [{"text": f"Mill {number} has {number + number % 2} doors and opened in 19{number:02}."}],
        }
        for number in range(RESPONSES)
    ]


class KillingANode(Silent):
    """Takes a node away when so many responses are done."""

    def __init__(self, cluster: Any, node: Any, after: int) -> None:
        self.cluster, self.node, self.after, self.done = cluster, node, after, 0

    def row_done(self) -> None:
        self.done += 1
        if self.done == self.after:
            self.cluster.remove_node(self.node, allow_graceful=False)


def test_a_run_that_loses_a_node_is_the_run_of_one_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ray.cluster_utils import Cluster as LocalCluster

    options = OPTIONS.model_copy(update={"model": str(tiny_llama(tmp_path / "model", window=WINDOW))})
    data = tmp_path / "rows.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows()))
    alone, shared = tmp_path / "alone", tmp_path / "shared"

    def job(out: Path) -> Any:
        return prepare(data, method="factreasoner-fr1", options=options, out=out)

    # One core each, here too: sums of floating point numbers depend on how many threads they are divided among.
    monkeypatch.setenv("VLLM_CPU_OMP_THREADS_BIND", "0")
    execute(job(alone))
    monkeypatch.delenv("VLLM_CPU_OMP_THREADS_BIND")

    cluster = LocalCluster()
    try:
        # Each has a secret of its own, as real machines do; its model must all the same be sent what the one here was sent.
        _, second = (
            cluster.add_node(
                num_cpus=1, env_vars={"VLLM_CPU_OMP_THREADS_BIND": core, "XDG_STATE_HOME": str(tmp_path / f"state-{core}")}
            )
            for core in ("0", "1")
        )
        ray.init(address=cluster.address, log_to_driver=False)
        progress = KillingANode(cluster, second, after=RESPONSES // 3)
        summary = execute(
            job(shared), concurrency=4, progress=progress, open_assessor=Cluster(cluster.address, replicas=2).open
        )
    finally:
        leave()
        cluster.shutdown()
    assert progress.done == RESPONSES
    assert summary.responses_failed == 0
    assert (shared / ASSESSMENTS_FILE).read_text().splitlines() == (alone / ASSESSMENTS_FILE).read_text().splitlines()
