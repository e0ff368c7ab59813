"""The graph that is made again from an assessment has the marginals that the verdicts have."""

import json
from pathlib import Path

import pytest
from by_hand import claim, contradicts, entails, evidence, judge

from localfact.assess.factreasoner import FactReasoner
from localfact.assess.graphs import graph_of
from localfact.inference import marginals
from localfact.inference.reading import read_graph
from localfact.records import Assessment, Failure

TOLD = {
    ("c", "a1"): entails(0.8),
    ("d", "a1"): contradicts(0.9),
    ("d", "a2"): entails(0.7),
    ("e", "a2"): contradicts(0.6),
    ("c", "d"): contradicts(0.8),
    ("d", "c"): contradicts(0.9),
}


@pytest.mark.parametrize("tables", ["paper", "priors", "balanced"])
@pytest.mark.parametrize("version", [1, 2, 3])
async def test_the_graph_of_an_assessment_has_its_posteriors(version: int, tables: str, tmp_path: Path) -> None:
    claims = [claim("a1"), claim("a2"), claim("a3")]
    # The first passage was found twice for the first claim; the hosts' prior is lower than that of all passages.
    found = evidence({"a1": "ccd", "a2": "de", "a3": ""}, host="b.example")
    reasoner = FactReasoner(
        version,  # type: ignore[arg-type]
        tables=tables,  # type: ignore[arg-type]
        passage_prior=0.95,
        host_priors={"example": 0.9},
        prior_of=lambda one: 0.6 if one.id == "a2" else 0.5,
    )
    judged = await judge(reasoner, claims, found, TOLD)
    assessment = Assessment(
        index=0,
        response_id="r",
        status="scored",
        claims=tuple(claims),
        verdicts=judged.verdicts,
        passages=found.passages,
        relations=judged.relations,
    )
    graph = graph_of(assessment, reasoner, claims)
    (tmp_path / "graph.json").write_text(json.dumps(graph))
    again = marginals(read_graph(tmp_path / "graph.json")).marginals
    assert again is not None
    for verdict in judged.verdicts:
        assert again[f"claim {verdict.claim_id}"] == pytest.approx(verdict.posterior, abs=1e-9)
    assert set(graph["texts"]) == {*graph["atoms"], *graph["contexts"]}


async def test_a_claim_that_failed_is_not_in_the_graph() -> None:
    claims, found = [claim("a1"), claim("a2")], evidence({"a1": "c", "a2": "d"})
    reasoner = FactReasoner(1)
    judged = await judge(reasoner, claims, found, {("c", "a1"): Failure(reason="too long"), ("d", "a2"): entails(0.9)})
    assessment = Assessment(
        index=0,
        response_id="r",
        status="scored",
        claims=tuple(claims),
        verdicts=judged.verdicts,
        passages=found.passages,
        relations=judged.relations,
    )
    assert list(graph_of(assessment, reasoner, claims)["atoms"]) == ["claim a2"]
