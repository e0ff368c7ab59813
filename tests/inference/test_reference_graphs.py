"""The shared reference graphs, where they are at hand: the errors that are promised, over claims."""

import json
from pathlib import Path

import numpy as np
import pytest

from localfact.inference import marginals
from localfact.inference.elimination import WIDTH_LIMIT
from localfact.inference.reading import read_graph


def reference_graphs(shared: Path, narrow: bool) -> list[tuple[Path, dict, list[str]]]:
    files = sorted((shared / "factgraphs").glob("*.json"))
    contents = [(file, json.loads(file.read_text())) for file in files]
    chosen = [
        (file, content["reference"], list(content["atoms"]))
        for file, content in contents
        if (content["reference"]["induced_width_min_fill"] <= WIDTH_LIMIT) == narrow
    ]
    assert len(chosen) > 10
    return chosen


def test_every_narrow_reference_graph_comes_out_right(shared):
    for file, known, _ in reference_graphs(shared, narrow=True):
        found = marginals(read_graph(file))
        assert found.exact, file.name
        assert found.consistent == known["consistent"], file.name
        if known["consistent"]:
            assert found.marginals == pytest.approx(known["marginals"], abs=1e-9), file.name
            assert found.log_z == pytest.approx(known["log_z"], abs=1e-8), file.name
        else:
            assert found.marginals is None


@pytest.mark.slow
def test_every_wide_reference_graph_is_within_the_promised_error_and_no_label_flips(shared):
    for file, known, claims in reference_graphs(shared, narrow=False):
        found = marginals(read_graph(file))
        values = np.array([found.marginals[claim] for claim in claims])
        expected = np.array([known["marginals"][claim] for claim in claims])
        assert np.max(np.abs(values - expected)) < (0.03 if len(claims) > 60 else 0.02), file.name
        assert np.mean(np.abs(values - expected)) < (0.003 if len(claims) > 60 else 0.002), file.name
        decided = np.abs(expected - 0.5) > known["tolerance"]
        assert np.all((values > 0.5)[decided] == (expected > 0.5)[decided]), file.name
        assert np.isfinite(found.log_z), file.name
        if known["log_z"] is not None:
            assert found.log_z == pytest.approx(known["log_z"], abs=0.01), file.name


def test_ibms_example_graph_loads(shared):
    found = marginals(read_graph(shared / "data" / "flaherty" / "fact_graph.json"))
    assert found.exact
    assert list(found.marginals) == ["a1", "c11", "c12"]
