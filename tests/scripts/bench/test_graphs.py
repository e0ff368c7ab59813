"""What `make bench` says of inference: it must be able to say no, and its made graphs must be what they are called."""

from dataclasses import replace

import numpy as np
import pytest

from localfact.inference import FactorGraph, marginals
from scripts.bench import graphs, synthetic

GRAPH = synthetic.fact_graph(2, 6, 3, "balanced", seed=4)


def case(graph: FactorGraph = GRAPH, **changes: object) -> graphs.Case:
    expected = np.array(list(marginals(graph).marginals.values()))
    return replace(graphs.Case("made fr2", graph, 6, True, expected, 1e-9, "itself"), **changes)


def kept(of: graphs.Case, milliseconds: float = 1.0) -> str:
    return graphs.row_of(of, marginals(of.graph), milliseconds)[-1]


def test_a_promise_is_kept_or_not() -> None:
    assert kept(case()) == "yes"
    assert kept(case(expected=case().expected + 1e-6)) == "NO"
    assert kept(case(expected=1 - case().expected)) == "NO"
    assert kept(case(consistent=False)) == "NO"
    assert kept(case(), milliseconds=61) == "NO"
    assert kept(case(name="made fr1"), milliseconds=11) == "NO"
    unknown = case(expected=np.full(len(GRAPH.ids), np.nan))
    assert (kept(unknown), kept(unknown, milliseconds=61)) == ("yes", "NO")


@pytest.mark.parametrize(("version", "variables"), [(1, 36), (2, 6 + 21), (3, 6 + 21)])
def test_made_graphs_have_the_passages_and_relations_of_their_version(version: int, variables: int) -> None:
    graph = synthetic.fact_graph(version, 6, 5, "paper", seed=1)
    assert len(graph.ids) == variables
    between = [edge for edge in graph.edges.tolist() if min(edge) >= 6]
    assert bool(between) == (version == 3)
    if version == 1:
        assert all((source - 6) // 5 == target for source, target in graph.edges.tolist())


@pytest.mark.slow
def test_a_narrow_made_graph_is_checked_by_another_program() -> None:
    known, reference = graphs.reference_for(GRAPH)
    assert reference == "pgmpy"
    assert known == pytest.approx(marginals(GRAPH).marginals, abs=1e-12)


def test_a_bp_answer_on_a_graph_known_to_be_narrow_breaks_the_promise() -> None:
    approximate = replace(marginals(GRAPH), exact=False, width=None)
    of = case(expected=case().expected + 1e-4)
    assert graphs.row_of(of, approximate, 1.0)[-1] == "yes"
    assert graphs.row_of(replace(of, width=16), approximate, 1.0)[-1] == "NO"
    assert graphs.row_of(replace(of, width=17), approximate, 1.0)[-1] == "yes"
