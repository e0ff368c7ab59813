"""Reading graph files: both schemas, and every way in which a file can be wrong."""

import json

import pytest

from localfact.errors import GraphError
from localfact.inference import marginals
from localfact.inference.reading import read_graph

GRAPH = {
    "atoms": {"a0": 0.5},
    "contexts": {"c0": 0.99, "c1": 0.99},
    "relations": [
        {"source": "c0", "target": "a0", "type": "entailment", "probability": 0.8},
        {"source": "c1", "target": "a0", "type": "contradiction", "probability": 0.9},
    ],
}
NODES = {
    "nodes": [
        {"id": "a0", "type": "atom", "probability": 0.5},
        {"id": "c0", "type": "context", "probability": 0.99},
        {"id": "c1", "type": "context", "probability": 0.99},
    ],
    "edges": [
        {"from": "c0", "to": "a0", "relation": "entailment", "probability": 0.8, "link": "context_atom"},
        {"from": "c1", "to": "a0", "relation": "contradiction", "probability": 0.9},
    ],
}


@pytest.fixture
def read(tmp_path):
    def read(content):
        path = tmp_path / "graph.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return read_graph(path)

    return read


def relation(**changes):
    return GRAPH | {"relations": [GRAPH["relations"][0] | changes]}


@pytest.mark.parametrize("content", [GRAPH, NODES, "\ufeff" + json.dumps(GRAPH)])
def test_both_schemas_give_the_same_graph(read, content):
    graph = read(content)
    assert graph.ids == ("a0", "c0", "c1")
    assert graph.edges.tolist() == [[1, 0], [2, 0]]
    assert marginals(graph).marginals["a0"] == pytest.approx(0.3178807947, abs=1e-10)


def test_the_variant_names_the_tables(read):
    found = {variant: read(GRAPH | {"variant": variant}).tables[0].tolist() for variant in ("paper", "priors", "balanced")}
    assert found["paper"][0] == [0.8, 0.8]
    assert found["priors"][0] == [0.5, 0.5]
    assert found["balanced"][0] == pytest.approx([0.5, 0.5])


def test_priors_tables_take_099_for_a_context_whatever_its_own_prior(read):
    content = GRAPH | {"variant": "priors", "contexts": {"c0": 0.9, "c1": 0.2}}
    content["relations"] = [{"source": "c0", "target": "c1", "type": "entailment", "probability": 0.8}]
    assert read(content).tables[0][0].tolist() == pytest.approx([0.01, 0.99])


def test_hard_probabilities_are_kept_and_neutral_relations_make_no_factor(read):
    assert read(relation(probability=1)).tables[0].tolist() == [[1, 1], [0, 1]]
    assert len(read(relation(type="neutral")).edges) == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "must hold one JSON object"),
        ("", "is not JSON"),
        ({}, "'atoms' must be an object"),
        (GRAPH | {"contexts": []}, "'contexts' must be an object"),
        (GRAPH | {"relations": {}}, "'relations' must be a list"),
        (GRAPH | {"relations": [7]}, "entry 1 of 'relations'"),
        (relation(source=["c0"]), "entry 1 of 'relations'"),
        (GRAPH | {"variant": "noisy-or"}, "variant 'noisy-or'"),
        (relation(source="c9"), "relation 1 names 'c9'"),
        (relation(target="nowhere"), "relation 1 names 'nowhere'"),
        (relation(source="a0"), "relates 'a0' to itself"),
        (relation(type="supports"), "unknown type 'supports'"),
        (relation(probability=1.5), "probability of relation 1 must be a number from 0 to 1, not 1.5"),
        (relation(probability=float("nan")), "not nan"),
        (relation(probability="0.5"), "not '0.5'"),
        (relation(probability=True), "not True"),
        (relation(probability=None), "not None"),
        (GRAPH | {"atoms": {"a0": -0.1}}, "prior of 'a0' must be a number from 0 to 1, not -0.1"),
        (GRAPH | {"atoms": {"a0": 10**400}}, r"not 1000.*\.\.\."),
        (GRAPH | {"contexts": GRAPH["contexts"] | {"a0": 0.9}}, "'a0' stands twice"),
        ('{"atoms": {"a0": 0.5, "a0": 0.6}, "contexts": {}, "relations": []}', "'a0' stands twice"),
        (NODES | {"nodes": [*NODES["nodes"], NODES["nodes"][0]]}, "'a0' stands twice"),
        (NODES | {"nodes": [{"id": "a0", "type": "claim", "probability": 0.5}]}, "unknown type 'claim'"),
        (NODES | {"nodes": [{"type": "atom", "probability": 0.5}]}, "entry 1 of 'nodes'"),
    ],
)
def test_a_faulty_file_is_refused_with_its_name_and_the_fault(read, content, message):
    with pytest.raises(GraphError, match=message) as error:
        read(content)
    assert "graph.json" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_or_undecodable_file_is_refused(tmp_path):
    with pytest.raises(GraphError, match=r"nothing\.json cannot be read"):
        read_graph(tmp_path / "nothing.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(GraphError, match=r"binary\.json is not JSON"):
        read_graph(tmp_path / "binary.json")
