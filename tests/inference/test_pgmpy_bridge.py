"""The bridge to pgmpy, against enumeration of all assignments."""

import numpy as np
import pytest
from hypothesis import assume, given
from small_graphs import HARD, clique, enumerated, graphs, whole

from localfact.errors import InputError
from localfact.inference.factor_graph import FactorGraph
from localfact.inference.pgmpy_bridge import eliminate_with_pgmpy

EQUAL = FactorGraph(("a", "c"), [0.5, 0.9], [[1, 0], [1, 0], [1, 0]], [[[0.8, 0.8], [0.2, 0.8]]] * 3)


@pytest.mark.slow
@given(graph=graphs(HARD, most=6, edges=10))
def test_pgmpys_elimination_equals_enumeration_with_hard_zeros_too(graph):
    expected, log_z = enumerated(graph)
    assume(expected is not None)
    found, found_log_z = eliminate_with_pgmpy(whole(graph))
    assert found == pytest.approx(expected, abs=1e-9)
    assert found_log_z == pytest.approx(log_z, abs=1e-9)


@pytest.mark.slow
def test_equal_duplicates_count_as_often_as_they_stand_in_the_graph():
    expected, log_z = enumerated(EQUAL)
    once = FactorGraph(EQUAL.ids, EQUAL.priors, EQUAL.edges[:1], EQUAL.tables[:1])
    assert abs(enumerated(once)[0] - expected).max() > 0.05
    found, found_log_z = eliminate_with_pgmpy(whole(EQUAL))
    assert found == pytest.approx(expected, abs=1e-12)
    assert found_log_z == pytest.approx(log_z, abs=1e-12)


@pytest.mark.slow
def test_weights_whose_product_underflows_are_scaled():
    count = 120
    edges = [[i, i + 1] for i in range(count - 1)]
    graph = FactorGraph(tuple(map(str, range(count))), [0.5] * count, edges, [[[1e-4, 1e-4], [1e-4, 2e-4]]] * (count - 1))
    found, log_z = eliminate_with_pgmpy(whole(graph))
    assert log_z < -1000
    assert np.isfinite(log_z)
    assert np.all((found > 0.5) & (found < 1))


def test_a_graph_that_would_take_too_long_is_refused_with_its_width():
    with pytest.raises(InputError, match=r"24 variables of width 23.*solver 'auto'"):
        eliminate_with_pgmpy(whole(clique(24, seed=0)))
