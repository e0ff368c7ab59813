"""The shared reference graphs, where they are at hand."""

import json
from pathlib import Path

import pytest

from localfact.inference import marginals
from localfact.inference.elimination import WIDTH_LIMIT
from localfact.inference.reading import read_graph


def reference_graphs(shared: Path) -> list[tuple[Path, dict]]:
    files = sorted((shared / "factgraphs").glob("*.json"))
    assert files
    return [(file, json.loads(file.read_text())["reference"]) for file in files]


def test_every_narrow_reference_graph_comes_out_right(shared):
    narrow = [(file, known) for file, known in reference_graphs(shared) if known["induced_width_min_fill"] <= WIDTH_LIMIT]
    assert len(narrow) > 30
    for file, known in narrow:
        found = marginals(read_graph(file))
        assert found.exact, file.name
        assert found.consistent == known["consistent"], file.name
        if known["consistent"]:
            assert found.marginals == pytest.approx(known["marginals"], abs=1e-9), file.name
            assert found.log_z == pytest.approx(known["log_z"], abs=1e-9), file.name
        else:
            assert found.marginals is None


def test_every_wide_reference_graph_gives_probabilities_near_the_reference(shared):
    for file, known in reference_graphs(shared):
        if known["induced_width_min_fill"] > WIDTH_LIMIT:
            found = marginals(read_graph(file))
            assert not found.exact, file.name
            assert found.marginals == pytest.approx(known["marginals"], abs=0.1), file.name
            assert all(0 <= value <= 1 for value in found.marginals.values()), file.name


def test_ibms_example_graph_loads(shared):
    found = marginals(read_graph(shared / "data" / "flaherty" / "fact_graph.json"))
    assert found.exact
    assert list(found.marginals) == ["a1", "c11", "c12"]
